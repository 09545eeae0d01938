"""`Tuning.charts`: the table of a tuning, made ready for the charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from workbench import charts, times
from workbench._renderer import show_without_network
from workbench.errors import wrong
from workbench.joins import IntervalJoin
from workbench.streams import SIDES

if TYPE_CHECKING:
    import altair as alt

    from workbench.sweep import Tuning


class TuningCharts:
    """The charts of a tuning: one call a view."""

    def __init__(self, tuning: Tuning) -> None:
        self._tuning = tuning
        show_without_network()

    def front(self) -> alt.LayerChart:
        """Kept against state: the settings that no other beats, and the present one."""
        return self.drawing("front").chart()

    def delays(self) -> alt.Chart:
        """What each watermark delay of a side keeps, all other settings as they are."""
        return self.drawing("delays").chart()

    def waits(self) -> alt.Chart:
        """How long rows without partner wait with each watermark delay of a side, all other settings as they are."""
        return self.drawing("waits").chart()

    def heat(self, x: str | None = None, y: str | None = None) -> alt.LayerChart:
        """Two settings against each other, by what they keep.

        Parameters
        ----------
        x, y
            Two of the settings that were varied; None: the first two.

        Raises
        ------
        ArgumentError
            If they are not two settings that were varied.
        """
        return self._heat(x, y).chart()

    def differences(self) -> alt.LayerChart:
        """Time differences of all rows of one key, with the bounds: what bounds could be chosen on."""
        return self.drawing("differences").chart()

    def drawing(self, view: str) -> charts.Drawing:
        """A view as layout and tables: ``front``, ``delays``, ``waits``, ``heat`` or ``differences``."""
        match view:
            case "front":
                return charts.front(self.told())
            case "delays" | "waits":
                return charts.by_delay(self._by_delay(), "kept" if view == "delays" else "wait")
            case "heat":
                return self._heat(None, None)
            case "differences":
                return self._differences()
        raise wrong("view", view, "use front, delays, waits, heat or differences")

    def told(self) -> pd.DataFrame:
        """The table with each setting in words."""
        table, names = self._tuning.table, self._tuning.settings
        words = [", ".join(f"{name} = {row[name]}" for name in names) for _, row in table[names].iterrows()]
        return table.assign(setting=words, place=range(len(table)))

    def _by_delay(self) -> pd.DataFrame:
        tuning, parts = self._tuning, []
        table = tuning.table.assign(wait=tuning.table["end_wait_99"].dt.total_seconds())
        now = table[table["now"]].iloc[0]
        for side in SIDES:
            name = f"{side}.watermark"
            if name not in tuning.settings:
                continue
            others = [each for each in tuning.settings if each != name]
            mine = table[(table[others] == now[others]).all(axis=1)]
            seconds = mine[name].map(lambda each: times.parse(each, "delay").total_seconds())
            stream = (tuning.left if side == "left" else tuning.right).name
            parts.append(mine[["kept", "wait"]].assign(delay=seconds, stream=stream).sort_values("delay"))
        if not parts:
            raise wrong("over", tuning.settings, "vary left.watermark or right.watermark to see what delays do")
        return pd.concat(parts, ignore_index=True)

    def _heat(self, x: str | None, y: str | None) -> charts.Drawing:
        varied = self._tuning.settings
        names = [x or (varied[0] if varied else ""), y or (varied[1] if len(varied) > 1 else "")]
        if names[0] == names[1] or any(name not in varied for name in names):
            raise wrong("x, y", names, f"name two of the settings that were varied: {', '.join(varied)}")
        table = self._tuning.table.rename(columns=dict(zip(names, ("x", "y"), strict=True)))
        cells = table.groupby(["x", "y"], sort=False).agg(kept=("kept", "max"), state_peak=("state_peak", "min"))
        cells = cells.reset_index()
        spread = cells["kept"].max() - cells["kept"].min()
        cells["strong"] = cells["kept"] > cells["kept"].max() - spread / 2
        orders = [sorted(cells[name].unique(), key=_order) for name in ("x", "y")]
        return charts.heat(cells, names, orders)

    def _differences(self) -> charts.Drawing:
        tuning = self._tuning
        join, bounds = tuning.join, []
        if isinstance(join, IntervalJoin):
            bounds = [("lower bound", join.lower), ("upper bound", join.upper)]
        drawn = pd.DataFrame(
            [(label, times.exact(each).total_seconds()) for label, each in bounds], columns=["label", "seconds"]
        )
        seconds = tuning.differences["seconds"].to_numpy()
        return charts.differences(seconds, drawn, (tuning.left.name, tuning.right.name))


def _order(value: str) -> tuple[int, Any]:
    """Time spans by length, before words."""
    return (1, value) if value in ("min", "max") else (0, times.parse(value, "value"))
