"""``%workbench``: opens the app."""

from __future__ import annotations

from contextlib import suppress
from difflib import get_close_matches
from threading import Thread
from typing import Any

from IPython.core.magic import Magics, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from workbench import frames, process, session
from workbench.charts import renderer
from workbench.errors import WorkbenchError, wrong
from workbench.jobs import Chain, Job
from workbench.jobs.given_query import is_query
from workbench.untyped import Record

__all__ = ["WorkbenchMagics", "register", "unregister"]

_REMEDY = "name two streams, or a job of wb.open_job"


@magics_class
class WorkbenchMagics(Magics):  # type: ignore[misc]
    """The magics of the workbench."""

    @magic_arguments()
    @argument(
        "left",
        nargs="?",
        help="a Stream or DataFrame of the notebook, or alone a job of wb.open_job; without it, a scenario is chosen",
    )
    @argument("right", nargs="?", help="the other one")
    @argument(
        "--folder", help="where runs on Spark keep their files, such as s3a://bucket/scratch; else on this machine"
    )
    @argument("--tab", action="store_true", help="open it in a tab beside the notebook, not in the cell")
    @line_magic
    def workbench(self, line: str) -> None:
        """Open the stream-join workbench, ``%workbench orders payments`` on two streams, ``%workbench job`` on a job.

        Both are variables of the notebook.
        """
        from workbench.app import App, kept_in_notebook  # when needed: the page is slow to import

        arguments = parse_argstring(self.workbench, line)
        names = self._names(arguments.left, arguments.right)
        cell = self._cell()
        folder = arguments.folder and arguments.folder.strip("\"'")
        page = App(*names, namespace=self.shell.user_ns, cell=cell, folder=folder)
        before = [each for each in process.pages if isinstance(each, App) and each is not page]
        same = next((each for each in before if cell is not None and each.cell == cell), None)
        page.come_back(kept_in_notebook(cell) if same is None else same.kept())
        if same is not None:
            page.take_place_of(same)
        if arguments.tab:
            page.display_in_tab()
        else:
            display(page)

    def _cell(self) -> str | None:
        """The notebook's cell that is being run, where the front end says so."""
        parent: Record = getattr(self.shell, "get_parent", dict)()
        found = parent.get("metadata", {}).get("cellId")
        return found if isinstance(found, str) else None

    def _names(self, left: str | None, right: str | None) -> list[str]:
        """The job, or the two streams, that a page begins with; none."""
        if left and not right:
            self._job(left).join  # noqa: B018 - says in one sentence what was not understood
            return [left]
        return [self._known(name) for name in (left, right) if name]

    def _job(self, name: str) -> Job:
        """The job of the notebook that has this name."""
        if name not in self.shell.user_ns:
            raise wrong("%workbench", name, f"the notebook has no variable {name}{self._closest(name)}; {_REMEDY}")
        value = self.shell.user_ns[name]
        if isinstance(value, Job):
            return value
        if isinstance(value, Chain):
            one = f"one = {name}.joins[0] and then %workbench one"
            raise wrong("%workbench", name, f"it is a chain of {len(value.joins)} joins: open one of them, with {one}")
        if is_query(value):
            watched = f"wb.watch({name}) shows it while it runs"
            opened = f"job = wb.open_job({name}) and then %workbench job the fates of its rows"
            raise wrong("%workbench", name, f"it is a streaming query: {watched}, {opened}")
        raise wrong("right", None, f"name two streams, %workbench {name} <other stream>, or a job")

    def _closest(self, name: str) -> str:
        """Which name of a job, a stream or a DataFrame may be meant, in words; nothing where none is like it."""
        space = self.shell.user_ns
        of_jobs = [each for each, value in list(space.items()) if each[:1] != "_" and isinstance(value, Job)]
        found = get_close_matches(name, [*of_jobs, *frames.joinable(space)], n=1)
        return f", the closest is {found[0]}" if found else ""

    def _known(self, name: str) -> str:
        known = frames.joinable(self.shell.user_ns)
        if name not in known:
            words = ", ".join(known) or "none yet"
            raise wrong("%workbench", name, f"the notebook's streams and DataFrames are: {words}")
        return name


def register(ipython: Any) -> None:
    """Make ``%workbench`` known, and begin with what takes time: Spark's start and the imports of the app.

    A session that is there already stays the one that is used.
    """
    ipython.register_magics(WorkbenchMagics)
    session.begin()
    Thread(target=_import, name="workbench imports", daemon=True).start()


def _import() -> None:
    import workbench.app  # noqa: F401 - in this thread, as it takes long

    with suppress(WorkbenchError):
        session.spark()  # which begins beside this; the page and Spark's start come first
    renderer.warm()


def unregister(ipython: Any) -> None:
    """Close every page and end every live query."""
    process.close_all()
    ipython.magics_manager.magics["line"].pop("workbench", None)
