"""What a table of the page lists, all of it: sorted, searched and filtered in the kernel, and read a page at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbench import charts
from workbench.charts import WHOLE, Cut
from workbench.engine import sink_reader
from workbench.literals import SIDES, RowId
from workbench.runs import tables
from workbench.runs.labels import Labels
from workbench.runs.result import Result

_OWN = ("stream", "micro-batch", "fate", "would match with", "reason")
"""The columns of the page's table beside those of the streams."""


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
    """The rows that a view lists, or the output, up to a micro-batch.

    Parameters
    ----------
    run
        The run.
    view
        The view; None, or one that lists no rows: the output.
    batch
        The last micro-batch; None: all.

    Attributes
    ----------
    columns
        The columns that can be sorted by.
    fates
        The fates that its rows have; none for the output.
    """

    def __init__(self, run: Result, view: charts.View | None, batch: int | None) -> None:
        self._run, self._view = run, view
        self._batch = None if batch is None else run.simulation.first + batch  # Spark's number
        self.of_rows = view is not None and view.listed is not None
        self._index, self._frame = self._listed() if self.of_rows else self._of_output()
        self.columns = list(self._frame.columns)
        self.fates = list(dict.fromkeys(self._frame["fate"])) if self.of_rows else []

    def _of_output(self) -> tuple[np.ndarray[Any, Any], pd.DataFrame]:
        output, batch = self._run.output, self._batch
        index = np.flatnonzero(output["batch"] <= batch) if batch is not None else np.arange(len(output))
        return index, output.iloc[index]

    def _listed(self) -> tuple[np.ndarray[Any, Any], pd.DataFrame]:
        run, parts, index = self._run, [], []
        for side, first in zip(SIDES, (0, len(run.left)), strict=True):
            fates = run.simulation.fates[side]
            wanted = fates.eval(self._view.listed).to_numpy() if self._view and self._view.listed else np.array([])
            if self._batch is not None:
                wanted &= run.simulation.first + run.side(side).arrival <= self._batch
            places = wanted.nonzero()[0]
            rows = tables.plain_rows(run.simulation, side, places)
            rows.insert(2, "fate", fates["fate"].to_numpy()[places])
            parts.append(rows)
            index.append(first + places)
        return np.concatenate(index), tables.stack(parts)

    def __len__(self) -> int:
        return len(self._index)

    @cached_property
    def _causes(self) -> np.ndarray[Any, Any]:
        return self._run.causes.to_numpy()[self._index]

    def counts(self, found: np.ndarray[Any, Any]) -> dict[str, int]:
        """How many of some rows there are of each cause, the most frequent first; none for the output.

        Parameters
        ----------
        found
            Whether each row is one of them, as `asked` gives it.
        """
        if not self.of_rows:
            return {}
        return {str(cause): int(count) for cause, count in pd.Series(self._causes[found]).value_counts().items()}

    def places(self, query: Query, found: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The rows of a query's cause among those that it `asked` for, in its order, by their place in the listing."""
        frame, places = self._frame, np.flatnonzero(found)
        if query.cause and self.of_rows:
            places = places[self._causes[places] == query.cause]
        if not query.by and self.of_rows:
            order = np.argsort(frame["batch"].to_numpy()[places], kind="stable")
            return places[order[::-1] if query.descending else order]
        if not query.by:
            return places[::-1] if query.descending else places
        values = frame[query.by].iloc[places].reset_index(drop=True)
        try:
            order = values.sort_values(ascending=not query.descending, kind="stable", na_position="last").index
        except TypeError:  # values that Python does not order, such as a group's rows
            order = values.astype(str).sort_values(ascending=not query.descending, kind="stable").index
        return places[order.to_numpy()]

    def asked(self, query: Query) -> np.ndarray[Any, Any]:
        """Whether a query asks for each row, of whatever cause."""
        frame, found = self._frame, np.ones(len(self), dtype=bool)
        if self.of_rows:
            for column, value in (("fate", query.fate), ("side", query.side)):
                if value:
                    found &= (frame[column] == value).to_numpy()
            if query.key:
                found &= self._keys == query.key
        if not query.cut.whole:
            found &= self._inside(query.cut)
        if query.text:
            found &= _contains(frame, query.text)
        return found

    @cached_property
    def _keys(self) -> np.ndarray[Any, Any]:
        return self._run.keys.to_numpy()[self._index]

    def _inside(self, cut: Cut) -> np.ndarray[Any, Any]:
        """The listed rows in a stretch; of the output, those that some row in it is a part of."""
        rows = cut.rows(self._run.simulation)
        if self.of_rows:
            inside = np.concatenate([rows["left"], len(self._run.left) + rows["right"]])
            return np.isin(self._index, inside)
        members = sink_reader.outputs(self._run.raw_output.take(self._index)).members
        of_side = [np.isin(members["row"], rows[side]) & (members["side"] == place) for place, side in enumerate(SIDES)]
        found = np.zeros(len(self), dtype=bool)
        found[members["output"].to_numpy()[of_side[0] | of_side[1]]] = True
        return found

    def page(self, places: np.ndarray[Any, Any]) -> tuple[pd.DataFrame, list[list[RowId]]]:
        """Some rows as they are shown, and for each the input rows that it is made of."""
        chosen = self._index[places]
        if not self.of_rows:
            return self._frame.iloc[places], _input_rows(self._run, chosen)
        run = self._run
        rows = run.explain(chosen.tolist()).loc[chosen]  # which come in order of arrival
        ids = [[RowId.at(row, len(run.left))] for row in chosen.tolist()]
        labels = Labels(run.simulation, whole=False)
        own = rows.drop(columns=["side", "batch", "fate", "reason", "fix_setting", "fix_value"])
        shown = {
            "stream": [run.side(side).name for side in rows["side"]],
            "micro-batch": rows["batch"].to_numpy(),
            "fate": [fate.replace("_", " ") for fate in rows["fate"]],
            "reason": rows["reason"].to_numpy(),
            "would match with": [
                labels.setting(setting, value) if setting is not None else ""
                for setting, value in zip(rows["fix_setting"], rows["fix_value"], strict=True)
            ],
            **{f"row_{name}" if name in _OWN else name: _blank(own[name]) for name in own},
        }
        return pd.DataFrame(shown, index=rows.index), ids

    def code(self, query: Query) -> str:
        """The text of a cell that gives, of a run called ``run``, the rows that a query asks for."""
        lines = self._code_of_rows(query) if self._view is not None and self.of_rows else self._code_of_output(query)
        if query.by:
            order = ", ascending=False" if query.descending else ""
            lines.append(f'shown = shown.sort_values({query.by!r}, kind="stable"{order})')
        elif self.of_rows:
            lines.append('shown = shown.sort_values("batch", kind="stable")')
        if query.descending and not query.by:
            lines.append("shown = shown.iloc[::-1]")
        return "\n".join([*lines, "shown"])

    def _code_of_rows(self, query: Query) -> list[str]:
        listed = self._view.listed if self._view is not None else None
        tests = [f"pd.concat(run.fates.values(), ignore_index=True).eval({listed!r})"]
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
            tests.append(_search('rows.drop(columns=["reason", "fix_setting", "fix_value"])', query.text))
        imports = ["import numpy as np"] if any("np." in each for each in tests) else []
        wanted = [f"wanted = {tests[0]}", *(f"wanted &= {each}" for each in tests[1:])]
        return [*imports, "import pandas as pd", "", "rows = run.rows", *wanted, "shown = rows[wanted]"]

    def _code_of_output(self, query: Query) -> list[str]:
        lines = ["shown = run.output"]
        if not query.cut.whole:  # of which rows an output is made is not in its columns
            inside = self._index[self._inside(query.cut)].tolist()
            lines.append(f"shown = shown.iloc[{inside}]")
        elif self._batch is not None:
            lines.append(f'shown = shown[shown["batch"] <= {self._batch}]')
        if query.text:
            lines.append(f"shown = shown[{_search('shown', query.text)}]")
        return lines


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


def _contains(frame: pd.DataFrame, text: str) -> np.ndarray[Any, Any]:
    """The rows of which some column contains a text."""
    found = np.zeros(len(frame), dtype=bool)
    for name in frame:
        column = frame[name]
        # of each value once: a column such as a side or a fate has few
        codes, values = pd.factorize(column.astype(str))
        hits = pc.match_substring(pa.array(values, pa.string()), text, ignore_case=True).to_numpy(zero_copy_only=False)
        found |= hits[codes] if len(values) else False
    return found


def _blank(column: pd.Series[Any]) -> np.ndarray[Any, Any]:
    """Values as they are shown: nothing where there is none, as in the columns that only the other stream has."""
    missing = column.isna().to_numpy()
    return column.astype(object).where(~missing, "").to_numpy() if missing.any() else column.to_numpy()


def _input_rows(run: Result, places: np.ndarray[Any, Any]) -> list[list[RowId]]:
    """The input rows in some rows of the output."""
    members = sink_reader.outputs(run.raw_output.take(places)).members.sort_values(["output", "side", "row"])
    ids: list[list[RowId]] = [[] for _ in places]
    for output, side, row in zip(members["output"], members["side"], members["row"], strict=True):
        ids[output].append(RowId(SIDES[side], row))
    return ids
