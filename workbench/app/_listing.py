"""What a table of the page lists, all of it: sorted, searched and filtered in the kernel, and read a page at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbench import charts, schema
from workbench.arrays import Flags, Objects, RowNumbers, Texts
from workbench.charts import WHOLE, Cut
from workbench.engine import sink_reader
from workbench.jobs import Job
from workbench.kinds import kind_of
from workbench.literals import SIDES, RowId, Sides
from workbench.reasons import tables
from workbench.reasons.labels import Labels
from workbench.runs import holding
from workbench.runs.result import Result
from workbench.untyped import Record, Series

__all__ = ["Listing", "Query", "listing"]

_NOT_SEARCHED = ["verdict", "reason", *schema.FIX_NAMES]
"""Columns of `Run.rows` that a search for a text leaves out."""


@dataclass(frozen=True)
class Query:
    """Which rows of a listing are asked for, and in what order.

    Attributes
    ----------
    text
        What some column has to contain, in upper or lower case; empty: any row.
    fate, side, cause, key
        What a row's fate, side, cause and key have to be; empty: any.
    by
        The column to sort by; empty: in order of arrival, by micro-batch; of the output, in its order.
    descending
        Whether the largest value comes first; missing values come last either way.
    cut
        The stretch of an axis in which a row, or one of the rows of an output, has to lie.
    """

    text: str = ""
    fate: str = ""
    side: str = ""
    cause: str = ""
    key: str = ""
    by: str = ""
    descending: bool = False
    cut: Cut = WHOLE


class Listing:
    """Some rows, in an order of their own. Made by `listing`.

    Parameters
    ----------
    run
        The run.
    frame
        The rows, as `Query` asks for them.
    batch
        Spark's number of the last micro-batch; None: all.

    Attributes
    ----------
    columns
        The columns that can be sorted by.
    order
        What they are in the order of, unless they are sorted.
    filters
        What can be asked of them beside a text: some of ``fate``, ``side``, ``key``.
    fates
        The fates that they have, if they have some.
    none
        What to do where there are none.
    """

    order = "output"
    filters: tuple[str, ...] = ()
    none = ""

    def __init__(self, run: Result, frame: pd.DataFrame, batch: int | None) -> None:
        self._run, self._frame, self._batch = run, frame, batch
        self.columns = list(frame.columns)
        self.fates = list(dict.fromkeys(frame["fate"])) if "fate" in self.filters else []

    def __len__(self) -> int:
        return len(self._frame)

    def places(self, query: Query, found: Flags) -> RowNumbers:
        """The rows of a query's cause among those that it `asked` for, in its order, by their place in the listing."""
        places = np.flatnonzero(found)
        if not query.by:
            return places[::-1] if query.descending else places
        values = self._frame[query.by].iloc[places].reset_index(drop=True)
        try:
            order = values.sort_values(ascending=not query.descending, kind="stable", na_position="last").index
        except TypeError:  # values that Python does not order, such as a group's rows
            order = values.astype(str).sort_values(ascending=not query.descending, kind="stable").index
        return places[order.to_numpy()]

    def asked(self, query: Query) -> Flags:
        """Whether a query asks for each row, of whatever cause."""
        found = np.ones(len(self), dtype=bool)
        for column, value in (("fate", query.fate), ("side", query.side)):
            if value and column in self.filters:
                found &= (self._frame[column] == value).to_numpy()
        if query.key and "key" in self.filters:
            found &= self._keys == query.key
        if not query.cut.whole:
            found &= self._inside(query.cut)
        if query.text:
            found &= _contains(self._frame, query.text)
        return found

    @property
    def _keys(self) -> Texts:
        """The key of each row, as text."""
        raise NotImplementedError

    def _inside(self, cut: Cut) -> Flags:
        """Whether each row is in a stretch."""
        raise NotImplementedError

    def page(self, places: RowNumbers) -> tuple[pd.DataFrame, list[list[RowId]]]:
        """Some rows as they are shown, and for each the input rows that it is made of."""
        raise NotImplementedError

    def code(self, query: Query) -> str:
        """The text of a cell that gives, of a run called ``run``, the rows that a query asks for."""
        lines = self._code(query)
        if query.by:
            order = ", ascending=False" if query.descending else ""
            lines.append(f'shown = shown.sort_values({query.by!r}, kind="stable"{order})')
        elif query.descending:
            lines.append("shown = shown.iloc[::-1]")
        return "\n".join([*lines, "shown"])

    def _code(self, query: Query) -> list[str]:
        """The lines that make them, in their own order."""
        raise NotImplementedError


def listing(run: Result, view: charts.View | None, batch: int | None, *, every: bool = False) -> Listing:
    """The rows that a view lists, up to a micro-batch; of none, or one that lists no rows, the output.

    Parameters
    ----------
    run
        The run.
    view
        The view; None: the output.
    batch
        The last micro-batch; None: all.
    every
        Whether a view that lists rows lists those of all fates: the page is filtered by one.
    """
    known = None if batch is None else run.simulation.first + batch
    if view is not None and view.lists_state:
        return _InState(run, known)
    if view is not None and view.listed is not None:
        return _OfRows(run, _EVERY if every else view.listed, known)
    return _OfOutput(run, known)


_EVERY = "fate == fate"
"""Of all fates."""


class _OfOutput(Listing):
    """What came out; of a pattern, partial matches that were given up come behind the matches."""

    def __init__(self, run: Result, batch: int | None) -> None:
        output, self._raw = run.output, sink_reader.shown(run.raw_output)
        self._has_given_up = bool(kind_of(run.join).match_columns(run.join))
        if self._has_given_up:
            output = pd.concat([output, run.timed_out], ignore_index=True)
            output["waited_for"] = output["waited_for"].astype(object).fillna("")
            given_up = np.setdiff1d(np.arange(run.raw_output.num_rows), self._raw)
            self._raw = np.concatenate([self._raw, given_up])
        self._index = np.flatnonzero(output["batch"] <= batch) if batch is not None else np.arange(len(output))
        super().__init__(run, output.iloc[self._index], batch)

    def _inside(self, cut: Cut) -> Flags:
        """Those that some row in it is a part of."""
        rows = cut.rows(self._run.simulation)
        members = sink_reader.outputs(self._run.raw_output.take(self._raw[self._index]), self._run.join).members
        of_side = [np.isin(members["row"], rows[side]) & (members["side"] == place) for place, side in enumerate(SIDES)]
        found = np.zeros(len(self), dtype=bool)
        found[members["output"].to_numpy()[of_side[0] | of_side[1]]] = True
        return found

    def page(self, places: RowNumbers) -> tuple[pd.DataFrame, list[list[RowId]]]:
        frame = self._frame.iloc[places]
        if self._has_given_up:
            frame = _in_words(self._run, frame)
        return frame, _input_rows(self._run, self._raw[self._index[places]])

    def _code(self, query: Query) -> list[str]:
        lines = ["shown = run.output"]
        if self._has_given_up:
            both = "pd.concat([run.output, run.timed_out], ignore_index=True)"
            lines = [
                "import pandas as pd",
                "",
                f"shown = {both}",
                'shown["waited_for"] = shown["waited_for"].fillna("")',
            ]
        if not query.cut.whole:  # of which rows an output is made is not in its columns
            inside = self._index[self._inside(query.cut)].tolist()
            lines.append(f"shown = shown.iloc[{inside}]")
        elif self._batch is not None:
            lines.append(f'shown = shown[shown["batch"] <= {self._batch}]')
        if query.text:
            lines.append(f"shown = shown[{_search('shown', query.text)}]")
        return lines


class _OfRows(Listing):
    """Input rows of some fates."""

    order = "arrival"
    filters = ("fate", "side", "key")

    def __init__(self, run: Result, listed: str, batch: int | None) -> None:
        self._listed = listed
        parts, index = [], []
        for side, first in Sides(0, len(run.left)).items():
            fates = run.simulation.fates[side]
            wanted = fates.eval(listed).to_numpy()
            if batch is not None:
                wanted &= run.simulation.first + run.side(side).arrival <= batch
            places = wanted.nonzero()[0]
            rows = tables.plain_rows(run.simulation, side, places)
            rows.insert(2, "fate", fates["fate"].to_numpy()[places])
            parts.append(rows)
            index.append(first + places)
        self._index = np.concatenate(index)
        super().__init__(run, tables.stack(parts, schema.ROWS), batch)

    @cached_property
    def _causes(self) -> Texts:
        return self._run.causes.to_numpy()[self._index]

    @cached_property
    def _keys(self) -> Texts:
        return self._run.keys.to_numpy()[self._index]

    def places(self, query: Query, found: Flags) -> RowNumbers:
        if query.cause:
            found = found & (self._causes == query.cause)
        if query.by:
            return super().places(query, found)
        arrived = super().places(replace(query, by="batch", descending=False), found)
        return arrived[::-1] if query.descending else arrived

    def _inside(self, cut: Cut) -> Flags:
        return _among(self._run, self._index, cut)

    def page(self, places: RowNumbers) -> tuple[pd.DataFrame, list[list[RowId]]]:
        chosen, run = self._index[places], self._run
        rows = run.explain(chosen.tolist()).loc[chosen]  # which come in order of arrival
        ids = [[RowId.at(row, len(run.left))] for row in chosen.tolist()]
        labels = Labels(run.simulation, whole=False)
        own = schema.ROWS.without(rows)
        shown = {
            "stream": [run.side(side).name for side in rows["side"]],
            "micro-batch": rows["batch"].to_numpy(),
            "fate": [fate.replace("_", " ") for fate in rows["fate"]],
            "reason": rows["reason"].to_numpy(),
            "would match with": [
                labels.setting(setting, value) if setting is not None else ""
                for setting, value in zip(rows["fix_setting"], rows["fix_value"], strict=True)
            ],
        }
        return _beside(shown, own), ids

    def _code(self, query: Query) -> list[str]:
        tests = [f"pd.concat(run.fates.values(), ignore_index=True).eval({self._listed!r})"]
        tests += [
            f'(rows["{name}"] == {value!r})' for name, value in (("fate", query.fate), ("side", query.side)) if value
        ]
        tests += [
            f"(run.{name} == {value!r})" for name, value in (("causes", query.cause), ("keys", query.key)) if value
        ]
        if self._batch is not None:
            tests.append(f'(rows["batch"] <= {self._batch})')
        if not query.cut.whole:
            tests.append(_within(query.cut, self._run.simulation.first))
        if query.text:
            tests.append(_search(f"rows.drop(columns={_NOT_SEARCHED})", query.text))
        imports = ["import numpy as np"] if any("np." in each for each in tests) else []
        wanted = [f"wanted = {tests[0]}", *(f"wanted &= {each}" for each in tests[1:])]
        in_order = "" if query.by else '.sort_values("batch", kind="stable")'
        return [*imports, "import pandas as pd", "", "rows = run.rows", *wanted, f"shown = rows[wanted]{in_order}"]


class _InState(Listing):
    """What is in state after the micro-batch, or at the end."""

    order = "side"
    filters = ("side", "key")
    none = "no row is in state then: step to another micro-batch"

    def __init__(self, run: Result, batch: int | None) -> None:
        simulation = run.simulation
        place = len(simulation.outcome.marks) - 1 if batch is None else batch - simulation.first
        held = holding.simulated(simulation, place)
        size = run.batches["state_bytes"].iloc[place]
        frame = holding.of_rows(simulation, held, None if pd.isna(size) else float(size))
        self._index = np.where(held["side"] == "left", held["row"], held["row"] + len(run.left))
        super().__init__(run, frame, simulation.first + place)

    @cached_property
    def _keys(self) -> Texts:
        return self._run.keys.to_numpy()[self._index]

    def _inside(self, cut: Cut) -> Flags:
        return _among(self._run, self._index, cut)

    def page(self, places: RowNumbers) -> tuple[pd.DataFrame, list[list[RowId]]]:
        run, rows = self._run, self._frame.iloc[places]
        first = ["since", "evicted_in", "leaves_at", *(["window_start", "window_end"] if run.windowed else [])]
        shown: Record = {
            "stream": [run.side(side).name for side in rows["side"]],
            "key": self._keys[places],
            "in state since": rows["since"].to_numpy(),
            "evicted in": blank(rows["evicted_in"]),
            "at the watermark": blank(rows["leaves_at"]),
            **{name.replace("_", " "): rows[name].to_numpy() for name in first[3:]},
        }
        if rows["state_bytes"].notna().any():
            shown["bytes"] = rows["state_bytes"].astype("int64").to_numpy()
        own = schema.STATE.without(rows)
        return _beside(shown, own), [[RowId.at(row, len(run.left))] for row in self._index[places].tolist()]

    def code(self, query: Query) -> str:
        if isinstance(self._run, Job):
            return f"run.state({self._batch})  # all of it, with the columns that Spark keeps"
        return super().code(query)

    def _code(self, query: Query) -> list[str]:
        lines = [f"shown = run.state({self._batch})"]
        if query.key or not query.cut.whole:  # the text of a key, and the times of both sides, are not in its columns
            lines.append(f"shown = shown.iloc[{np.flatnonzero(self.asked(replace(query, text=''))).tolist()}]")
        elif query.side:
            lines.append(f'shown = shown[shown["side"] == {query.side!r}]')
        if query.text:
            lines.append(f"shown = shown[{_search('shown', query.text)}]")
        return lines


def _among(run: Result, index: RowNumbers, cut: Cut) -> Flags:
    """Which input rows, by their place in `Result.rows`, are in a stretch."""
    rows = cut.rows(run.simulation)
    return np.isin(index, np.concatenate([rows["left"], len(run.left) + rows["right"]]))


def _beside(shown: Record, own: pd.DataFrame) -> pd.DataFrame:
    """The table's own columns, then the streams'; those of the same name are called ``row_…``."""
    named = {f"row_{name}" if name in shown else name: blank(own[name]) for name in own}
    return pd.DataFrame(shown | named, index=own.index)


def _within(cut: Cut, first: int) -> str:
    """The test, in pandas, whether rows lie in a stretch of an axis, counted from Spark's number ``first`` on."""
    if not cut.axis.of_times:
        low, high = (cut.axis.shown(each) for each in (cut.low, cut.high))
        return f'rows["batch"].between({first + int(low)}, {first + int(high) - 1})'
    of_side = "event_times" if cut.axis.name == "event time" else "arrivals.at"
    return f"pd.Series(np.concatenate([run.left.{of_side}, run.right.{of_side}])).between({cut.low}, {cut.high})"


def _search(frame: str, text: str) -> str:
    """The test, in pandas, whether some column of a frame contains a text."""
    contains = f"lambda column: column.str.contains({text!r}, case=False, regex=False)"
    return f"{frame}.astype(str).apply({contains}).any(axis=1)"


def _contains(frame: pd.DataFrame, text: str) -> Flags:
    """The rows of which some column contains a text."""
    text = text.encode(errors="replace").decode()  # half a pair of surrogates, which Arrow does not take
    found = np.zeros(len(frame), dtype=bool)
    for name in frame:
        column = frame[name]
        # of each value once: a column such as a side or a fate has few
        codes, values = pd.factorize(column.astype(str))
        hits = pc.match_substring(pa.array(values, pa.string()), text, ignore_case=True).to_numpy(zero_copy_only=False)
        found |= hits[codes] if len(values) else False
    return found


def blank(column: Series) -> Objects:
    """Values as they are shown: nothing where there is none, as in the columns that only the other stream has."""
    missing = column.isna().to_numpy()
    return column.astype(object).where(~missing, "").to_numpy() if missing.any() else column.to_numpy()


def _in_words(run: Result, matches: pd.DataFrame) -> pd.DataFrame:
    """Matches of a pattern as they are shown: their rows, in the last columns, by what tells them apart or by time."""
    labels, steps = Labels(run.simulation, whole=False), dict(kind_of(run.join).match_columns(run.join))
    shown = matches[[name for name in matches if name not in steps]]
    for step, side in steps.items():
        stream = run.side(side)
        name = stream.identity or stream.time
        words = (lambda value: labels.moment(pd.Timestamp(value).value // 1000)) if name == stream.time else str
        shown = shown.assign(**{step: [", ".join(words(row[name]) for row in rows) for rows in matches[step]]})
    return shown


def _input_rows(run: Result, places: RowNumbers) -> list[list[RowId]]:
    """The input rows in some rows of the output."""
    members = sink_reader.outputs(run.raw_output.take(places), run.join).members.sort_values(["output", "side", "row"])
    ids: list[list[RowId]] = [[] for _ in places]
    for output, side, row in zip(members["output"], members["side"], members["row"], strict=True):
        ids[output].append(RowId(SIDES[side], row))
    return ids
