"""Colours of fates and of streams: seen against their background, and told apart with deuteranopia, on page and report."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import generators
import workbench
from workbench.charts.glyphs import GLYPHS
from workbench.literals import FATES, OBSTACLES

HOME = Path(workbench.__file__).parent
SCRIPT = (HOME / "app" / "chart.js").read_text()
DARK = dict(re.findall(r'"(#[0-9a-f]{6})": "(#[0-9a-f]{6})"', SCRIPT))
THEMES = {"light": ("#ffffff", lambda colour: colour), "dark": ("#111111", DARK.__getitem__)}
DEUTERANOPIA = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
)
"""Of linear RGB, at full strength: Machado, Oliveira and Fernandes 2009."""
RUN = workbench.preview(
    workbench.IntervalJoin("0 seconds", "5 seconds", how="left"), *generators.generate("orders_payments", events=20)
)


def scale_of(view, name, domain):
    """The range of a scale of a chart with a domain."""
    found = re.findall(
        r'"domain": (\[[^\]]*\]), "range": (\[[^\]]*\])', json.dumps(RUN.charts.drawing(view).chart().to_dict())
    )
    ranges = {tuple(json.loads(values)) for names, values in found if json.loads(names)[: len(domain)] == list(domain)}
    [only] = [each for each in ranges if each[0].startswith("#") == (name == "colour")]
    return only


FATE_COLOURS, SHAPES = (scale_of("lanes", name, FATES) for name in ("colour", "shape"))
STREAM_COLOURS = scale_of("watermarks", "colour", ("orders", "payments"))[:2]
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1, 1.089])


def linear(colour):
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(colour):
    return float(TO_XYZ[1] @ linear(colour))


def contrast(one, other):
    """As WCAG 2 has it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def seen(colour):
    """A colour in CIE Lab, as it is seen with deuteranopia."""
    xyz = TO_XYZ @ np.clip(DEUTERANOPIA @ linear(colour), 0, 1) / WHITE
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("colours", [FATE_COLOURS, STREAM_COLOURS], ids=["fates", "streams"])
def test_colours_are_seen_and_told_apart(colours, theme):
    background, shown = THEMES[theme]
    there = [shown(colour) for colour in colours]
    assert min(contrast(colour, background) for colour in there) >= 3  # WCAG 2, 1.4.11
    apart = [np.linalg.norm(seen(one) - seen(other)) for one, other in itertools.combinations(there, 2)]
    assert min(apart) >= 20  # where 2.3 is a difference that is just noticed


def test_each_fate_has_a_shape_of_its_own():
    assert len(set(SHAPES)) == len(FATES) == len(FATE_COLOURS)


def test_fates_and_streams_have_no_colour_in_common():
    assert not {*FATE_COLOURS} & {*STREAM_COLOURS}
    apart = [np.linalg.norm(seen(one) - seen(other)) for one in FATE_COLOURS for other in STREAM_COLOURS]
    assert min(apart) >= 5


@pytest.mark.parametrize("theme", THEMES)
def test_shades_of_causes_are_seen_and_told_apart(theme):
    background, shown = THEMES[theme]
    shades = [shown(each.shade) for name, each in GLYPHS.items() if name != "key"]  # which has an edge
    assert min(contrast(shade, background) for shade in shades) >= 3
    every = [shown(each.shade) for each in GLYPHS.values()]
    apart = [np.linalg.norm(seen(one) - seen(other)) for one, other in itertools.combinations(every, 2)]
    assert min(apart) >= 10


def test_each_cause_has_a_shape_of_its_own():
    assert set(GLYPHS) == set(OBSTACLES)
    assert len({each.path for each in GLYPHS.values()}) == len(OBSTACLES)
    assert not {each.path for each in GLYPHS.values()} & set(SHAPES)


@pytest.mark.parametrize("place", ["app/app.css", "report/report.css"])
def test_page_and_report_have_the_colours_of_the_charts(place):
    text = (HOME / place).read_text()
    for fate, colour in zip(FATES, FATE_COLOURS, strict=True):
        name = fate if "app" in place else fate.replace("_", "-")
        found = re.findall(rf"--(?:sjw-)?{name}: (#[0-9a-f]{{6}})", text)
        assert found == [colour, DARK[colour]], fate


def test_outlines_that_keep_bars_apart_are_dark_in_a_dark_theme():
    rules = workbench.preview(workbench.RulesJoin(), *generators.generate("readings_thresholds", events=100))
    windows = workbench.preview(
        workbench.WindowJoin(workbench.Sliding("10 s", "4 s")), *generators.generate("orders_payments", events=100)
    )
    for run, view in ((rules, "timeline"), (windows, "timeline"), (windows, "windows")):
        text = json.dumps(run.charts.drawing(view).layout.to_dict(validate=False))
        outlines = set(re.findall(r'"stroke": "([^"]+)"', text))
        assert "#ffffff" in outlines, view
        assert outlines <= set(DARK), view
    assert contrast(DARK["#ffffff"], "#111111") < 1.2


def test_words_of_rules_do_not_meet_each_other_and_are_not_cut():
    run = workbench.preview(workbench.RulesJoin(), *generators.generate("readings_thresholds", events=300, keys=8))
    spans = run.charts.drawing("timeline").tables["spans"]
    right = spans[spans["y"] < 1]
    told = right[right["label"].notna()]
    assert 0 < len(told) < len(right)
    moments = np.concatenate([each.event_times for each in (run.left, run.right)])
    first, last = (pd.Timestamp(each, unit="us") for each in (moments.min(), moments.max()))
    left = (told["start"].dt.tz_localize(None) - first) / (last - first) * 780
    boxes = list(zip(left, left + told["label"].str.len() * 5, (told["y"] + told["y2"]) / 2 * 150, strict=True))
    assert all(end <= 780 for _, end, _ in boxes)
    for (start, end, y), (other, until, height) in itertools.combinations(boxes, 2):
        assert abs(y - height) >= 11 or end <= other or until <= start
