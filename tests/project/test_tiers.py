"""Which tests a run takes, on tests that are made up, and on those of this project."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import balance
import pytest
import tiers
import timing
import touched

ROOT = Path(__file__).parents[2]


@dataclass
class Made:
    """A test that is made up."""

    nodeid: str
    markers: tuple = ()
    fixturenames: tuple = ()
    drawn: int = 0
    properties: dict = field(default_factory=dict)

    def get_closest_marker(self, name):
        if name == "drawn" and self.drawn:
            return pytest.mark.drawn(self.drawn).mark
        return getattr(pytest.mark, name).mark if name in self.markers else None


def table(**seconds):
    """A table of durations; of a family's cases each takes so long."""
    made = timing.Durations(calibration=1.0)
    for name, took in seconds.items():
        made.add(f"{name.replace('__', '/')}.py::test_it", "call", took)
    return made


def cases(file, count, **more):
    return [Made(f"{file}.py::test_it[{number}]", **more) for number in range(count)]


def chosen(tests, tier, durations, seed=1, far=lambda file: None):
    return tiers.choose(tests, tier, seed, durations, far).taken


def known(file, count, seconds):
    made = timing.Durations()
    for test in cases(file, count):
        made.add(test.nodeid, "call", seconds)
    return made


def test_of_a_family_that_takes_long_cases_are_drawn_and_of_a_short_one_all_are_taken():
    tests = cases("a", 40)
    assert len(chosen(tests, "all", known("a", 40, 0.7))) == 2
    assert len(chosen(tests, "all", known("a", 40, 0.03))) == 40
    assert len(chosen(tests, "all", known("a", 40, 100.0))) == 1
    assert len(chosen(tests, "nightly", known("a", 40, 100.0))) == 40


def test_of_the_tests_of_a_folder_that_take_long_each_a_share_is_drawn():
    files = {
        f"{file}.py": {f"test_{number}": [0, seconds, 0] for number in range(12)}
        for file, seconds in {"a/one": 5.0, "a/two": 5.0, "b/one": 2.0}.items()
    }
    tests = [Made(f"{file}::{name}") for file, some in files.items() for name in some]
    durations = timing.Durations(1.0, files)
    draws = [chosen(tests, "all", durations, seed) for seed in range(60)]
    assert {sum(name.startswith("a") for name in drawn) for drawn in draws} == {int(24 * tiers.SHARE)}
    assert {sum(name.startswith("b") for name in drawn) for drawn in draws} == {12}
    assert set().union(*draws) == {test.nodeid for test in tests}
    assert len(chosen(tests, "nightly", durations)) == len(tests)
    assert chosen(tests[:1], "all", durations) == {"a/one.py::test_0"}


def test_what_is_drawn_changes_with_the_number_and_reaches_every_case():
    tests, durations = cases("a", 10), known("a", 10, 2.0)
    draws = [chosen(tests, "all", durations, seed) for seed in range(60)]
    assert set().union(*draws) == {test.nodeid for test in tests}
    assert chosen(tests, "all", durations, 7) == chosen(list(reversed(tests)), "all", durations, 7)


def test_a_case_that_is_added_leaves_those_that_were_drawn():
    before, after = (chosen(cases("a", count), "all", known("a", 40, 0.2), 3) for count in (30, 31))
    assert len(before - after) <= 1


def test_at_most_so_many_cases_are_drawn_but_at_night():
    tests, durations = cases("a", 10, drawn=2), known("a", 10, 0.01)
    assert len(chosen(tests, "all", durations)) == 2
    assert len(chosen(tests, "nightly", durations)) == 10


def test_a_quick_run_has_no_real_parts_and_one_test_of_spark_a_file():
    parts = [Made(f"a.py::test_{name}", markers=(name,)) for name in tiers.PARTS]
    plain = [Made(f"a.py::test_plain_{number}") for number in range(5)]
    spark = [Made(f"{file}.py::test_spark_{number}", fixturenames=("spark",)) for file in "ab" for number in range(9)]
    taken = chosen([*parts, *plain, *spark], "quick", timing.Durations())
    assert {test.nodeid for test in plain} <= taken
    assert not {test.nodeid for test in parts} & taken
    assert sorted(name[0] for name in taken & {test.nodeid for test in spark}) == ["a", "b"]


@pytest.mark.parametrize("tier", ["all", "nightly"])
def test_no_family_is_left_out(tier):
    tests = [*cases("a", 30), *cases("b", 3, markers=("browser",)), Made("c.py::test_alone", fixturenames=("spark",))]
    taken = chosen(tests, tier, known("a", 30, 500.0))
    assert {name.partition("[")[0] for name in taken} == {name.nodeid.partition("[")[0] for name in tests}


def test_of_what_a_change_touches_all_cases_are_taken_as_far_as_there_is_time():
    tests = [*cases("near", 30), *cases("far", 30)]
    durations = known("near", 30, 10.0)
    durations.take(timing.Durations(files={}))
    durations = timing.Durations(1.0, known("near", 30, 10.0).files | known("far", 30, 10.0).files)
    far = {"near.py": 1, "far.py": 2}.get
    taken = chosen(tests, "all", durations, far=far)
    assert sum(name.startswith("near") for name in taken) == 30
    assert sum(name.startswith("far") for name in taken) == 1
    slow = timing.Durations(1.0, known("near", 30, 300.0).files)
    choice = tiers.choose(cases("near", 30), "all", 1, slow, far)
    assert len(choice.taken) == 1 + int((tiers.WHOLE - 300 / tiers.PROCESSES) * tiers.PROCESSES / 300)
    mixed = timing.Durations(
        1.0, {"near.py": {f"test_it[{number}]": [0, 100.0 * (number + 1), 0] for number in range(30)}}
    )
    choice = tiers.choose(cases("near", 30), "all", 1, mixed, far)
    assert {f"near.py::test_it[{number}]" for number in range(4)} <= choice.taken
    assert any("left to the nightly run" in line for line in choice.words)


def test_a_run_of_a_change_takes_the_nearest_first():
    tests = [*cases("near", 10), *cases("middle", 10), *cases("far", 10), *cases("else", 10)]
    durations = timing.Durations(1.0)
    for file in ("near", "middle", "far"):
        durations.files |= known(file, 10, 0.5).files
    durations.files["far.py"] = {name: [0, 2000.0, 0] for name in durations.files["far.py"]}
    choice = tiers.choose(tests, "changed", 1, durations, {"near.py": 0, "middle.py": 1, "far.py": 2}.get)
    assert {name.partition(".")[0] for name in choice.taken} == {"near", "middle"}
    assert any("left to the whole run" in line for line in choice.words)


def test_a_test_that_was_never_measured_takes_as_long_as_its_family():
    durations = known("a", 4, 2.5)
    assert durations.seconds("a.py::test_it[new]") == 2.5
    assert durations.seconds("a.py::test_other") == 2.5
    assert durations.seconds("b.py::test_other") == timing.UNKNOWN


def test_the_table_is_read_as_it_was_written(tmp_path):
    durations = known("a", 3, 1.25)
    durations.calibration = 3.5
    durations.add("a.py::test_[x]\"::'é", "setup", 0.1)
    durations.write(tmp_path / "table.json")
    assert timing.Durations.read(tmp_path / "table.json") == durations
    assert timing.Durations.read(tmp_path / "none.json") == timing.Durations()


def test_files_that_are_gone_leave_the_table():
    durations = known("a", 1, 1.0)
    name = "tests/project/test_tiers.py"
    durations.take(timing.Durations(2.0, {name: {"test_it": [0, 1, 0]}}))
    assert set(durations.files) == {name}
    assert durations.calibration == 2.0


def test_tests_that_have_another_name_by_now_leave_the_table():
    durations = timing.Durations(
        1.0, {file: {"test_it": [0, 1, 0], "test_old": [0, 9, 0]} for file in ("a.py", "b.py")}
    )
    durations.keep(["a.py::test_it", "a.py::test_new"])
    assert durations.files == {"a.py": {"test_it": [0, 1, 0]}, "b.py": {"test_it": [0, 1, 0], "test_old": [0, 9, 0]}}


def test_the_longest_come_first_and_a_file_whose_fixtures_are_dear_stays_whole():
    durations = timing.Durations(1.0)
    durations.files |= {
        "short.py": {"test_it": [0, 1.0, 0]},
        "split.py": {"test_a": [0, 50.0, 0], "test_b[1]": [0, 30.0, 0], "test_b[2]": [0, 30.0, 0]},
        "whole.py": {"test_a": [60.0, 40.0, 0], "test_b": [0, 40.0, 0]},
    }
    assert balance.unit("split.py::test_b[1]", durations) == balance.unit("split.py::test_b[2]", durations)
    assert balance.unit("split.py::test_a", durations) != balance.unit("split.py::test_b[2]", durations)
    assert balance.unit("whole.py::test_a", durations) == balance.unit("whole.py::test_b", durations) == "whole.py"
    tests = [Made(f"{file}::{test}") for file, some in durations.files.items() for test in some]
    files = [test.nodeid.partition("::")[0] for test in balance.ordered(tests, durations)]
    assert files == ["whole.py"] * 2 + ["split.py"] * 3 + ["short.py"]


def test_a_change_is_followed_over_imports_to_the_tests():
    change = touched.Touched(["workbench/jobs/sinks.py"])
    assert change.distance("tests/workbench/jobs/test_output.py") == 0
    assert change.distance("tests/workbench/test_values.py") == 2
    assert change.distance("workbench/jobs/held.py") == 0
    low = touched.Touched(["workbench/times.py"])
    assert low.distance("tests/workbench/jobs/test_output.py") == 1
    assert 0 < low.distance("tests/workbench/app/test_app.py") <= 3


def test_a_change_of_the_tests_themselves_is_followed():
    assert touched.Touched(["tests/workbench/test_where.py"]).distance("tests/workbench/test_where.py") == 0
    helper = touched.Touched(["tests/fault_lab.py"])
    assert helper.distance("tests/workbench/script/test_faults.py") == 0
    assert helper.distance("tests/workbench/test_where.py") is None
    assert touched.Touched(["tests/scripts.py"]).distance("tests/workbench/script/test_faults.py") == 0


def test_a_template_is_of_the_package_it_lies_in():
    assert touched.module_of("workbench/script/sinks/delta.py.jinja") == "workbench.script.sinks"
    assert touched.module_of("workbench/jobs/held.py") == "workbench.jobs.held"
    assert touched.module_of("workbench/jobs/__init__.py") == "workbench.jobs"
    assert touched.module_of("docs/speed.md") is None


def test_files_beside_the_packages_have_their_tests():
    for place, tests in touched.PLACES.items():
        assert (ROOT / place).exists(), place
        for file in tests:
            assert (ROOT / file).exists(), file
            assert touched.Touched([place]).distance(file) == 0


def test_a_commit_that_is_none_is_refused():
    with pytest.raises(SystemExit, match="--since: got 'no-such-commit'"):
        touched.base("no-such-commit")
    assert touched.base("HEAD") == "HEAD"


def test_each_test_of_the_table_is_in_a_file_that_is_there():
    durations = timing.Durations.read()
    assert durations.calibration > 0
    assert [file for file in durations.files if not (ROOT / file).exists()] == []
    assert sum(map(len, durations.files.values())) > 3_000


def test_the_examples_of_a_page_are_taken_together_or_not_at_all():
    durations = timing.Durations(
        1.0, {"docs/a.md": {"line:1": [0, 9.0, 0], "line:9": [0, 0.1, 0]}, "docs/b.md": {"line:1": [0, 0.1, 0]}}
    )
    tests = [Made(f"{file}::{name}") for file, some in durations.files.items() for name in some]
    assert chosen(tests, "quick", durations) == {"docs/b.md::line:1"}
    assert len(chosen(tests, "all", durations)) == 3


def test_a_slow_machine_takes_fewer_cases_of_each_family():
    durations = timing.Durations(1.0, {"tests/a.py": {f"test_it[{number}]": [0, 0.5, 0] for number in range(9)}})
    durations.files["tests/b.py"] = {"test_it": [0, 1.0, 0]}
    tests = [Made(f"{file}::{name}") for file, some in durations.files.items() for name in some]
    assert len(chosen(tests, "all", durations)) == 4
    slow = chosen(tests, "all", durations.on_machine(3.0))
    assert "tests/b.py::test_it" in slow
    assert len(slow) == 2
    assert durations.on_machine(0.5).files == durations.files
    assert timing.Durations().on_machine(3.0).files == {}


def test_what_a_busy_machine_measured_is_divided_by_how_much_longer_all_took():
    known = {f"test_{number}": [0.0, 1.0, 0.0] for number in range(20)}
    table = timing.Durations(1.0, {"tests/conftest.py": dict(known)})
    slow = {name: [0.0, 2.0, 0.0] for name in known} | {"test_new": [0.0, 3.0, 0.0]}
    table.take(timing.Durations(1.1, {"tests/conftest.py": slow}))
    assert table.files["tests/conftest.py"] == known | {"test_new": [0.0, 1.5, 0.0]}
    table.take(timing.Durations(0.9, {"tests/conftest.py": {"test_1": [0.0, 4.0, 0.0]}}))  # too few to tell a pace
    assert table.files["tests/conftest.py"]["test_1"] == [0.0, 4.0, 0.0]
