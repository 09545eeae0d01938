"""What a tuning gives: a table of settings, the best of them, and Spark's word on some."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from workbench import fixes, times
from workbench.counts import counted
from workbench.errors import WorkbenchError, check_whole, wrong
from workbench.joins import Join
from workbench.kinds import kind_of
from workbench.literals import DELAYS, Policy, Setting, Sides
from workbench.model import KeptByDelays
from workbench.reasons.labels import setting_name, setting_value
from workbench.reasons.tables import handed_out
from workbench.runs.running import run
from workbench.streams import Stream
from workbench.times import Span
from workbench.tuning import _caveats as caveats
from workbench.tuning._differences import bounds, differences
from workbench.tuning._figures import Limits, ranked
from workbench.untyped import Record, Series

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from workbench.charts import TuningCharts

BYTES_ERROR = 0.4
"""How far predicted bytes of state may be from what Spark's in-memory state store says, as a share of that."""


Answer = Callable[[float | None, Limits], "Record | None"]
"""Gives the row of the cheapest of all delays that keep a share within limits, or of those that keep most."""


@dataclass(frozen=True, eq=False, repr=False)
class Tuning:
    """What many settings do to one recording. Made by `workbench.tune`.

    Attributes
    ----------
    join, left, right, policy
        What was tuned, as it is set now.
    sampled
        The share of the rows that were looked at: 1, or whole keys drawn at random where there are too many rows. The
        watermarks are those of all rows, and counts are scaled to all rows.
    pairs
        How many pairs of these rows there are with nothing dropped as late, under the join that has most of them.
    kept
        What each pair of watermark delays keeps; None where only trying tells, or where other settings were varied.
    """

    join: Join
    left: Stream
    right: Stream
    policy: Policy
    _table: pd.DataFrame
    sampled: float = 1.0
    pairs: int = 0
    kept: KeptByDelays | None = None
    _answer: Answer | None = None

    @property
    def table(self) -> pd.DataFrame:
        """One row a setting; a copy, which may be changed.

        First the settings that were varied, as text; then:

        ``kept`` (share of the complete result that comes out: of the same join with nothing dropped as late; a coGroup
        is kept if all its rows are in it); ``kept_error`` (0, but where keys were sampled: at most so far from what all
        rows would give, at 95 % confidence); ``late_left``, ``late_right`` (rows that were late for at least one
        window); ``pairs_lost``; ``wait_median``, ``wait_99`` (event time, as the newest row tells it, from the arrival
        of a pair's second row to the pair's coming out) and the same in micro-batches, ``wait_batches_median``,
        ``wait_batches_99``; ``end_wait_median``, ``end_wait_99`` and ``end_wait_batches_median``,
        ``end_wait_batches_99`` (for rows without partner and groups, from the end of their window or interval); what
        comes out only because the input ends is not in the waits, but counted in ``at_the_end``, and what is in
        ``end_wait`` in ``waited``; ``state_peak``,
        ``state_mean`` (rows in state after a micro-batch; of each window one that a row is in); ``state_time`` (the
        longest that a row was in state, in event time as the newest row tells it, from its arrival until it left or the
        input ended);
        ``bytes_peak``, ``bytes_mean`` (about what Spark's in-memory state store says they take: within `BYTES_ERROR`;
        of a processor, which is on RocksDB, what its rows would take there); ``pareto`` (on the Pareto front: no other
        setting keeps at least as much, holds no more state and makes wait no longer); ``now`` (the present setting).
        """
        return handed_out(self._table)

    @property
    def charts(self) -> TuningCharts:
        """The tuning's charts: ``tuning.charts.pareto()``, ``.delays()``."""
        from workbench.charts import TuningCharts, TuningScene  # when needed: Altair is slow to import

        return TuningCharts(
            TuningScene(
                self.join, self.left, self.right, self._table, self.settings, lambda: self._differences, self.kept
            )
        )

    @property
    def differences(self) -> pd.DataFrame:
        """Time differences of the rows of one key: what bounds of an interval join could be chosen on.

        Columns: ``left``, ``right`` (rows), ``seconds`` (right time less left time). Of more than five million pairs,
        those of some keys, drawn at random, whole keys at a time.
        """
        return handed_out(self._differences)

    @cached_property
    def _differences(self) -> pd.DataFrame:
        return differences(self.left, self.right)

    @property
    def bounds(self) -> pd.DataFrame:
        """What bounds of an interval join would bring.

        Columns: ``share`` (of all pairs of one key); ``lower``, ``upper`` (the closest bounds with that share of the
        pairs before, and after, the left row's time); ``pairs`` (share of all pairs of one key that lie within);
        ``one_to_many`` (share of the left rows with a partner that have more than one).
        """
        return handed_out(self._bounds)

    @cached_property
    def _bounds(self) -> pd.DataFrame:
        return bounds(self._differences)

    def __repr__(self) -> str:
        pareto = int(self._table["pareto"].sum())
        part = f", from the keys of {self.sampled:.1%} of the rows" if self.sampled < 1 else ""
        return f"<Tuning of {self.join}: {len(self._table):,} settings, {pareto:,} of them on the Pareto front{part}>"

    def confirm(
        self, n: int = 5, *, spark: SparkSession | None = None, folder: str | os.PathLike[str] | None = None
    ) -> pd.DataFrame:
        """Run some of the settings on Spark, and put what it did beside what was predicted.

        Parameters
        ----------
        n
            How many: the present one, and the others on the Pareto front, evenly spread over what they keep.
        spark, folder
            As `workbench.run` takes them.

        Returns
        -------
        pandas.DataFrame
            Columns: the settings; ``rows``, ``state_peak``, ``bytes_peak`` as predicted, and ``spark_rows``,
            ``spark_state_peak``, ``spark_bytes_peak`` as Spark had them (rows out; most rows, and bytes, in state after
            a micro-batch with data, as Spark counts them: groups of a session or a coGroup, keys of an as-of join or a
            pattern); ``agrees`` (whether every row that came out, the late rows of every micro-batch and every state
            count were as predicted).

        Raises
        ------
        ArgumentError
            If `n` is not 1 or more, or another argument is wrong.
        """
        check_whole("n", n, "of settings")
        return pd.DataFrame([self._confirmed(place, spark, folder) for place in self._spread(n)])

    def _spread(self, n: int) -> list[int]:
        """The rows of the present setting and of others on the Pareto front, evenly spread over what they keep."""
        now = int(np.flatnonzero(self._table["now"])[0])
        pareto = self._table[self._table["pareto"] & ~self._table["now"]].sort_values("kept", kind="stable").index
        if n == 1 or not len(pareto):
            return [now]
        return [now, *pareto[np.unique(np.linspace(0, len(pareto) - 1, min(n - 1, len(pareto))).astype(int))]]

    def _confirmed(self, place: int, spark: SparkSession | None, folder: str | os.PathLike[str] | None) -> Record:
        setting = {name: str(self._table[name].iloc[place]) for name in self.settings}
        join, left, right, policy = fixes.apply_all(setting, self.join, self.left, self.right, self.policy)
        done = run(join, left, right, policy=policy, spark=spark, folder=folder)
        outcome, data = done.outcome, done.batches[done.batches["kind"] == "data"]
        given_up = len(done.timed_out) if kind_of(join).match_columns(join) else 0
        return setting | {
            "rows": int(outcome.output_rows().sum()),
            "spark_rows": len(done.output) + given_up,
            "state_peak": int(outcome.state_counts()[: len(data)].max()),
            "spark_state_peak": int(data["state_rows"].max()),
            "bytes_peak": int(self._table["bytes_peak"].iloc[place]),
            "spark_bytes_peak": int(data["state_bytes"].max()),
            "agrees": done.mismatch == "",
        }

    @property
    def settings(self) -> list[Setting]:
        """The names of the settings that were varied."""
        return list(self._table.columns[: self._table.columns.get_loc("kept")])

    def best(self, keep: float | None = 0.999, *, most_rows: int | None = None, most_time: Span | None = None) -> Best:
        """The cheapest setting that keeps a share of the complete result: that holds the fewest rows in state.

        It is the cheapest of those in `table`. Where only the delays were varied, and what each keeps is known, as in
        interval joins and windows of a fixed size, it is the cheapest of all delays there are.

        Parameters
        ----------
        keep
            The share, from 0 to 1. None: as much as the limits allow.
        most_rows
            How many rows may be in state at most (``state_peak``); None: any number.
        most_time
            For how long a row may be in state at most (``state_time``), such as ``"60 s"``; None: any time.

        Returns
        -------
        Best
            Prints as a sentence or two.

        Raises
        ------
        ArgumentError
            If `keep` is no share, or a limit is none; if neither a share nor a limit is given.
        WorkbenchError
            If no row meets another whatever the settings, or none keeps as much within the limits; it says how much
            the best keeps.
        """
        limits = Limits.of(most_rows, most_time)
        if keep is None and not limits:
            raise wrong("keep", keep, "give a share from 0 to 1, such as 0.999, or a limit with most_rows or most_time")
        if keep is not None and (isinstance(keep, bool) or not isinstance(keep, int | float) or not 0 <= keep <= 1):
            raise wrong("keep", keep, "use a share from 0 to 1, such as 0.999")
        if not self.pairs:
            raise WorkbenchError(
                f"no row of {self.left.name} meets one of {self.right.name} in this join, whatever the delays: there "
                "is nothing to choose on; check that the keys match, widen bounds or windows, or record for longer"
            )
        row = self._answered(keep, limits)
        if row is None:
            raise WorkbenchError(self._none(keep, limits))
        cheaper = ranked(
            self._table[(self._table["kept"] < row["kept"]) & (self._table["state_peak"] < row["state_peak"])]
        )
        settings = {name: str(row[name]) for name in self.settings}
        join, left, right, policy = fixes.apply_all(settings, self.join, self.left, self.right, self.policy)
        streams = Sides(left, right)
        tried = {side: self._table[name].tolist() for side, name in DELAYS.items() if name in self.settings}
        share = float(row["kept"]) if keep is None else keep
        return Best(
            settings,
            row,
            cheaper.sort_values("kept", ascending=False, kind="stable").iloc[0] if len(cheaper) else None,
            caveats.too_short(streams, share),
            caveats.hidden(join, streams, policy, share),
            caveats.without_effect(join, streams, tried) if policy == "min" else "",
            caveats.basis(streams),
        )

    def _answered(self, keep: float | None, limits: Limits) -> Series | None:
        """The row of the cheapest setting that keeps a share within limits, or of that which keeps most within them.

        Of those that cost the same and keep as much, it is the one that changes the fewest settings.
        """
        found = None if self._answer is None else self._answer(keep, limits)
        one = [] if found is None else [pd.DataFrame([{**found, "pareto": True, "now": False}])]
        tried = pd.concat([*one, self._table], ignore_index=True)
        now = tried.loc[tried["now"], self.settings].iloc[0]
        changed = (tried[self.settings] != now).sum(axis=1).to_numpy()
        ordered = ranked(tried.iloc[np.argsort(changed, kind="stable")])
        good = ordered[limits.hold(ordered)]
        least = good["kept"].max() if keep is None else keep
        good = good[good["kept"] >= least]
        return None if good.empty else good.iloc[0]

    def _none(self, keep: float | None, limits: Limits) -> str:
        """Why no setting answers, and what the nearest is."""
        if limits:
            within = self._answered(None, limits)
            if within is None:
                cheapest = ranked(self._table).iloc[0]
                rows = counted(cheapest["state_peak"], "row")
                span = times.short(cheapest["state_time"].to_pytimedelta())
                return f"no setting stays within {limits}; the cheapest has {rows} in state at most, for {span} each"
            settings = ", ".join(self._worded(name, str(within[name])) for name in self.settings)
            return f"no setting keeps {keep:.2%} with {limits}; {settings} keeps most, {within['kept']:.2%}"
        most = self._table["kept"].max()
        if self.kept is not None:  # then all delays were looked at
            return (
                f"no watermark delay keeps {keep:.2%}; the longest keeps {most:.2%}: rows at or before 1970-01-01 "
                "are late whatever the delay; correct their event times"
            )
        return f"no setting keeps {keep:.2%}; the best of these keeps {most:.2%}: try longer delays"

    def _worded(self, setting: Setting, value: str) -> str:
        """A setting and its value in words."""
        for side, stream in Sides(self.left, self.right).items():
            if setting == DELAYS[side]:
                return f"a watermark delay of {setting_value(setting, value)} on {stream.name}"
        return f"{setting_name(self.join, (self.left.name, self.right.name), setting)} {setting_value(setting, value)}"


@dataclass(frozen=True, eq=False, repr=False)
class Best:
    """A recommended setting.

    Attributes
    ----------
    settings
        The settings by name, as text.
    row
        Its row of `Tuning.table`.
    cheaper
        The row of the setting that keeps most of those that cost less and keep too little; None: there is none.
    warning
        What the recording is too short to tell; empty if it is long enough.
    under_short_trigger
        How many rows would be late under a very short trigger; empty where these are hardly more.
    without_effect
        Which delays make no difference; empty where all do.
    basis
        What it rests on: rows, micro-batches, trigger interval.
    """

    settings: dict[Setting, str]
    row: Series
    cheaper: Series | None
    warning: str
    under_short_trigger: str
    without_effect: str
    basis: str

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know: how many rows would be late under a very short trigger, a delay without effect."""
        return tuple(filter(None, (self.under_short_trigger, self.without_effect)))

    def __repr__(self) -> str:
        return self.text(lambda name, value: f"{name} = {value}")

    def text(self, named: Callable[[Setting, str], str]) -> str:
        """The recommendation in sentences.

        Parameters
        ----------
        named
            Gives a setting and its value in words.
        """
        words = ", ".join(named(name, value) for name, value in self.settings.items())
        peak = counted(self.row["state_peak"], "row")
        text = f"{words}: keeps {self.row['kept']:.3%} and holds at most {peak} in state"
        if self.cheaper is not None:
            other = ", ".join(named(name, str(self.cheaper[name])) for name in self.settings)
            held, kept = self.cheaper["state_peak"], self.cheaper["kept"]
            text += f"; the next cheaper, {other}, holds {held:,} and keeps {kept:.3%}"
        more = [each for each in (*self.notes, self.warning, f"this rests on {self.basis}") if each]
        return " ".join([f"{text}.", *(f"{each[:1].upper()}{each[1:]}." for each in more)])
