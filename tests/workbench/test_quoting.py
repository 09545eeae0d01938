"""Names of columns in code and SQL, whatever is in them."""

from __future__ import annotations

import re
from pathlib import Path

import scripts

import workbench
from workbench.quoting import in_sql

PACKAGE = Path(workbench.__file__).parent


def test_reserved_words_are_quoted(spark):
    own = scripts.own_session(spark)
    own.conf.set("spark.sql.ansi.enforceReservedKeywords", "true")
    words = [row.keyword.lower() for row in own.sql("SELECT keyword FROM sql_keywords()").collect()]
    assert len(words) > 300
    columns = ", ".join(f"1 AS {in_sql(word)}" for word in (*words, "order_id", "a b", "a`b", "é"))
    assert len(own.sql(f"SELECT {columns}").columns) == len(words) + 4
    assert in_sql("order_id") == "order_id"


def test_names_are_put_in_backticks_by_one_function():
    doubles = re.compile(r"""replace\((['"])`\1, (['"])``\2\)""")
    found = {
        str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if doubles.search(path.read_text("utf-8"))
    }
    assert found == {"quoting.py"}
