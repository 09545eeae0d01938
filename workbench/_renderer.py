"""How charts are shown in a notebook."""

from __future__ import annotations


def show_without_network() -> None:
    """Where nobody chose how charts are shown: as widgets, which need no network, unlike Altair's own default."""
    import altair as alt

    if alt.renderers.active == "default":
        alt.renderers.enable("jupyter", offline=True)
