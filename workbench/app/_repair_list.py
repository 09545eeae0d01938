"""What was found about one side's rows, the repairs that are offered, and those that are done to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import ipywidgets as widgets
import traitlets

from workbench.app.html import HTML
from workbench.sources.findings import Finding, Offer
from workbench.sources.folder_repairs import FileRepair
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
        self._found: list[Finding] = []
        self._choose: Callable[[Offer], None] = lambda offer: self._set((*self.value, offer.repair))
        self.add_class("sjw-repairs")
        self.observe(lambda _: self._show(), ["value", "disabled"])

    def tell(self, findings: Iterable[Finding], choose: Callable[[Offer], None]) -> None:
        """Say what was found, and offer the repairs that would do.

        Parameters
        ----------
        findings
            What was found.
        choose
            Called with the offer whose button is pressed.
        """
        found = list(findings)
        self._choose = choose
        if found != self._found:
            self._found = found
            self._show()

    def _show(self) -> None:
        """Lay out the repairs that are done, and what was found, each with the repairs that it offers."""
        parts: list[widgets.Widget] = [self._line(each) for each in self.value]
        for finding in self._found:
            parts += [] if finding.wrong else [_note(finding)]
            parts += [self._button(each) for each in finding.offers if each.side or each.repair not in self.value]
        self.children = parts

    def _line(self, repair: AnyRepair | FileRepair) -> widgets.HBox:
        words = HTML(repair.words)
        words.add_class("sjw-repair")
        own = widgets.Layout(width="auto", flex="0 0 auto")
        back = widgets.Button(icon="undo", tooltip=f"Take back: {repair.words}.", disabled=self.disabled, layout=own)
        back.on_click(lambda _: self._set(tuple(each for each in self.value if each != repair)))
        return widgets.HBox([words, back])

    def _button(self, offer: Offer) -> widgets.Button:
        words = "; ".join(each.words for each in (offer.repair, offer.also) if each is not None)
        made = widgets.Button(
            description=offer.label,
            icon="wrench",
            tooltip=f"{words}.",
            disabled=self.disabled,
            layout=widgets.Layout(width="auto", height="auto"),
        )
        made.on_click(lambda _: self._choose(offer))
        return made

    def _set(self, repairs: tuple[Value, ...]) -> None:
        self.value = repairs


def _note(found: Finding) -> HTML:
    made = HTML(found.words)
    made.add_class("sjw-note")
    if found.warns:
        made.add_class("sjw-warning")
    return made
