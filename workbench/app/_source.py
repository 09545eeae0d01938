"""Where the two streams come from: the list of sources, and the inputs of the one that is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ipywidgets as widgets

from workbench.app._form import Form, group, show
from workbench.app.sources import Notebook, PageSource, sources
from workbench.sources.findings import Finding
from workbench.untyped import Namespace, Record


class SourcePanel:
    """The choice of two streams.

    Parameters
    ----------
    form
        Where its inputs are added.
    namespace
        The notebook's variables.
    look_again
        Called when the user asks to look for what the variables hold now.

    Attributes
    ----------
    widget
        The panel.
    """

    def __init__(self, form: Form, namespace: Namespace, look_again: Callable[[], None]) -> None:
        self._form, self._notebook, self._sources = form, Notebook(namespace, look_again), sources()
        known = self._sources.values()
        choice = widgets.Dropdown(options=[(each.label, each.name) for each in known])
        form.add("source", choice, "From", _sentence([each.tip for each in known]))
        self._groups = {each.name: group() for each in known}
        self.widget = group(*form.row("source"), *self._groups.values())
        form.follow("source", self._show)
        self._show()

    def _build(self, source: PageSource) -> None:
        """Add a source's inputs, when it is chosen first.

        Jupyter sends a message for each widget, and drops what is more at once than its queue holds: a page of all
        inputs of all sources would come about with parts missing.
        """
        if source.controls[0].name in self._form.inputs:
            return
        for each in source.controls:
            self._form.add(each.name, each.widget(), each.label, each.tip)
        parts = self._form.row(*source.inputs)
        if source.arrange is not None:
            parts = source.arrange(self._form, self._notebook)
        self._groups[source.name].children = parts

    def _show(self) -> None:
        self._build(self.chosen)
        self.refresh()
        for name, each in self._groups.items():
            show(each, name == self.chosen.name)

    @property
    def chosen(self) -> PageSource:
        """The source that is chosen."""
        return self._sources[self._form.value("source")]

    def refresh(self) -> None:
        """Look for what there is now, such as variables of the notebook."""
        if self.chosen.refresh is not None:
            self.chosen.refresh(self._form, self._notebook)

    def tell(self, findings: Sequence[Finding]) -> None:
        """Say what was found about the rows of the streams."""
        if self.chosen.tell is not None:
            self.chosen.tell(self._form, findings)

    def variables(self) -> Record:
        """What the notebook's variables that are chosen hold now."""
        held = self._notebook.variables
        inputs = self._form.inputs
        names = [inputs[name].value for each in self._sources.values() for name in each.variables if name in inputs]
        return {name: held[name] for name in names if name in held}


def _sentence(parts: list[str]) -> str:
    """Parts of a sentence as one that begins with a capital letter."""
    text = f"{', '.join(parts[:-1])}, or {parts[-1]}."
    return text[0].upper() + text[1:]
