"""How charts are shown in a notebook."""

from __future__ import annotations

from workbench._kept import bundled


def show_without_network() -> None:
    """Where nobody chose how charts are shown: as widgets, which need no network, unlike Altair's own default."""
    import altair as alt

    if alt.renderers.active == "default":
        alt.renderers.enable("jupyter", offline=True)


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
