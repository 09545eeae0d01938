"""Where a condition begins: with a column."""

from __future__ import annotations

import keyword
from dataclasses import dataclass

from workbench.conditions._nodes import Column, EarlierColumn, plain_text
from workbench.errors import wrong

__all__ = ["EarlierRow", "col", "row"]


def col(name: str) -> Column:
    """A column, for a condition.

    Parameters
    ----------
    name
        The column's name.

    Returns
    -------
    Column
        Compared by ``< <= > >= == !=`` with constants and other columns, asked by ``isin``, ``like`` and ``is_null``,
        computed with by ``+ - * /``.

    Raises
    ------
    ArgumentError
        If it is no name; and later, where it is compared with what it cannot be compared with.

    Examples
    --------
    >>> (col("amount") > 100) & ~col("method").isin("cash", "voucher")
    (wb.col('amount') > 100) & ~wb.col('method').isin('cash', 'voucher')
    """
    if not isinstance(name, str) or not name:
        raise wrong("name", name, "use the name of a column")
    return Column(plain_text(name, "name"))


@dataclass(frozen=True)
class EarlierRow:
    """An earlier row of a pattern's match, by the name of its step; its columns are its attributes, or its items."""

    _step: str

    def __repr__(self) -> str:
        return f"wb.row({self._step!r})"

    def __getitem__(self, name: str) -> EarlierColumn:
        if not isinstance(name, str) or not name:
            raise wrong("name", name, "use the name of a column")
        plain = plain_text(name, "name")
        short = plain.isidentifier() and not plain.startswith("_") and not hasattr(type(self), plain)
        short = short and not keyword.iskeyword(plain)
        called = f"wb.row({self._step!r})" + (f".{plain}" if short else f"[{plain!r}]")
        return EarlierColumn(called, self._step, plain)

    def __getattr__(self, name: str) -> EarlierColumn:
        if name.startswith("_"):  # what Python and notebooks look for by themselves
            raise AttributeError(name)
        return self[name]


def row(step: str) -> EarlierRow:
    """An earlier row of a pattern's match, for a condition of a later step.

    Parameters
    ----------
    step
        The step that took it. Of several rows it is the last one before the row that is asked about; without one, as
        where the step is optional, its columns are null.

    Returns
    -------
    EarlierRow
        ``wb.row("order").amount`` is its column ``amount``; ``wb.row("order")["unit price"]`` one of any name.

    Raises
    ------
    ArgumentError
        If it is no name.

    Examples
    --------
    >>> col("paid") < row("order").amount * 0.5
    wb.col('paid') < (wb.row('order').amount * 0.5)
    """
    if not isinstance(step, str) or not step:
        raise wrong("step", step, "use the name of a step")
    return EarlierRow(plain_text(step, "step"))
