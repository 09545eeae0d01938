"""The small moving picture of a kind of join: its rows come in the order of their times, and what they give appears."""

from __future__ import annotations

from markupsafe import Markup

from workbench.app.html import html, together
from workbench.kinds import Sketch, Stretch

__all__ = ["introduction"]

_BEGIN, _UNIT, _WIDTH = 30, 23, 268  # pixels: where time 0 is, a unit of time, all
_LEFT = 10
_FIRST, _HIGH, _APART = 20, 12, 15  # of the spans: the first, how high one is, from one to the next
_LONG = 4.0  # seconds that all of it takes
_END = 10.0


def introduction(sketch: Sketch | None) -> Markup:
    """What a kind does: its sentence, and its picture, which moves once."""
    if sketch is None:
        return html("")
    return html(
        '<figure class="sjw-sketch"><div class="sjw-moving">{}</div><div class="sjw-still">{}</div>'
        "<figcaption>{}</figcaption></figure>",
        _picture(sketch, moves=True),
        _picture(sketch, moves=False),
        sketch.sentence,
    )


def _picture(sketch: Sketch, *, moves: bool) -> Markup:
    lanes = _lanes(sketch.spans)
    bottom = _FIRST + _APART * max(len(set(lanes)), 2) + 7
    spans = [_span(each, lane, moves) for each, lane in zip(sketch.spans, lanes, strict=True)]
    pairs = [_pair(sketch.left[left], sketch.right[right], bottom, moves) for left, right in sketch.pairs]
    grouped = not sketch.pairs
    paired = [{pair[place] for pair in sketch.pairs} for place in (0, 1)]
    rows = [_row(at, _LEFT, grouped or number in paired[0], moves) for number, at in enumerate(sketch.left)]
    rows += [_row(at, bottom, grouped or number in paired[1], moves) for number, at in enumerate(sketch.right)]
    sweep = html(
        '<line class="sjw-now" x1="{0}" x2="{0}" y1="2" y2="{3}" opacity="0">'
        '<animate attributeName="x1" from="{0}" to="{1}" dur="{2}s"/>'
        '<animate attributeName="x2" from="{0}" to="{1}" dur="{2}s"/>'
        '<animate attributeName="opacity" values="1;1" dur="{2}s"/></line>',
        _x(0), _x(_END), _LONG, bottom + 8,
    ) if moves else ""  # fmt: skip
    lines = [
        html('<line class="sjw-lane" x1="{}" x2="{}" y1="{y}" y2="{y}"/>', _BEGIN, _x(_END), y=y)
        for y in (_LEFT, bottom)
    ]
    names = [html('<text x="0" y="{}">{}</text>', y + 3, name) for y, name in ((_LEFT, "left"), (bottom, "right"))]
    return html(
        '<svg viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>',
        _WIDTH,
        bottom + 10,
        sketch.sentence,
        together([*spans, *lines, *names, *pairs, *rows, sweep]),
    )


def _x(at: float) -> float:
    return round(_BEGIN + _UNIT * at, 1)


def _appears(at: float, moves: bool) -> Markup:
    """Makes a part appear when time has come to it."""
    if not moves:
        return html("")
    share = round(min(max(at / _END, 0.001), 0.999), 3)
    return html(
        '<animate attributeName="opacity" values="0;0;1;1" keyTimes="0;{};{};1" dur="{}s"/>',
        share, min(share + 0.04, 1), _LONG,
    )  # fmt: skip


def _row(at: float, y: float, paired: bool, moves: bool) -> Markup:
    """A row: a circle on the left stream, a square on the right one; hollow where it has no partner."""
    seen = _appears(at, moves)
    state = "" if paired else " sjw-alone"
    if y == _LEFT:
        return html('<circle class="sjw-left-row{}" cx="{}" cy="{}" r="4.5">{}</circle>', state, _x(at), y, seen)
    corner = (_x(at) - 4, y - 4)
    return html('<rect class="sjw-right-row{}" x="{}" y="{}" width="8" height="8">{}</rect>', state, *corner, seen)


def _pair(left: float, right: float, bottom: float, moves: bool) -> Markup:
    ends = (_x(left), _x(right), _LEFT + 5, bottom - 5)
    return html(
        '<line class="sjw-pair" x1="{}" x2="{}" y1="{}" y2="{}">{}</line>', *ends, _appears(max(left, right), moves)
    )


def _span(span: Stretch, lane: int, moves: bool) -> Markup:
    start, end, top = _x(max(span.start, 0)), _x(min(span.end, _END)), _FIRST + _APART * lane
    words = html('<text x="{}" y="{}">{}</text>', (start + end) / 2, top + 9, span.text) if span.text else ""
    return html(
        '<g class="sjw-span"><rect x="{}" y="{}" width="{}" height="{}" rx="2"/>{}{}</g>',
        start, top, round(end - start, 1), _HIGH, words, _appears(span.start, moves),
    )  # fmt: skip


def _lanes(spans: tuple[Stretch, ...]) -> list[int]:
    """For each span the first lane in which none before it is still open."""
    ends: list[float] = []
    lanes = []
    for span in spans:
        lane = next((number for number, end in enumerate(ends) if end <= span.start), len(ends))
        ends[lane : lane + 1] = [span.end]
        lanes.append(lane)
    return lanes
