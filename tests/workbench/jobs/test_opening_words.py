"""What `wb.open_job` and `wb.watch` say of what is none of a query, and of a query that failed at once."""

from __future__ import annotations

import jobs
import pytest
import written
from pyspark.errors import StreamingQueryException

import workbench as wb


@pytest.mark.parametrize("ask", [wb.open_job, wb.watch], ids=lambda each: each.__name__)
@pytest.mark.parametrize(("joined", "got"), [("ads-live", "'ads-live'"), (3, "3"), (None, "None")])
def test_what_is_neither_a_query_nor_a_streaming_frame(ask, joined, got):
    with pytest.raises(wb.ArgumentError) as raised:
        ask(joined, "somewhere")
    assert str(raised.value) == (
        f"joined: got {got}; give a query of this session, or the streaming DataFrame of a job"
    )


@pytest.mark.parametrize("ask", [wb.open_job, wb.watch], ids=lambda each: each.__name__)
def test_a_frame_that_is_not_streaming(spark, ask):
    words = "joined: got 'a DataFrame that is not streaming'; give a query of this session, or the streaming DataFrame"
    with pytest.raises(wb.ArgumentError, match=words):
        ask(spark.range(3), "somewhere")


def test_a_query_that_failed_before_its_first_commit(session, folder, tmp_path):
    joined = written.enough(*jobs.streams(session, folder))

    def fail(rows, number):
        raise RuntimeError("no room")

    writer = joined.writeStream.foreachBatch(fail).option("checkpointLocation", str(tmp_path))
    query = writer.trigger(availableNow=True).start()
    with pytest.raises(StreamingQueryException):
        query.awaitTermination()
    words = "no micro-batch of it has ended; wait for the first, or see why the query failed"
    for given in ((joined, tmp_path), (query,)):
        with pytest.raises(wb.ArgumentError, match=f"checkpoint: got .*; {words}"):
            wb.open_job(*given)
