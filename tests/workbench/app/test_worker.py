"""The thread that draws."""

from __future__ import annotations

import threading

from workbench.app.worker import CoalescingWorker


def test_of_waiting_jobs_the_last_is_done_and_those_that_must_be():
    begun, go, done = threading.Event(), threading.Event(), []
    ended = []
    worker = CoalescingWorker(lambda kind, error: ended.append((kind, type(error))))
    worker.submit("a", lambda: (begun.set(), go.wait(10), done.append("first")))
    assert begun.wait(10)
    for name in ("dropped", "dropped too", "last"):
        worker.submit("a", lambda name=name: done.append(name))
    worker.submit("b", lambda: done.append("of another sort"))
    worker.submit_always(lambda: done.append("kept"))
    worker.submit_always(lambda: 1 / 0)
    go.set()
    assert worker.wait_until_idle()
    assert done == ["first", "last", "of another sort", "kept"]
    nothing = type(None)
    assert ended == [("a", nothing), ("a", nothing), ("b", nothing), ("", nothing), ("", ZeroDivisionError)]
    worker.close()
    worker.submit("a", lambda: done.append("after"))
    assert worker.wait_until_idle()
    assert "after" not in done
