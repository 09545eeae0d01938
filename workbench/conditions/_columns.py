"""Where a condition begins: with a column."""

from __future__ import annotations

from workbench.conditions._nodes import Column, plain_text
from workbench.errors import wrong

__all__ = ["col"]


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
