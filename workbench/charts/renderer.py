"""How charts are shown in a notebook."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

from workbench import process
from workbench.untyped import Record

__all__ = ["png", "show_without_network", "shown", "warm"]

_OURS = "workbench"
_LITE = "application/vnd.vegalite.v5+json"
"""What JupyterLab draws by itself, without a kernel and without a network: it knows no later Vega-Lite."""
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


def show_without_network() -> None:
    """Where nobody chose how charts are shown: as what is drawn without a network, and without the kernel, too."""
    process.draw_charts_with(_OURS, shown)


def shown(spec: Record, **_: Any) -> Record:
    """A chart as a notebook keeps it: to be drawn where it is read, and as a picture where nothing draws."""
    title = spec.get("title", "")
    words = title.get("text", "") if isinstance(title, dict) else title
    bundle: Record = {"text/plain": f"<chart: {words}>" if isinstance(words, str) and words else "<chart>"}
    try:
        picture = png(spec)
    except ValueError:  # a chart of the user's own that cannot be drawn here, such as one of data on the web
        pass
    else:
        bundle["image/png"] = base64.b64encode(picture).decode()
    return bundle | {_LITE: spec | {"$schema": _SCHEMA}}


def png(spec: Record) -> bytes:
    """A chart as a picture."""
    import vl_convert  # when needed: a library of 90 MB

    return _packed(vl_convert.vegalite_to_png(spec, scale=1))


def _packed(picture: bytes) -> bytes:
    """The same PNG in half the bytes: vl-convert packs quickly, and notebooks keep what it gives."""
    parts, place, data = [picture[:8]], 8, b""
    while place < len(picture):
        end = place + 12 + struct.unpack_from(">I", picture, place)[0]  # length, kind, data, checksum
        kind = picture[place + 4 : place + 8]
        if kind == b"IDAT":
            data += picture[place + 8 : end - 4]
        elif kind == b"IEND":
            body = b"IDAT" + zlib.compress(zlib.decompress(data))
            parts.append(struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body)))
        if kind != b"IDAT":
            parts.append(picture[place:end])
        place = end
    return b"".join(parts)


def warm() -> None:
    """Draw a first picture, of nothing: it takes most of a second, all others a fraction."""
    png({"$schema": _SCHEMA, "data": {"values": []}, "mark": "point"})
