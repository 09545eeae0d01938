"""What Spark says of streaming joins that it refuses, what each means, and what to write.

`docs/errors.md` has the same sentences, which a test compares with these.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

__all__ = ["KNOWN", "OUTER_WITHOUT_BOUNDS", "Known"]


@dataclass(frozen=True)
class Known:
    """An error of Spark's.

    Attributes
    ----------
    says
        What its message has; … stands for any words.
    rule
        Which rule of Spark's is broken, as a sentence.
    remedy
        What to write, as a sentence.
    """

    says: str
    rule: str
    remedy: str

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds it in a message without line breaks."""
        return re.compile(".*?".join(re.escape(part.strip()) for part in self.says.split("…")))


OUTER_WITHOUT_BOUNDS = Known(
    "Stream-stream … join between two streaming DataFrame/Datasets is not supported without a watermark in the "
    "join keys, or a watermark on the nullable side and an appropriate range condition",
    "An outer or semi join of two streams has to tell when a row can no longer find a partner: it needs a "
    "watermark on a key, or one on the side that may be null and a bound on the event times.",
    "Call `withWatermark` on both sides before the join, and put either a window of the event time into the "
    "keys or both bounds into the condition, as in `r.time BETWEEN l.time AND l.time + INTERVAL 5 MINUTES`.",
)
KNOWN = (
    OUTER_WITHOUT_BOUNDS,
    Known(
        "Stream-stream join without equality predicate is not supported",
        "A join of two streams needs an equality of a column of one side with a column of the other; bounds on the "
        "event times, `OR` and `crossJoin` give none.",
        "Add a key to the condition, or the equality of a window of both event times.",
    ),
    Known(
        "LeftAnti joins with a streaming DataFrame/Dataset on the right are not supported",
        "No anti join has a stream on the right.",
        "Write a left join with watermarks and bounds, and keep the rows whose right key is null.",
    ),
    Known(
        "join between two streaming DataFrames/Datasets is not supported in Update output mode, only in Append "
        "output mode",
        "An outer join of two streams runs in append mode only, as a row that it has padded is never retracted.",
        'Call `outputMode("append")`.',
    ),
    Known(
        "join between two streaming DataFrames/Datasets is not supported in Complete output mode",
        "A join of two streams does not run in complete mode, even below an aggregation.",
        'Call `outputMode("append")`; an aggregation of an inner join may have `outputMode("update")`.',
    ),
    Known(
        "Invalid streaming output mode: update. This output mode is not supported for session window streaming "
        "aggregations",
        "Sessions are written in append or complete mode, as a later row may merge two that were written.",
        'Call `outputMode("append")`.',
    ),
    Known(
        "Invalid streaming output mode: complete. This output mode is not supported for no streaming aggregations",
        "Complete mode is for aggregations, whose whole result is in the state.",
        'Call `outputMode("append")`.',
    ),
    Known(
        "join with a streaming DataFrame/Dataset on the right and a static DataFrame/Dataset on the left is not "
        "supported",
        "The outer side of a left join, and the left side of a semi join, is the stream where the other side is "
        "static.",
        "Put the stream on the left, or make the join an inner join.",
    ),
    Known(
        "join with a streaming DataFrame/Dataset on the left and a static DataFrame/DataSet on the right not supported",
        "The outer side of a right join is the stream where the other side is static.",
        "Put the stream on the right, or make the join an inner or left join.",
    ),
    Known(
        "FullOuter joins with streaming DataFrames/Datasets on the … and a static DataFrame/Dataset on the",
        "A full outer join of a stream has no static side, as the rows of that without a partner would be known "
        "only at the end of the stream.",
        "Make the join outer on the side of the stream only.",
    ),
    Known(
        "More than one event time columns are available",
        "Two columns with a watermark enter one stateful operator, such as a second join, `dropDuplicates`, or a "
        "join on a window that keeps the event time.",
        "Drop all but one of them before it, or make the other a column of its own, as in "
        "`timestamp_micros(unix_micros(time))`; for sessions unite both sides and group by `session_window`.",
    ),
    Known(
        "Redefining watermark is disallowed",
        "A stream has one watermark, and what is joined from streams with watermarks has theirs.",
        "Call `withWatermark` once for each stream, before the join, and not after it.",
    ),
    Known(
        "Detected pattern of possible 'correctness' issue due to global watermark",
        "A stateful operator in update mode emits rows that the next one, such as the join, would drop as late.",
        'Call `outputMode("append")`.',
    ),
    Known(
        "Window function is not supported in … on streaming",
        "`row_number`, `lag` and other functions over a `Window` of rows do not run on streams.",
        "Aggregate by `F.window`, keep state with `transformWithState`, or apply them in `foreachBatch`, where they "
        "see one micro-batch.",
    ),
    Known(
        "must be <= the",
        "`F.window` has no gaps: its slide is at most as long as the window.",
        "Use a tumbling window, and filter.",
    ),
    Known(
        "Multiple time/session window expressions would result in a cartesian product of rows",
        "One `select` has one time window.",
        "Add each window with a `withColumn` of its own.",
    ),
    Known(
        "Sorting is not supported on streaming DataFrames/Datasets",
        "A stream has no order.",
        "Sort what the query has written, or sort in `foreachBatch`.",
    ),
    Known(
        "Limits are not supported on streaming DataFrames/Datasets in Update output mode",
        "A limit runs in append mode only.",
        'Call `outputMode("append")`.',
    ),
    Known(
        "Distinct aggregations are not supported on streaming",
        "`countDistinct` would have to keep every value.",
        "Use `approx_count_distinct`, or `dropDuplicates` with a watermark before the aggregation.",
    ),
    Known(
        "Python UDF in the ON clause of a",
        "The condition of an outer or semi join has no UDF in Python.",
        "Write the condition with Spark's functions, or compute the column with the UDF before the join.",
    ),
    Known(
        "Streaming query is not allowed in subquery expressions",
        "`IN`, `EXISTS` and scalar subqueries do not read streams.",
        'Write a join: `"left_semi"` for `IN` and `EXISTS`, with watermarks and bounds.',
    ),
    Known(
        "Queries with streaming sources must be executed with writeStream.start()",
        "`show`, `count`, `collect` and `toPandas` do not run on streams.",
        "Write the stream with `writeStream`, or record its rows with `wb.Stream.from_streaming`.",
    ),
    Known(
        "can not be called on streaming Dataset/DataFrame",
        "`write` is for DataFrames that are not streaming.",
        "Use `writeStream`, or `write` what `foreachBatch` gets.",
    ),
    Known(
        "A column, variable, or function parameter with name … cannot be resolved",
        "There is no column of that name here: an alias was never set, the column was not selected, or its name has "
        "dots, spaces or quotes.",
        'Call `.alias("a")` on the side before the join where the name begins with `a.`; put an odd name into '
        "backticks.",
    ),
    Known(
        "is ambiguous, could be:",
        "Both sides have a column of that name.",
        'Call `.alias("a")` and `.alias("b")` on the sides and write `F.col("a.id")`, or rename the column of one '
        "side before the join.",
    ),
    Known(
        "are ambiguous. It's probably because you joined several Datasets together",
        "Both sides come from one DataFrame, whose `df.id` may be the column of either.",
        'Call `.alias("a")` and `.alias("b")` on the sides and write `F.col("a.id")` in place of `df.id`, also in '
        "the `select` after the join.",
    ),
    Known(
        "Resolved attribute(s) … missing from",
        "A column such as `df.id` belongs to a DataFrame that is not among the inputs, or no longer has it.",
        "Write `F.col(name)`, and select the column wherever it is needed later.",
    ),
    Known(
        "USING column … cannot be resolved on the",
        "A join on a name needs a column of that name on both sides.",
        "Rename the column of one side, or write the condition: `l.id = r.other_id`.",
    ),
    Known(
        "Invalid streaming output mode: append. This output mode is not supported for streaming aggregations "
        "without watermark",
        "An aggregation emits a group in append mode once the watermark has passed it, so the groups need an event "
        "time with a watermark.",
        "Call `withWatermark` before the aggregation, and group by that column or by a window of it.",
    ),
    Known(
        'The event time … has the invalid type "STRING", but expected "TIMESTAMP"',
        "An event time is a timestamp.",
        "Convert it before `withWatermark`: `F.to_timestamp(time)`.",
    ),
    Known(
        "The event time in withWatermark must be a top-level column",
        "An event time is a column, not a field of a struct.",
        'Give it a name before `withWatermark`: `withColumn("time", F.col("s.time"))`.',
    ),
    Known(
        "delay threshold … should not be negative",
        "A watermark delay is zero or more.",
        'Write `withWatermark(time, "0 seconds")`, or a longer delay.',
    ),
    Known(
        "Unable to parse … valid format for defining an interval",
        "A delay, a window or an interval is a number with a unit.",
        'Write `"10 seconds"`.',
    ),
    Known(
        "Intervals greater than a month is not supported",
        "A window or a delay is counted in weeks or less, as months differ in length.",
        'Write `"30 days"`.',
    ),
    Known(
        "dropDuplicatesWithinWatermark is not supported on streaming DataFrames/DataSets without watermark",
        "`dropDuplicatesWithinWatermark` forgets a row when the watermark passes it.",
        "Call `withWatermark` before it.",
    ),
    Known(
        "Event-time timeout not supported without watermark",
        "A timeout in event time fires when the watermark passes it.",
        "Call `withWatermark` before the groups.",
    ),
    Known(
        "in update mode is not supported with Append output mode",
        "Groups with state that are written in update mode are not run in append mode, which a join after them may "
        "need.",
        'Give `applyInPandasWithState` the output mode `"append"`.',
    ),
    Known(
        "Continuous processing does not support",
        "Continuous processing has neither joins nor watermarks.",
        'Use `trigger(processingTime="1 second")`.',
    ),
    Known(
        "Illegal Parquet type: INT64 (TIMESTAMP(NANOS…))",
        "Spark does not read timestamps in nanoseconds, which pandas writes by default.",
        'Write the file with `coerce_timestamps="us"`.',
    ),
    Known(
        "Schema must be specified when creating a streaming source DataFrame",
        "A stream of files infers no schema.",
        "Call `.schema(…)` before `.json(…)` or `.parquet(…)`.",
    ),
    Known(
        "Failed to find data source: kafka",
        "Spark's Kafka connector is a package of its own.",
        "Start with `--packages org.apache.spark:spark-sql-kafka-0-10_2.13:` and Spark's version.",
    ),
    Known(
        "checkpointLocation must be specified",
        "A query that writes to a sink keeps its state and its progress in a checkpoint.",
        'Give one to each query: `.option("checkpointLocation", folder)`.',
    ),
    Known(
        "Invalid streaming output mode: … This output mode is not supported in Data Source",
        "A sink of files has append mode only.",
        'Call `outputMode("append")`, or write with `foreachBatch`.',
    ),
    Known(
        "cannot be cast to … because it is malformed",
        "A text is cast to a type that cannot hold it; where a join compares columns of two types, Spark casts one of "
        "them.",
        'Make both keys strings with `cast("string")` before the join, or cast with `try_cast`, which gives null.',
    ),
    Known(
        "as a query with that name is already active",
        "A session runs one query of a name.",
        "Stop the other query, or give this one another `queryName`.",
    ),
    Known(
        "sources in the checkpoint offsets and now there are",
        "A checkpoint belongs to as many sources as the query had that wrote it.",
        "Start with a new checkpoint.",
    ),
    Known(
        "Streaming stateful operator name does not match with the operator in state metadata",
        "A checkpoint belongs to the stateful operators that wrote it: joins, aggregations and `dropDuplicates`, in "
        "their order.",
        "Start with a new checkpoint, or put the operators back.",
    ),
    Known(
        "Provided key schema does not match existing state key schema",
        "The state in a checkpoint has the keys that the join had.",
        "Start with a new checkpoint, or put the old keys and their types back.",
    ),
    Known(
        "Provided value schema does not match existing state value schema",
        "The state in a checkpoint has the columns that entered the join.",
        "Start with a new checkpoint, or put the old columns back.",
    ),
    Known(
        "_spark_metadata/0 doesn't exist (latestId:",
        "The folder of the Parquet sink belongs to its checkpoint.",
        "Keep both, or begin with two new ones.",
    ),
    Known(
        "Some data may have been lost because they are not available in Kafka any more",
        "The checkpoint asks for offsets that Kafka no longer has, or it belongs to a query on other topics.",
        "Start with a new checkpoint; where the lost rows may be missing, write "
        '`.option("failOnDataLoss", "false")`, and Spark goes on with what is there.',
    ),
    Known(
        "No space left on device",
        "The checkpoint needs space, and all of its files.",
        "Make room, and start again with the same checkpoint.",
    ),
)
"""The first whose words a message has is the one."""
