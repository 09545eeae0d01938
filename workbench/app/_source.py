"""Where the two streams come from: a scenario, the notebook's variables, or files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

import generators
from workbench import frames
from workbench.app._form import Form, group, show
from workbench.errors import ArgumentError, WorkbenchError
from workbench.streams import FORMATS, SIDES, Stream

_SHARE = {"min": 0, "max": 1, "step": 0.01, "readout_format": ".0%"}


class SourcePanel:
    """The choice of two streams.

    Parameters
    ----------
    form
        Where its inputs are added.
    namespace
        The notebook's variables.
    suit
        Called with a scenario's name when one is chosen, to set the join that suits it.

    Attributes
    ----------
    widget
        The panel.
    """

    def __init__(self, form: Form, namespace: dict[str, Any], suit: Callable[[str], None]) -> None:
        self._form, self._namespace, self._suit = form, namespace, suit
        self._made: tuple[Any, tuple[Stream, Stream]] | None = None
        self._sliced = False
        source = form.add(
            "source",
            widgets.Dropdown(options=[("a scenario", "scenario"), ("this notebook", "notebook"), ("files", "files")]),
            "From",
            "Generated streams, Streams or DataFrames of this notebook, or folders of files.",
        )
        self._groups = {"scenario": self._scenario(), "notebook": self._notebook(), "files": self._files()}
        self.widget = group(source, *self._groups.values())
        source.observe(lambda _: self._show(), "value")
        self._show()

    def _show(self) -> None:
        chosen = self._form.value("source")
        if chosen == "notebook":
            self.refresh()
        for name, each in self._groups.items():
            show(each, name == chosen)

    def _scenario(self) -> widgets.VBox:
        add = self._form.add
        chosen = add(
            "scenario",
            widgets.Dropdown(options=list(generators.scenarios())),
            "Scenario",
            "Two generated streams; each suits a join.",
        )
        chosen.observe(lambda _: self._suit(chosen.value), "value")
        add("events", widgets.IntSlider(200, min=10, max=2_000, step=10), "Events", "Rows of the left stream.")
        rate = widgets.FloatLogSlider(4, min=-1, max=3, step=0.1, readout_format=".1f")
        add("rate", rate, "Rate", "Events a second and side, in event time.")
        disorder = "Share of rows that arrive out of order, by up to three seconds."
        add("disorder", widgets.FloatSlider(0.1, **_SHARE), "Disorder", disorder)
        late = widgets.FloatSlider(0.03, **_SHARE | {"max": 0.5})
        add("late", late, "Late", "Share of rows that arrive about half a minute late.")
        auto = {"placeholder": "as suits the scenario"}
        add("keys", widgets.Text(**auto), "Keys", "How many distinct keys there are.")
        add("skew", widgets.FloatSlider(0, min=0, max=2, step=0.1), "Skew", "0: all keys alike; 1: few keys have most.")
        add("unmatched", widgets.Text(**auto), "No partner", "Share of left rows made without a partner, such as 0.2.")
        add("duplicates", widgets.FloatSlider(0, **_SHARE), "Twice", "Share of rows that come twice.")
        idle = widgets.Dropdown(options=[("no side", ""), *((f"the {side} side", side) for side in SIDES)])
        add(
            "idle", idle, "Idle", "A side that sends nothing for a part of the recording, and holds the watermark back."
        )
        part = widgets.FloatRangeSlider(value=(0.4, 0.7), **_SHARE)
        add("idle_part", part, "Idle from, to", "The part of the recording in which it is silent.")
        batches = widgets.BoundedIntText(10, min=1, max=500)
        add("batches", batches, "Micro-batches", "Equal slices of the time of arrival.")
        add("seed", widgets.BoundedIntText(7, min=0, max=10**9), "Seed", "The same seed gives the same rows.")
        row = self._form.row
        more = widgets.Accordion(
            [group(*row("keys", "skew", "unmatched", "duplicates", "idle", "idle_part", "batches", "seed"))],
            titles=("More about the streams",),
        )
        return group(*row("scenario", "events", "rate", "disorder", "late"), more)

    def _notebook(self) -> widgets.VBox:
        add, rows = self._form.add, []
        for side in SIDES:
            choice = add(
                f"{side}.variable", widgets.Dropdown(), side.capitalize(), "A Stream or DataFrame of this notebook."
            )
            add(f"{side}.key", widgets.Text(), "Key", "The key column; several with commas between.")
            add(f"{side}.time", widgets.Text(), "Event time", "The column that says when it happened.")
            choice.observe(lambda _, side=side: self._guess(side), "value")
            rows += self._form.row(f"{side}.variable", f"{side}.key", f"{side}.time")
        slices = widgets.BoundedIntText(10, min=1, max=500)
        add("slices", slices, "Micro-batches", "DataFrames arrive in so many; a column called batch says it better.")
        again = widgets.Button(description="Look again", icon="refresh", tooltip="Look for new variables.")
        again.on_click(lambda _: self.refresh())
        return group(*rows, *self._form.row("slices"), again)

    def _files(self) -> widgets.VBox:
        add, rows = self._form.add, []
        for side in SIDES:
            add(
                f"{side}.path",
                widgets.Text(continuous_update=False),
                f"{side.capitalize()} folder",
                "A folder; one file a micro-batch.",
            )
            add(f"{side}.format", widgets.Dropdown(options=FORMATS), "Format", "What the files are.")
            add(
                f"{side}.file_key",
                widgets.Text(continuous_update=False),
                "Key",
                "The key column; several with commas between.",
            )
            add(
                f"{side}.file_time",
                widgets.Text(continuous_update=False),
                "Event time",
                "The column that says when it happened.",
            )
            rows += self._form.row(*(f"{side}.{name}" for name in ("path", "format", "file_key", "file_time")))
        return group(*rows)

    def refresh(self) -> None:
        """Look for Streams and DataFrames in the notebook."""
        found = frames.joinable(self._namespace)
        with self._form.quietly():
            for place, side in enumerate(SIDES):
                choice = self._form.inputs[f"{side}.variable"]
                before = choice.value
                if tuple(choice.options) != tuple(found):
                    choice.options = found
                    choice.value = before if before in found else (found[min(place, len(found) - 1)] if found else None)
                self._guess(side)

    def _guess(self, side: str) -> None:
        """Fill in key and time where the variable tells them; a Stream needs none."""
        value = self._namespace.get(self._form.value(f"{side}.variable") or "")
        plain = value is not None and not isinstance(value, Stream)
        for name in ("key", "time"):
            show(self._form.inputs[f"{side}.{name}"], plain)
        if not plain:
            return
        other = self._namespace.get(self._form.value(f"{SIDES[1 - SIDES.index(side)]}.variable") or "")
        key, time = frames.guess(value, other)
        with self._form.quietly():
            columns = frames.columns(value)
            if self._form.value(f"{side}.time") not in columns:
                self._form.inputs[f"{side}.time"].value = time
            named = _names(self._form.value(f"{side}.key"))
            if not named or any(each not in columns for each in named):
                self._form.inputs[f"{side}.key"].value = key

    def streams(self) -> tuple[Stream, Stream]:
        """The two streams as they are chosen; made again only when a choice changed.

        Raises
        ------
        WorkbenchError
            If a choice is wrong; it is marked.
        """
        for name in _OF[self._form.value("source")]:
            self._form.mark(name, "")
        asked = self._asked()
        if self._made is None or self._made[0] != asked:
            self._made = asked, self._make()
        return self._made[1]

    def _asked(self) -> tuple[Any, ...]:
        state = self._form.state
        names = [name for name in state if name in _OF[state["source"]]]
        held = tuple(id(self._namespace.get(state[f"{side}.variable"] or "")) for side in SIDES)
        return state["source"], held, *(str(state[name]) for name in names)

    def _make(self) -> tuple[Stream, Stream]:
        source = self._form.value("source")
        if source == "scenario":
            settings = self.settings()
            try:
                return generators.generate(self._form.value("scenario"), **settings)
            except ArgumentError as error:
                self._form.mark(error.argument, error.remedy)
                raise
        made = [self._variable(side) if source == "notebook" else self._folder(side) for side in SIDES]
        left, right = made
        self._sliced = source == "notebook" and not any(each.batch_count > 1 for each in made)
        return frames.sliced(left, right, self._form.value("slices")) if self._sliced else (left, right)

    def settings(self) -> dict[str, Any]:
        """The scenario's settings as `generators.generate` takes them, those that are as they suit it left out."""
        value = self._form.value
        given = {name: value(name) for name in ("events", "rate", "disorder", "late", "batches", "seed")}
        given["rate"] = round(given["rate"], 2)
        given |= {name: _number(value(name)) for name in ("keys", "unmatched") if value(name).strip()}
        given |= {name: value(name) for name in ("skew", "duplicates") if value(name)}
        if value("idle"):
            given["idle"] = (value("idle"), *(round(each, 2) for each in value("idle_part")))
        return given

    def _variable(self, side: str) -> Stream:
        name = self._form.value(f"{side}.variable")
        if name is None:
            words = "this notebook has no Stream or DataFrame yet; make one and look again"
            self._form.mark(f"{side}.variable", words)
            raise ArgumentError(f"{side}: {words}")
        value = self._namespace[name]
        if isinstance(value, Stream):
            return value
        key, time = _names(self._form.value(f"{side}.key")), self._form.value(f"{side}.time")
        return self._marking(side, ("key", "time"), lambda: frames.stream(value, name, key, time))

    def _folder(self, side: str) -> Stream:
        path, name, key, time, kind = self._named_folder(side)
        if not path:
            self._form.mark(f"{side}.path", "name a folder of files")
            raise ArgumentError(f"{side} folder: name a folder of files")
        make = lambda: Stream.from_files(path, name, key, time, format=kind)  # noqa: E731
        return self._marking(side, ("path", "format", "file_key", "file_time"), make)

    def _named_folder(self, side: str) -> tuple[str, str, list[str], str, str]:
        """Path, name, key, time and format of a side's folder, as they are typed."""
        value = self._form.value
        path = value(f"{side}.path")
        name = path.rstrip("/").rsplit("/", 1)[-1].split(".")[0] or side
        return path, name, _names(value(f"{side}.file_key")), value(f"{side}.file_time"), value(f"{side}.format")

    def _marking(self, side: str, inputs: tuple[str, ...], make: Callable[[], Stream]) -> Stream:
        """Make a stream; what is wrong is marked where it was typed."""
        try:
            return make()
        except WorkbenchError as error:
            argument, _, words = str(error).partition(":")
            place = next((name for name in inputs if name.split("_")[-1] == argument), inputs[0])
            self._form.mark(f"{side}.{place}", words.strip())
            raise ArgumentError(f"{side} {error}") from None

    def code(self) -> list[str]:
        """The lines of a cell that make the two streams as ``left`` and ``right``."""
        source = self._form.value("source")
        if source == "scenario":
            settings = "".join(f", {name}={value!r}" for name, value in self.settings().items())
            return [
                "import generators",
                f"left, right = generators.generate({self._form.value('scenario')!r}{settings})",
            ]
        lines, value = [], self._form.value
        for side in SIDES:
            if source == "files":
                path, name, key, time, kind = self._named_folder(side)
                lines.append(f"{side} = wb.Stream.from_files({path!r}, {name!r}, {key!r}, {time!r}, format={kind!r})")
                continue
            name = value(f"{side}.variable")
            if isinstance(self._namespace.get(name), Stream):
                lines.append(f"{side} = {name}")
            else:
                key, time = _names(value(f"{side}.key")), value(f"{side}.time")
                lines.append(f"{side} = wb.frames.stream({name}, {name!r}, {key!r}, {time!r})")
        if source == "notebook" and self._sliced:
            lines.append(f"left, right = wb.frames.sliced(left, right, {value('slices')})")
        return lines


_OF = {
    "scenario": (
        "scenario", "events", "rate", "disorder", "late", "keys", "skew", "unmatched", "duplicates", "idle",
        "idle_part", "batches", "seed",
    ),
    "notebook": (*(f"{side}.{name}" for side in SIDES for name in ("variable", "key", "time")), "slices"),
    "files": tuple(f"{side}.{name}" for side in SIDES for name in ("path", "format", "file_key", "file_time")),
}  # fmt: skip
"""The inputs of each source."""


def _number(text: str) -> int | float | str:
    """The number that a text gives, or the text itself, which the generators then refuse by name."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _names(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]
