"""A chart as a notebook keeps it: as Vega-Lite, and as a picture."""

from __future__ import annotations

import base64

import altair as alt
import pytest
import vl_convert
from pictures import content, pixels

import generators
import workbench as wb
from workbench import charts
from workbench.charts import renderer

VEGA_LITE = "application/vnd.vegalite.v5+json"
OLDEST = "5.8"  # the Vega-Lite nearest to JupyterLab's that vl-convert has
JOINS = [
    wb.IntervalJoin("0 seconds", "15 seconds", how="left"),
    wb.WindowJoin(wb.Sliding("10 seconds", "4 seconds")),
    wb.WindowJoin(wb.Session("5 seconds")),
    wb.CoGroup(wb.Tumbling("10 seconds")),
]


@pytest.mark.parametrize("join", JOINS, ids=repr)
def test_every_chart_is_drawn_by_the_vega_lite_of_jupyterlab_and_has_a_picture(join):
    run = wb.preview(join, *generators.generate("orders_payments", events=60, late=0.2, seed=5))
    tuning = wb.tune(join, run.left, run.right)
    has_windows = not isinstance(join, wb.IntervalJoin)
    made = [getattr(run.charts, view.name)() for view in charts.views() if view.name != "windows" or has_windows]
    made += [run.why(3).chart, *(getattr(tuning.charts, view.name)() for view in charts.tuning_views())]
    assert len(made) >= 12 + has_windows
    for chart in made:
        bundle = chart._repr_mimebundle_()
        assert set(bundle) == {VEGA_LITE, "image/png", "text/plain"}
        assert "/v5" in bundle[VEGA_LITE]["$schema"]
        assert vl_convert.vegalite_to_svg(bundle[VEGA_LITE], vl_version=OLDEST).startswith("<svg")
        assert min(pixels(bundle["image/png"])) > 150


def test_a_picture_is_packed_and_still_the_same():
    run = wb.preview(JOINS[0], *generators.generate("orders_payments", events=60, seed=5))
    spec = run.charts.timeline().to_dict(validate=False)
    loose, packed = vl_convert.vegalite_to_png(spec, scale=1), renderer.png(spec)
    assert len(packed) < 0.75 * len(loose)
    assert pixels(base64.b64encode(packed)) == pixels(base64.b64encode(loose))
    assert content(packed) == content(loose)


def test_a_chart_that_cannot_be_drawn_here_is_shown_all_the_same():
    bundle = renderer.shown({"$schema": "v6", "data": {"url": "http://127.0.0.1:9/none.json"}, "mark": "nothing"})
    assert set(bundle) == {VEGA_LITE, "text/plain"}


def test_a_renderer_of_the_users_own_stays():
    run = wb.preview(JOINS[0], *generators.generate("orders_payments", events=5))
    with alt.renderers.enable("png"):
        shown = run.charts.timeline()._repr_mimebundle_()
    assert "image/png" in (shown[0] if isinstance(shown, tuple) else shown)
