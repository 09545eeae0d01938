"""What a kind of join is called, and the form of the page that makes its joins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic

from workbench.joins import HOWS, How
from workbench.kinds._inputs import Field, Flag, Input, J, Menu, Text


class Form(Generic[J]):
    """What a kind is called, and its form.

    The registry asks `describes` of each join; the page asks the others when it is opened and when an input changes.

    Attributes
    ----------
    name
        The word that stands for it in the page's settings.
    label
        What it is called.
    fields, texts, menus, flags, hows
        The inputs of its form, and the values of ``how`` that it has; none: it has no ``how``.
    no_how
        Why it has none.
    told_by_name
        The arguments of its joins that its label tells, so that no list of settings has them, too.
    """

    name: str
    label: str
    fields: tuple[Field, ...] = ()
    texts: tuple[Text, ...] = ()
    menus: tuple[Menu, ...] = ()
    flags: tuple[Flag, ...] = ()
    hows: tuple[How, ...] = HOWS
    no_how: str = "this kind of join gives only pairs: it has no other join type"
    told_by_name: frozenset[str] = frozenset()

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The inputs of its form, but for ``how``."""
        return (*self.fields, *self.texts, *self.menus, *self.flags)

    def describes(self, join: object) -> bool:
        """Whether something is a join of this kind."""
        raise NotImplementedError

    def make(self, texts: Mapping[str, str], flags: Mapping[str, bool], how: How) -> J:
        """The join that its form describes: the texts of fields, texts and menus, the flags, and ``how``."""
        raise NotImplementedError
