"""The page as a user has it: controls are found by what is written on them, and what is shown is read from the widgets.

Only the tree of widgets is walked (``children``, ``description``, ``tooltip``, ``value``, ``options``). What is hidden
is not found, and what is disabled cannot be used.
"""

from __future__ import annotations

import html
import itertools
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import ipywidgets as widgets
from itables.widget import ITable

from workbench import charts
from workbench.app import App
from workbench.kinds import kind_of

ORDINALS = ("first", "second")
GROUP_OF = {view.tab: view.group for view in charts.views() if view.tab} | {
    "Output": "Rows", "Throughput": "State", "Tune": "Tune", **dict.fromkeys(("Script", "Flink", "Runs"), "Hand on")
}  # fmt: skip
"""The group of each view."""
TYPE = " · "
"""What stands between a column's name and its type."""


class Page:
    """A page of the workbench.

    A field is named by its label; where a label comes more than once, by a path: ``"Right / Key"`` is the first field
    with the label Key that follows the words Right, ``"Watermark / first"`` the first field below that heading.

    Parameters
    ----------
    *streams, namespace
        As `App` takes them; or an `App` that is open already.
    """

    def __init__(self, *streams: Any, namespace: dict[str, Any] | None = None) -> None:
        opened = streams and isinstance(streams[0], App)
        self.app: App = streams[0] if opened else App(*streams, namespace=namespace)
        self._clicks = 0

    # finding

    def widgets(self, hidden: bool = False) -> Iterator[widgets.Widget]:
        """All widgets that are shown, in the order of the page; those that are hidden, too."""
        yield from _walk(self.app.widget, hidden)

    def field(self, path: str) -> Any:
        """The input with a label, or below other words with it."""
        *before, label = path.split(" / ")
        found = self.widgets()
        for words in before:
            assert any(words in _words(each) for each in found), f"no {words!r} on the page ({path})"
        inputs = [each for each in found if _is_field(each)]
        if label in ORDINALS:
            return inputs[ORDINALS.index(label)]
        assert any(each.description == label for each in inputs), f"no field {path!r} on the page"
        return next(each for each in inputs if each.description == label)

    def button(self, words: str) -> Any:
        """The button with a text, or without one and with a tooltip."""
        buttons = [each for each in self.widgets() if isinstance(each, widgets.Button)]
        found = [each for each in buttons if words in (each.description, each.tooltip)]
        assert found, f"no button {words!r} on the page: {[each.description or each.tooltip for each in buttons]}"
        return found[0]

    def buttons(self) -> list[str]:
        """The texts of the buttons that are shown."""
        return [each.description or each.tooltip for each in self.widgets() if isinstance(each, widgets.Button)]

    def choice(self, option: str) -> widgets.ToggleButtons:
        """The row of buttons of which one has a text, and one is chosen."""
        rows = [each for each in self.widgets() if isinstance(each, widgets.ToggleButtons)]
        assert any(option in each.options for each in rows), f"no {option!r} to choose on the page"
        return next(each for each in rows if option in each.options)

    def _box(self, name: str, hidden: bool = False) -> Any:
        found = [each for each in self.widgets(hidden) if f"sjw-{name}" in _classes(each)]
        return found[0] if found else None

    def field_named(self, words: str) -> Any:
        """The button with a text that stays pressed."""
        return next(
            each for each in self.widgets() if isinstance(each, widgets.ToggleButton) and each.description == words
        )

    def usable(self, words: str) -> bool:
        """Whether a field or button is shown and not disabled."""
        try:
            found = self.button(words) if words in self.buttons() else self.field(words)
        except AssertionError:
            return False
        return not found.disabled

    # using

    def set(self, values: Mapping[str, Any]) -> None:
        """Change fields one after the other, each as soon as the page shows what the one before did."""
        for path, value in values.items():
            self.change({path: value})
            self.wait()

    def change(self, values: Mapping[str, Any]) -> None:
        """Change fields without waiting for what they do; of a list, an entry is chosen by its text."""
        for path, value in values.items():
            field = self.field(path)
            assert not field.disabled, f"{path} is disabled"
            enter(field, value)

    def click(self, words: str) -> None:
        """Click a button, and wait until the page shows what it does; not for what it starts to run."""
        self.press(words)
        self.wait()

    def press(self, words: str) -> None:
        """Click a button without waiting for anything."""
        button = self.button(words)
        assert not button.disabled, f"{words} is disabled"
        button.click()

    def open(self, tab: str) -> None:
        """Open a tab, or choose among the buttons in a row."""
        self.look_at(tab)
        self.wait()

    def look_at(self, tab: str) -> None:
        """Open a tab, in its group, without waiting for what it shows."""
        group = GROUP_OF.get(tab)
        if group is not None:
            self._box("groups").value = group
            views = self._box("tabs")
            if views is not None:  # None: the only one of its group
                views.value = tab
            return
        self.choice(tab).value = tab

    def run(self, seconds: float = 120) -> None:
        """Run on Spark, and wait for the end."""
        self.press("Run on Spark")
        self.wait(seconds)

    def click_mark(self, **mark: Any) -> None:
        """Click a mark of the chart by its ``row_id``, ``window``, ``place`` or ``of_key``; without one, between the marks."""
        self._clicks += 1
        self.chart.clicked = (
            {"row_id": None, "window": None, "place": None, "of_key": None} | mark | {"click": self._clicks}
        )

    def pick(self, **mark: Any) -> None:
        """Click a mark of the chart, and wait until the page shows what it does."""
        self.click_mark(**mark)
        self.wait()

    def drop(self, *files: tuple[str, bytes | None], place: int = -1, size: int = 0) -> None:
        """Drop files on the page, as the browser reports it: their names and what they hold, and beside which side."""
        browser = next(each for each in self.widgets(hidden=True) if each.has_trait("dropped"))
        about = [
            {"name": name, "type": "", "size": size or len(content or b""), "last_modified": 1_767_225_600_000,
             "content": None if content is None else memoryview(content)}
            for name, content in files
        ]  # fmt: skip
        browser.dropped = {"files": about, "place": place}
        self.wait()

    def select(self, row: int) -> None:
        """Click a row of the table."""
        self.table.selected_rows = [row]
        self.wait()

    def scrub(self, steps: int) -> None:
        """Go so many micro-batches on, or back."""
        for _ in range(abs(steps)):
            self.press("One micro-batch on" if steps > 0 else "One micro-batch back")
        self.wait()

    def brush(self, low: float, high: float) -> None:
        """Drag over a stretch of the chart, in milliseconds since 1970-01-01 UTC."""
        self.chart.brushed = [low, high]
        self.wait()

    def choose_run(self, field: str, number: int) -> None:
        """Choose a past run by its number."""
        texts = [text for text, _ in self.field(field).options]
        self.set({field: next(text for text in texts if text.startswith(f"{number} · "))})

    def take_advice(self, words: str) -> None:
        """Click the button beside an advice."""
        line = next(each for each in self._advice() if plain(each.children[0].value) == words)
        line.children[1].click()
        self.wait()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the run under way has ended, and all is drawn."""
        self.app.wait(seconds)

    def close(self) -> None:
        """Close the page."""
        self.app.close()

    # reading

    def value(self, path: str) -> Any:
        """What a field shows; of a list, the text of the entry that is chosen."""
        return shown_value(self.field(path))

    def state(self) -> tuple[tuple[str, Any], ...]:
        """What all fields of the settings show, in their order; their labels change with the streams' names."""
        return tuple((each.tooltip, shown_value(each)) for each in _walk(self._box("settings")) if _is_field(each))

    def fields(self) -> dict[str, Any]:
        """The settings that are shown, by label; of those with the same label the first."""
        found: dict[str, Any] = {}
        for each in _walk(self._box("settings")):
            if _is_field(each):
                found.setdefault(each.description, each)
        return found

    def mark(self, path: str) -> str:
        """What is said below a field."""
        field = self.field(path)
        following = itertools.dropwhile(lambda each: each is not field, self.widgets())
        return plain(next(each.value for each in following if "sjw-mark" in _classes(each)))

    def marks(self) -> list[str]:
        """The labels of the fields below which something is said, in order."""
        shown = list(self.widgets())
        return [
            one.description
            for one, other in itertools.pairwise(shown)
            if _is_field(one) and "sjw-mark" in _classes(other) and other.value
        ]

    def html(self, name: str) -> str:
        """The HTML of a part of the page, by the name of its class without ``sjw-``; nothing where it is hidden."""
        box = self._box(name)
        return box.value if box is not None else ""

    def text(self, name: str) -> str:
        """The text of a part of the page."""
        return plain(self.html(name))

    def said(self) -> list[str]:
        """What is said to be wrong beside fields and buttons, in order."""
        return [plain(each.value) for each in self.widgets() if "sjw-said" in _classes(each)]

    def notes(self) -> list[str]:
        """What is said of the rows, in order."""
        return [plain(each.value) for each in self.widgets() if "sjw-note" in _classes(each)]

    def warnings(self) -> list[str]:
        """What is said of the rows that is likely to be a mistake, in order."""
        return [plain(each.value) for each in self.widgets() if "sjw-warning" in _classes(each)]

    @property
    def badge(self) -> str:
        """What the page says it shows or does."""
        found = re.search(r'<span class="sjw-badge[^>]*>(.*?)</span>', self.html("text"))
        return plain(found[1]) if found else ""

    @property
    def trouble(self) -> str:
        """What is wrong, in words; nothing where nothing is."""
        return self.text("trouble")

    @property
    def stale(self) -> bool:
        """Whether what is shown is dimmed: it is of settings before."""
        return "sjw-stale" in _classes(self._box("shown"))

    @property
    def band(self) -> dict[str, Any]:
        """What the band over the views shows: ``sides``, ``figures``, ``since``."""
        return next(each.shown for each in self.widgets() if each.has_trait("shown"))

    @property
    def figures(self) -> dict[str, int]:
        """The figures over the views: of both sides together by fate, and of the run."""
        shown = self.band
        found: dict[str, int] = dict.fromkeys(("matched", "unmatched", "late", "pending"), 0)
        for fate in (each for side in shown["sides"] for each in side["fates"]):
            name = fate["fate"].replace("_", " ")
            found[name] = found.get(name, 0) + fate["rows"]
        if not shown["sides"]:
            found = {}
        names = {"out": "rows out", "in state at most": "peak state"}
        return found | {names[each["name"]]: each["value"] for each in shown["figures"]}

    @property
    def causes(self) -> dict[str, int]:
        """The causes in the band, with how many rows there are of each, of both sides."""
        found: dict[str, int] = {}
        for each in (each for side in self.band["sides"] for each in side["causes"]):
            found[each["cause"]] = found.get(each["cause"], 0) + each["rows"]
        return found

    @property
    def since(self) -> str:
        """What the band says has changed since a run before."""
        return str(self.band["since"])

    def filter(self, side: str | None = None, fate: str = "", cause: str = "") -> None:
        """Press a fate or a cause in the band; without a side, what is pressed."""
        band = next(each for each in self.widgets() if each.has_trait("shown"))
        band.chosen = {} if side is None else {"side": side, "fate": fate, "cause": cause}
        self.wait()

    @property
    def tabs(self) -> tuple[str, ...]:
        """The views of what is shown but that of a live query, in the order of groups; none where nothing is shown."""
        shown = self.app.shown
        left_out = {"Throughput"} | (set() if shown is None or kind_of(shown.join).windowed else {"Windows"})
        return tuple(tab for tab in GROUP_OF if tab not in left_out) if self._box("groups") is not None else ()

    @property
    def tab(self) -> str:
        """The view that is open."""
        row, group = self._box("tabs"), self._box("groups").value
        return row.value if row is not None else next(tab for tab, of in GROUP_OF.items() if of == group)

    @property
    def note(self) -> str:
        """What stands above the table."""
        box = next(each for each in self.widgets() if "sjw-table" in _classes(each))
        return plain([each.value for each in box.children if isinstance(each, widgets.HTML)][-1])

    @property
    def chart(self) -> Any:
        """The chart, which may be hidden."""
        return next(each for each in self.widgets(hidden=True) if each.has_trait("drawing"))

    @property
    def drawn(self) -> dict[str, Any]:
        """What the chart that is shown was sent: ``number``, ``title``, ``subtitle``, ``tables``, ``params``."""
        shown = [each for each in self.widgets() if each.has_trait("drawing")]
        assert shown, "no chart is shown"
        return json.loads(shown[0].drawing)

    def tables_match(self, run: Any, view: str, batch: int | None = None) -> bool:
        """Whether the chart that is shown has the tables of a view of a run."""
        expected = run.charts.drawing(view, batch=batch).columns
        return self.drawn["tables"] == json.loads(json.dumps(expected))

    @property
    def moment(self) -> int:
        """The place of the slider over micro-batches; at `moments` the whole run is shown."""
        return self._slider.value

    @property
    def moments(self) -> int:
        """The last place of the slider over micro-batches."""
        return self._slider.max

    @property
    def _slider(self) -> Any:
        sliders = [each for each in self.widgets() if isinstance(each, widgets.IntSlider)]
        return next(each for each in sliders if each.tooltip.startswith("The micro-batch at whose end"))

    @property
    def player(self) -> Any:
        """The buttons that play through the micro-batches."""
        return next(each for each in self.widgets() if isinstance(each, widgets.Play))

    @property
    def progress(self) -> tuple[int, int]:
        """How far the bar of progress is, and how far it goes; it is hidden while nothing runs."""
        bar = next(each for each in self.widgets(hidden=True) if isinstance(each, widgets.IntProgress))
        return bar.value, bar.max

    def advice(self) -> list[str]:
        """What is advised beside the tuning."""
        return [plain(each.children[0].value) for each in self._advice()]

    def _advice(self) -> list[Any]:
        """The lines with an advice: its words, and a button where it can be taken."""
        lines = [each for each in self.widgets() if isinstance(each, widgets.HBox) and each.children]
        return [each for each in lines if "sjw-advice" in _classes(each.children[0])]

    @property
    def table(self) -> Any:
        """The table that is shown."""
        return next(each for each in self.widgets() if isinstance(each, ITable))

    @property
    def code(self) -> Any:
        """The text that is shown, with ``text``, ``html`` and ``file``."""
        return next(each for each in self.widgets() if each.has_trait("file"))

    @property
    def parts(self) -> set[str]:
        """Which of chart, story, table, code and past runs are shown."""
        shown = list(self.widgets())
        found = {
            "chart": any(each.has_trait("drawing") for each in shown),
            "story": bool(self._box("story")),
            "table": any(isinstance(each, ITable) for each in shown) and not self._box("compared"),
            "code": any(each.has_trait("file") for each in shown),
            "runs": bool(self._box("compared")),
            "tune": bool(self._box("tuned")),
        }
        return {name for name, there in found.items() if there}

    def cell(self) -> str:
        """The text of the cell that does what the page does."""
        tab = self.tab
        self.open("Script")
        text = self.choice("Notebook cell").value
        self.open("Notebook cell")
        found = self.code.text
        self.open(text)
        self.open(tab)
        return found

    def meant(self, **variables: Any) -> Any:
        """A preview of what the page shows, made by running the cell that it gives."""
        space = dict(variables)
        exec(self.cell().replace("wb.run(", "wb.preview(").replace("run.charts.timeline()", ""), space)
        return space["run"]


_LISTS = (widgets.Dropdown, widgets.RadioButtons)


def enter(field: Any, value: Any) -> None:
    """Give a field a value; of a list, the entry with a text."""
    if isinstance(field, _LISTS):
        field.index = _place(field, value)
    else:
        field.value = value


def offers(field: Any, value: Any) -> bool:
    """Whether a field can be given a value: whether a list has the entry."""
    return not isinstance(field, _LISTS) or bool(_places(field, value))


def shown_value(field: Any) -> Any:
    """What a field shows; of a column its name."""
    if not isinstance(field, _LISTS):
        return field.value
    is_column = isinstance(field.value, str) and (field.label or "").startswith(f"{field.value}{TYPE}")
    return field.value if is_column else field.label


def _place(field: widgets.Dropdown | widgets.RadioButtons, value: Any) -> int:
    """The place of an entry with a text, or of a column with a name."""
    found = _places(field, value)
    assert found, f"{field.description} has no {value!r}: {_texts(field)}"
    return found[0]


def _places(field: widgets.Dropdown | widgets.RadioButtons, value: Any) -> list[int]:
    texts = _texts(field)
    return [place for place, text in enumerate(texts) if value == text or text.startswith(f"{value}{TYPE}")]


def plain(text: str) -> str:
    """The text that HTML shows."""
    return html.unescape(re.sub(r"<[^>]*>", "", text))


def wait_for(condition: Callable[[], Any], seconds: float = 90) -> None:
    """Wait until something has come about."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.05)


def _walk(widget: Any, hidden: bool = False) -> Iterator[Any]:
    if not hidden and getattr(widget.layout, "display", None) == "none":
        return
    yield widget
    for each in getattr(widget, "children", ()):
        yield from _walk(each, hidden)


def _is_field(widget: Any) -> bool:
    return (
        bool(getattr(widget, "description", ""))
        and hasattr(widget, "value")
        and not isinstance(widget, widgets.Button | widgets.HTML | widgets.ToggleButtons)
    )


def _words(widget: Any) -> tuple[str, ...]:
    """The words that are written on a widget, or over it."""
    if isinstance(widget, widgets.HTML):
        return (widget.value,)
    return (getattr(widget, "description", ""), *getattr(widget, "titles", ()))


def _texts(field: widgets.Dropdown | widgets.RadioButtons) -> list[str]:
    return [each[0] if isinstance(each, tuple) else str(each) for each in field.options]


def _classes(widget: Any) -> tuple[str, ...]:
    """The classes that the browser gives a widget: ipywidgets has no public name to read them by."""
    return getattr(widget, "_dom_classes", ())
