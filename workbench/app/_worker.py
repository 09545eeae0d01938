"""A thread that does the newest of what it is asked for."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

Job = Callable[[], None]


class Latest:
    """Does one job at a time; of those that wait, only the last.

    A slider that moves faster than the charts can be drawn asks for many drawings, of which only the newest counts.

    Parameters
    ----------
    failed
        Called with what a job raised.
    """

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._job: Job | None = None
        self._must: deque[Job] = deque()
        self._busy = self._closed = False
        self._turn = threading.Condition()
        self._thread: threading.Thread | None = None

    def submit(self, job: Job) -> None:
        """Do a job soon, in place of the one that waits."""
        self._take(job, must=False)

    def insist(self, job: Job) -> None:
        """Do a job soon, whatever else is asked for."""
        self._take(job, must=True)

    def _take(self, job: Job, must: bool) -> None:
        with self._turn:
            if self._closed:
                return
            if must:
                self._must.append(job)
            else:
                self._job = job
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="stream-join-workbench-drawing", daemon=True)
                self._thread.start()
            self._turn.notify_all()

    def _work(self) -> None:
        while True:
            with self._turn:
                self._turn.wait_for(lambda: self._must or self._job or self._closed)
                if self._closed:
                    return
                job = self._next()
                self._busy = True
            try:
                job()
            except Exception as error:  # noqa: BLE001 - told on the page; the next job may do better
                self._failed(error)
            finally:
                with self._turn:
                    self._busy = False
                    self._turn.notify_all()

    def _next(self) -> Job:
        if self._must:
            return self._must.popleft()
        job, self._job = self._job, None
        assert job is not None  # noqa: S101 - what is waited for above
        return job

    def settle(self, timeout: float = 60) -> bool:
        """Wait until nothing is left to do; whether that came about in time."""
        with self._turn:
            return self._turn.wait_for(lambda: self._closed or not (self._job or self._must or self._busy), timeout)

    def close(self) -> None:
        """End the thread, after the job it is at."""
        with self._turn:
            self._closed, self._job = True, None
            self._must.clear()
            self._turn.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(15)
