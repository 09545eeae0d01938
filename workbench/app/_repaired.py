"""The repairs of rows that a page keeps in its notebook, and doing them again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from workbench.app._form import Form
from workbench.app._repair_list import RepairList
from workbench.literals import Side, other_side
from workbench.sources.findings import Finding
from workbench.untyped import Value

__all__ = ["again", "repairs_of"]


def repairs_of(form: Form, values: Mapping[str, Value]) -> dict[str, tuple[str, ...]]:
    """The repairs among the values of a form's inputs, by the name of the input, each as its ``repr``."""
    lists = [name for name, each in form.inputs.items() if isinstance(each, RepairList)]
    return {name: tuple(map(repr, values[name])) for name in lists if values.get(name)}


def again(form: Form, find: Callable[[], Iterable[Finding]], wanted: Mapping[str, tuple[str, ...]]) -> None:
    """Do repairs that were kept, one after the other, as far as each is offered: what a notebook says is not run.

    Parameters
    ----------
    form
        The inputs.
    find
        Gives what is found about the rows as they are now.
    wanted
        As `repairs_of` gives them.
    """
    while True:
        offered = dict(_offered(find()))
        for name, texts in wanted.items():
            box = form.inputs.get(name)
            if not isinstance(box, RepairList) or len(box.value) >= len(texts):
                continue
            repair = offered.get((name.split(".")[0], texts[len(box.value)]))
            if repair is not None:
                form.set({name: (*box.value, repair)})
                break
        else:
            return


def _offered(findings: Iterable[Finding]) -> Iterator[tuple[tuple[str, str], Value]]:
    """The repairs that are offered, by the side that they are about and their ``repr``."""
    for finding in findings:
        for offer in finding.offers:
            side: Side = offer.side or finding.side
            yield (side, repr(offer.repair)), offer.repair
            if offer.also is not None:
                yield (other_side(side), repr(offer.also)), offer.also
