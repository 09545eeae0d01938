"""The inputs of the page's form that describe a join: those of each kind, by names that meet no other input's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.errors import ArgumentError
from workbench.joins import How
from workbench.kinds import Flag, Input, kinds
from workbench.literals import DELAYS
from workbench.untyped import Record, Value

_OF_THE_RUN = {*DELAYS.values(), "policy", "finish"}


@dataclass(frozen=True)
class JoinInputs:
    """The inputs of the kinds of join that a page offers.

    Attributes
    ----------
    inputs
        By name, in the order of the form.
    names
        For each kind the names of its inputs, by the arguments that they give. Kinds with the same field share its
        input, so that it keeps what is typed when another kind is chosen.
    """

    inputs: Mapping[str, Input]
    names: Mapping[str, Mapping[str, str]]

    def join(self, values: Mapping[str, Value], how: How) -> Any:
        """The join that a form's values describe."""
        kind, names = kinds()[values["kind"]], self.names[values["kind"]]
        texts = {each.argument: values[names[each.argument]] for each in kind.inputs if not isinstance(each, Flag)}
        flags = {each.argument: values[names[each.argument]] for each in kind.flags}
        return kind.make(texts, flags, how)

    def wrong(self, values: Mapping[str, Value]) -> list[tuple[ArgumentError, dict[str, str]]]:
        """What is wrong with the fields of the kind, each by itself: the error, and the words beside the input."""
        kind, names = kinds()[values["kind"]], self.names[values["kind"]]
        found = []
        read = {each.argument: each.read for each in kind.fields} | {each.argument: each.read for each in kind.texts}
        for argument, reads in read.items():
            name = names[argument]
            try:
                reads(values[name], argument)
            except ArgumentError as error:
                found.append((error, {name: error.remedy}))
        return found

    def named(self, kind: str, settings: Mapping[str, Value]) -> Record:
        """Settings of a run, its join's of a kind among them, by the names of the inputs that hold them."""
        names = self.names[kind]
        return {each if each in _OF_THE_RUN else names.get(each, each): value for each, value in settings.items()}


def join_inputs() -> JoinInputs:
    """The inputs of all kinds; those of the kinds with most fields first, to stay together, then menus, flags last."""
    known = sorted(kinds().values(), key=lambda kind: -len(kind.fields))
    inputs: dict[str, Input] = {}
    owners: dict[Input, str] = {}
    of_all: list[tuple[str, Input]] = []
    of_all += [(kind.name, each) for kind in known for each in kind.fields]
    of_all += [(kind.name, each) for kind in known for each in kind.texts]
    of_all += [(kind.name, each) for kind in known for each in kind.menus]
    of_all += [(kind.name, each) for kind in known for each in kind.flags]
    names: dict[str, dict[str, str]] = {kind.name: {} for kind in known}
    for kind_name, each in of_all:
        name = owners.setdefault(each, f"{kind_name}/{each.argument}")
        inputs[name], names[kind_name][each.argument] = each, name
    return JoinInputs(inputs, names)
