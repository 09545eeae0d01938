"""How a benchmark reports what it measured: a line of JSON, which the table of the README is made of."""

from __future__ import annotations

import json


def report(what: str, target: str, measured: str, reached: bool) -> None:
    print(json.dumps({"what": what, "target": target, "measured": measured, "reached": bool(reached)}), flush=True)
