"""Generated streams: believable, as asked for, and the same for the same seed."""

from __future__ import annotations

import json
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

import generators
import workbench as wb
from workbench import model

SUITED = {
    "impressions_clicks": wb.IntervalJoin("0 seconds", "30 seconds", how="left"),
    "orders_payments": wb.IntervalJoin("0 seconds", "15 seconds", how="left"),
    "goods_info_price": wb.IntervalJoin("-6 seconds", "-4 seconds", how="left"),
    "transfers": wb.CoGroup(wb.Tumbling("1 minute")),
    "page_views_searches": wb.WindowJoin(wb.Session("15 seconds")),
    "orders_prices": wb.AsOfJoin("backward", "20 seconds", how="left"),
    "readings_thresholds": wb.RulesJoin(),
    "user_actions": wb.IntervalJoin("0 seconds", "15 minutes", how="left"),
}
SLOW = {
    "user_actions": {"rate": 2, "late_by": "1 minute"}
}  # a session takes minutes: at 20 a second all go on at the end


def files(folder):
    return {file.relative_to(folder): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_scenarios_say_which_join_suits_and_why():
    described = generators.scenarios()
    assert set(described) == set(SUITED)
    for name, words in described.items():
        assert "Suits" in words
        assert repr(SUITED[name]).split("(")[0] in words


@pytest.mark.parametrize("scenario", SUITED)
def test_same_seed_same_bytes(tmp_path, scenario):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        generators.save(tmp_path / name, *generators.generate(scenario, events=200, seed=seed))
    assert files(tmp_path / "a") == files(tmp_path / "b") != files(tmp_path / "c")


@pytest.mark.parametrize("scenario", SUITED)
def test_the_suited_join_finds_most_partners(scenario):
    left, right = generators.generate(scenario, events=500, keys=500, seed=3, late=0, disorder=0)
    assignments = model.simulate(SUITED[scenario], left, right).assignments["left"]
    share = assignments.loc[assignments["matched"], "row"].nunique() / len(left)
    wanted = {
        "impressions_clicks": 0.4,
        "orders_payments": 0.9,
        "goods_info_price": 0.8,
        "transfers": 0.9,
        "page_views_searches": 0.7,
        "readings_thresholds": 0.2,  # most readings are below their threshold
        "user_actions": 0.65,  # some abandon the basket, and nobody pays after the sign-out
        "orders_prices": 0.4,  # with as many products as orders the last price is often older than 20 seconds
    }
    assert share == pytest.approx(wanted[scenario], abs=0.06)


def test_one_in_five_goods_has_no_price():
    info, price = generators.generate("goods_info_price", events=1000, late=0, disorder=0)
    assert (len(info), len(price)) == (1000, 800)
    both = info.to_pandas().merge(price.to_pandas(), on="goods_id")
    assert (both["info_at"] - both["price_at"] == pd.Timedelta("5 s")).all()


def sessions_of(actions, payments):
    """The sessions as lists of rows, the actions and payments of each user in turn from sign-in to sign-out."""
    rows = pd.concat(
        [actions.rename(columns={"acted_at": "at"}), payments.rename(columns={"paid_at": "at"}).assign(action="pay")]
    )
    sessions, open_ones = [], {}
    for row in rows.sort_values("at").itertuples():
        if row.action == "sign_in":
            assert row.user_id not in open_ones
            open_ones[row.user_id] = []
        open_ones[row.user_id].append(row)
        if row.action == "sign_out":
            sessions.append(open_ones.pop(row.user_id))
    return sessions, open_ones


def is_found(session):
    """Whether a sign-in is followed by small payments that are declined and a large one that is accepted."""
    paid = [row for row in session if row.action == "pay" and row.at - session[0].at < pd.Timedelta("15 min")]
    small = [row.at for row in paid if row.status == "declined" and row.amount < 5]
    large = [row.at for row in paid if row.status == "accepted" and row.amount > 500]
    return bool(small and large) and min(small) < max(large)


def test_the_sequence_of_actions_and_payments_tells_the_frauds():
    actions, payments = (
        each.to_pandas() for each in generators.generate("user_actions", events=3000, seed=2, late=0, disorder=0)
    )
    assert len(actions) == 3000
    assert set(payments["amount"]) == set(payments["amount"].round(2))
    assert payments["card"].str.fullmatch("[0-9]{4}").all()
    sessions, unended = sessions_of(actions, payments)
    assert not unended
    assert pd.Series([session[0].user_id for session in sessions]).value_counts().min() >= 3
    frauds = [session for session in sessions if session[1].action == "pay"]
    assert len(frauds) == pytest.approx(len(sessions) / 12, abs=1)
    honest = [session for session in sessions if session[1].action != "pay"]
    usual = {session[0].user_id: session[0].country for session in honest}
    for session in frauds:
        assert session[0].country != usual.get(session[0].user_id)
        *declined, accepted = session[1:-1]
        assert [row.status for row in declined] in (["declined"] * 2, ["declined"] * 3)
        assert declined[-1].at - declined[0].at < pd.Timedelta("1 min")
        assert max(row.amount for row in declined) < 5
        assert (accepted.status, accepted.amount > 500) == ("accepted", True)
        assert session[-1].at - accepted.at < pd.Timedelta("10 s")
        assert is_found(session)
    outcomes = []
    for session in honest:
        assert session[0].country == usual[session[0].user_id]
        outcomes.append([row.status for row in session if row.action == "pay"])
        assert 1 <= sum(row.action == "add_to_basket" for row in session) <= 4
        assert not is_found(session)
    shares = {each: outcomes.count(list(each)) / len(honest) for each in map(tuple, outcomes)}
    assert shares == pytest.approx({("accepted",): 0.75, (): 0.16, ("declined", "accepted"): 0.08}, abs=0.04)


@pytest.mark.parametrize("rate", [1, 20])
def test_users_come_back_in_a_feed_when_their_session_has_ended(rate):
    feed = generators.Feed("user_actions", rate=rate, seed=5, disorder=0, late=0)
    sides = zip(*(feed.step(60) for _ in range(30)), strict=True)
    actions, payments = (pd.concat(each.to_pandas() for each in side) for side in sides)
    assert len(actions) == pytest.approx(rate * 1800, rel=0.15)
    sessions, _ = sessions_of(actions, payments)
    assert len(sessions) > 2 * actions["user_id"].nunique()
    assert sum(map(is_found, sessions)) == pytest.approx(len(sessions) / 12, rel=0.4)


@pytest.mark.parametrize("events", range(1, 30))
def test_few_actions_are_as_many_as_asked_for(events):
    for seed in range(5):
        assert len(generators.generate("user_actions", events=events, seed=seed)[0]) == events


def test_settings_do_what_they_say():
    def make(**settings):
        return generators.generate(
            "orders_payments", **({"events": 4000, "seed": 5, "late": 0, "disorder": 0} | settings)
        )

    plain, _ = make()
    assert len(plain) == 4000
    assert plain.watermark == timedelta(seconds=10)
    span = (plain.event_times.max() - plain.event_times.min()) / 1e6
    assert 4000 / span == pytest.approx(10, rel=0.1)
    assert 4000 / (np.ptp(make(rate=50)[0].event_times) / 1e6) == pytest.approx(50, rel=0.1)
    assert len(make(unmatched=0.5)[1]) == 2000
    assert len(make(duplicates=0.25)[0]) == pytest.approx(5000, abs=150)
    assert pd.Series(make(keys=50)[0].to_pandas()["order_id"]).nunique() == 50
    skewed = make(keys=50, skew=1.5)[0].to_pandas()["order_id"].value_counts()
    assert skewed.iloc[0] > 10 * skewed.iloc[-1]
    assert make(batches=37)[0].batch_count == 37
    assert str(make(start="2025-03-01 12:00")[0].to_pandas()["ordered_at"].min()).startswith("2025-03-01 12:00:0")

    def behind(stream):
        moments = stream.event_times
        return (np.maximum.accumulate(moments) - moments) / 1e6

    assert behind(plain).max() < 1.5
    disordered = behind(make(disorder=0.3, disorder_spread="4 seconds")[0])
    assert 1.5 < disordered.max() <= 4.5
    late = behind(make(late=0.1, late_by="1 minute")[0])
    assert (late > 25).mean() == pytest.approx(0.1, abs=0.03)
    assert late.max() <= 91
    left, right = make(idle=("right", 0.4, 0.7))
    held = np.sort(right.event_times)
    assert np.diff(held).max() / 1e6 == pytest.approx(0.3 * span, rel=0.1)
    assert len(left) == 4000


def test_a_recording_is_saved_loaded_and_replayed(tmp_path, spark):
    made = generators.generate("transfers", events=60, seed=9, batches=4)
    path = generators.save(tmp_path / "recording", *made)
    assert len(list((path / "left").glob("*.parquet"))) == len(list((path / "right").glob("*.parquet"))) == 4
    about = json.loads((path / "recording.json").read_text())
    assert about["left"]["name"] == "money_out"
    loaded = generators.load(path)
    for mine, theirs in zip(made, loaded, strict=True):
        assert repr(mine) == repr(theirs)
        assert mine.table.equals(theirs.table)
        assert mine.arrival.tolist() == theirs.arrival.tolist()
    join = wb.IntervalJoin("0 seconds", "10 seconds", how="full")
    runs = [wb.run(join, *sides) for sides in (made, loaded)]
    pd.testing.assert_frame_equal(runs[0].output, runs[1].output)
    timed = ["duration_ms", "state_bytes"]
    pd.testing.assert_frame_equal(runs[0].batches.drop(columns=timed), runs[1].batches.drop(columns=timed))
    # a folder of a recording is a folder of files
    again = wb.Stream.from_files(path / "left", name="money_out", key=["reference", "currency"], time="booked_at")
    assert again.arrival.tolist() == made[0].arrival.tolist()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"scenario": "nope"}, "scenario: got 'nope'; use one of 'impressions_clicks'"),
        ({"events": 0}, "events: got 0"),
        ({"events": 1.5}, "events: got 1.5"),
        ({"keys": -1}, "keys: got -1"),
        ({"late": 2}, "late: got 2; use a share from 0 to 1"),
        ({"rate": 0}, "rate: got 0"),
        ({"rate": float("nan")}, "rate: got nan"),
        ({"late_by": "soon"}, "late_by: got 'soon'"),
        ({"idle": ("middle", 0, 1)}, "idle: got ('middle', 0, 1)"),
        ({"idle": ("left", 0.5, 0.2)}, "idle: got"),
        ({"start": "yesterdayish"}, "start: got 'yesterdayish'"),
        ({"seed": -1}, "seed: got -1"),
        ({"speed": 3}, "speed: got 3"),
    ],
)
def test_wrong_settings(settings, words):
    with pytest.raises(wb.ArgumentError) as raised:
        generators.generate(**({"scenario": "transfers"} | settings))
    assert str(raised.value).startswith(words)


def test_wrong_folders(tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(wb.ArgumentError, match="path: got"):
        generators.save(tmp_path, *generators.generate("transfers", events=5))
    assert (tmp_path / "mine.txt").read_text() == "precious"
    with pytest.raises(wb.ArgumentError, match=r"there is no recording\.json"):
        generators.load(tmp_path)
    path = generators.save(tmp_path / "r", *generators.generate("transfers", events=5, batches=2))
    (path / "left" / "batch-00001.parquet").unlink()
    with pytest.raises(wb.DataError, match="is missing or no Parquet file"):
        generators.load(path)
    (path / "recording.json").write_text("{}")
    with pytest.raises(wb.DataError, match="does not describe a recording"):
        generators.load(path)


@pytest.mark.parametrize("scenario", SUITED)
def test_files_of_a_scenario(tmp_path, scenario):
    settings = {"events": 1_000, "rate": 20, "late": 0.1, "late_by": "20 seconds", "duplicates": 0.1, "seed": 4}
    settings |= SLOW.get(scenario, {})
    folders = generators.write(tmp_path / "a", scenario, files=4, **settings)
    again = generators.write(tmp_path / "b", scenario, files=4, **settings)
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert len(again) == 2
    whole = generators.generate(scenario, **settings)
    for folder, side in zip(folders, whole, strict=True):
        assert folder.name == side.name
        parts = sorted(folder.glob("*.parquet"))
        assert len(parts) == 4
        assert [part.stat().st_mtime for part in parts] == sorted(part.stat().st_mtime for part in parts)
        tables = [pd.read_parquet(part) for part in parts]
        rows = pd.concat(tables)
        assert list(rows) == side.table.column_names
        assert len(rows) == pytest.approx(len(side), rel=0.15)
        assert 0.05 < rows.duplicated().mean() < 0.2
        ends = [part[side.time].max() for part in tables]
        assert ends == sorted(ends)
        overlaps = [(later[side.time] < end).mean() for later, end in zip(tables[1:], ends, strict=False)]
        assert max(overlaps) > 0.02  # rows that are late, or were on their way
        plain = rows.drop_duplicates()
        shared = {*side.key, "rule_id"}  # a rule has many versions
        named = [name for name in side.table.column_names if name.endswith("_id") and name not in shared]
        assert all(plain[name].is_unique for name in named)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"files": 0}, "files: got 0; use a whole number from 1 to 20"),
        ({"files": 21}, "files: got 21"),
        ({"batches": 3}, "batches: got 3; files are cut by number"),
        ({"idle": ("left", 0, 1)}, "idle: got"),
        ({"scenario": "nope"}, "scenario: got 'nope'"),
    ],
)
def test_wrong_files(tmp_path, settings, words):
    with pytest.raises(wb.ArgumentError) as raised:
        generators.write(tmp_path, **({"scenario": "transfers", "events": 20} | settings))
    assert str(raised.value).startswith(words)


def test_files_are_never_replaced(tmp_path):
    generators.write(tmp_path, "orders_payments", files=1, events=10)
    before = files(tmp_path)
    with pytest.raises(wb.ArgumentError, match="that folder is not empty; give a new one"):
        generators.write(tmp_path, "orders_payments", files=1, events=20)
    assert files(tmp_path) == before
