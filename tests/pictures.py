"""What is in a PNG."""

from __future__ import annotations

import base64
import zlib


def pixels(picture):
    """Width and height of a PNG."""
    raw = base64.b64decode(picture)
    assert raw[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(raw[16:20]), int.from_bytes(raw[20:24])


def content(picture):
    """What is packed in a PNG: its pixels, filtered."""
    place, data = 8, b""
    while place < len(picture):
        length = int.from_bytes(picture[place : place + 4])
        kind, body = picture[place + 4 : place + 8], picture[place + 8 : place + 8 + length]
        check = int.from_bytes(picture[place + 8 + length : place + 12 + length])
        assert check == zlib.crc32(kind + body)
        data += body if kind == b"IDAT" else b""
        place += 12 + length
    return zlib.decompress(data)
