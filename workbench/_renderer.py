"""How charts are shown in a notebook."""

from __future__ import annotations

from typing import Any

from workbench._kept import bundled

_OURS = "workbench"


def show_without_network() -> None:
    """Where nobody chose how charts are shown: as widgets, which need no network, unlike Altair's own default."""
    import altair as alt

    if alt.renderers.active == "default":
        alt.renderers.register(_OURS, _widget)
        alt.renderers.enable(_OURS)


def _widget(spec: dict[str, Any], **_: Any) -> dict[str, Any]:
    """What Altair's renderer ``jupyter`` shows, without building the chart from its text and checking it again."""
    import altair as alt

    alt.JupyterChart.enable_offline()
    widget = alt.JupyterChart(chart=None)  # type: ignore[arg-type]
    widget.spec = spec
    shown: dict[str, Any] = widget._repr_mimebundle_()
    return shown


def bundle() -> None:
    """Give Altair's widget its script now, and kept: else every kernel makes it anew for the first chart it shows."""
    import altair as alt
    import vl_convert

    if alt.renderers.active != "default":
        return
    make = vl_convert.javascript_bundle

    def once(snippet: str, vl_version: str | None = None) -> str:
        vl_convert.javascript_bundle = make
        return bundled(snippet, vl_version)

    vl_convert.javascript_bundle = once
    try:
        alt.JupyterChart.enable_offline()
    finally:
        vl_convert.javascript_bundle = make
