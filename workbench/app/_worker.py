"""A thread that does the newest of what it is asked for."""

from __future__ import annotations

import threading
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
        self._busy = self._closed = False
        self._turn = threading.Condition()
        self._thread: threading.Thread | None = None

    def submit(self, job: Job) -> None:
        """Do a job soon, in place of the one that waits."""
        with self._turn:
            if self._closed:
                return
            self._job = job
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="stream-join-workbench-drawing", daemon=True)
                self._thread.start()
            self._turn.notify_all()

    def _work(self) -> None:
        while True:
            with self._turn:
                while self._job is None and not self._closed:
                    self._turn.wait()
                if self._closed:
                    return
                job, self._job, self._busy = self._job, None, True
            try:
                if job is not None:
                    job()
            except Exception as error:  # noqa: BLE001 - told on the page; the next job may do better
                self._failed(error)
            finally:
                with self._turn:
                    self._busy = False
                    self._turn.notify_all()

    def settle(self, timeout: float = 60) -> bool:
        """Wait until nothing is left to do; whether that came about in time."""
        with self._turn:
            return self._turn.wait_for(lambda: self._closed or (self._job is None and not self._busy), timeout)

    def close(self) -> None:
        """End the thread, after the job it is at."""
        with self._turn:
            self._closed, self._job = True, None
            self._turn.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(15)
