"""Names of columns in SQL, whatever Spark takes for a reserved word."""

from __future__ import annotations

import scripts

from workbench.plan.names import in_sql


def test_reserved_words_are_quoted(spark):
    own = scripts.own_session(spark)
    own.conf.set("spark.sql.ansi.enforceReservedKeywords", "true")
    words = [row.keyword.lower() for row in own.sql("SELECT keyword FROM sql_keywords()").collect()]
    assert len(words) > 300
    columns = ", ".join(f"1 AS {in_sql(word)}" for word in (*words, "order_id", "a b", "a`b", "é"))
    assert len(own.sql(f"SELECT {columns}").columns) == len(words) + 4
    assert in_sql("order_id") == "order_id"
