"""What was found about one side's rows, the repairs that are offered, and those that are done to them."""

from __future__ import annotations

from collections.abc import Iterable

import ipywidgets as widgets
import traitlets

from workbench.app.html import HTML
from workbench.sources.file_repairs import FileRepair
from workbench.sources.findings import Finding, Offer
from workbench.sources.repairs import AnyRepair
from workbench.untyped import Value


class RepairList(widgets.VBox):  # type: ignore[misc]
    """An input whose value are the repairs of one side's rows: chosen by a button each, and taken back by another.

    Attributes
    ----------
    value
        The repairs, in the order in which they are done.
    """

    value = traitlets.Tuple()
    description = traitlets.Unicode("")
    tooltip = traitlets.Unicode("")  # not sent: the browser's view of a box has no description to show it with
    disabled = traitlets.Bool(False)

    def __init__(self) -> None:
        super().__init__()
        self._notes: tuple[str, ...] = ()
        self._offers: tuple[Offer, ...] = ()
        self.add_class("sjw-repairs")
        self.observe(lambda _: self._show(), ["value", "disabled"])

    def tell(self, findings: Iterable[Finding]) -> None:
        """Say what was found, and offer the repairs that would do."""
        found = list(findings)
        notes = tuple(each.words for each in found if not each.wrong)
        offers = tuple(offer for each in found for offer in each.offers if offer.repair not in self.value)
        if (notes, offers) != (self._notes, self._offers):
            self._notes, self._offers = notes, offers
            self._show()

    def _show(self) -> None:
        """Lay out the notes, the repairs that are done, and those that are offered."""
        done = [self._line(each) for each in self.value]
        self.children = [
            *done,
            *map(_note, self._notes),
            *(self._button(each) for each in self._offers if each.repair not in self.value),
        ]

    def _line(self, repair: AnyRepair | FileRepair) -> widgets.HBox:
        words = HTML(repair.words)
        words.add_class("sjw-repair")
        back = widgets.Button(icon="undo", tooltip=f"Take back: {repair.words}.", disabled=self.disabled)
        back.layout = widgets.Layout(width="auto", flex="0 0 auto")
        back.on_click(lambda _: self._set(tuple(each for each in self.value if each != repair)))
        return widgets.HBox([words, back])

    def _button(self, offer: Offer) -> widgets.Button:
        made = widgets.Button(
            description=offer.label, icon="wrench", tooltip=f"{offer.repair.words}.", disabled=self.disabled
        )
        made.layout = widgets.Layout(width="auto", height="auto")
        made.on_click(lambda _: self._set((*self.value, offer.repair)))
        return made

    def _set(self, repairs: tuple[Value, ...]) -> None:
        self.value = repairs


def _note(words: str) -> HTML:
    made = HTML(words)
    made.add_class("sjw-note")
    return made
