"""A thread that does one job at a time, and of waiting jobs of one kind only the newest."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["CoalescingWorker", "Job"]


Job = Callable[[], None]


class CoalescingWorker:
    """Does one job at a time, in the order they are asked for; of those of one kind that wait, only the last.

    A slider that moves faster than the charts can be drawn asks for many drawings, of which only the newest counts.

    Parameters
    ----------
    ended
        Called after each job with its kind, and what it raised or None.
    """

    def __init__(self, ended: Callable[[str, Exception | None], None]) -> None:
        self._ended = ended
        self._jobs: list[tuple[str, Job]] = []
        self._busy = self._closed = False
        self._turn = threading.Condition()
        self._thread: threading.Thread | None = None

    def submit(self, kind: str, job: Job) -> None:
        """Do a job soon, in place of the one of its kind that waits."""
        self._take(kind, job)

    def submit_always(self, job: Job) -> None:
        """Do a job soon, whatever else is asked for."""
        self._take("", job)

    def _take(self, kind: str, job: Job) -> None:
        with self._turn:
            if self._closed:
                return
            self._jobs = [*(each for each in self._jobs if not kind or each[0] != kind), (kind, job)]
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="stream-join-workbench-drawing", daemon=True)
                self._thread.start()
            self._turn.notify_all()

    def _work(self) -> None:
        while True:
            with self._turn:
                self._turn.wait_for(lambda: self._jobs or self._closed)
                if self._closed:
                    return
                kind, job = self._jobs.pop(0)
                self._busy = True
            try:
                job()
                self._ended(kind, None)
            except Exception as error:  # noqa: BLE001 - shown on the page; the next job may do better
                self._ended(kind, error)
            finally:
                with self._turn:
                    self._busy = False
                    self._turn.notify_all()

    def wait_until_idle(self, timeout: float = 60) -> bool:
        """Wait until nothing is left to do; whether that came about in time."""
        with self._turn:
            return self._turn.wait_for(lambda: self._closed or not (self._jobs or self._busy), timeout)

    def close(self) -> None:
        """End the thread, after the job it is at."""
        with self._turn:
            self._closed, self._jobs = True, []
            self._turn.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(15)
