"""`generate`: a scenario and its settings in, two recorded streams out."""

from __future__ import annotations

import inspect

from generators._settings import Settings
from workbench.errors import one_of
from workbench.streams import Stream
from workbench.untyped import Value


def scenarios() -> dict[str, str]:
    """The scenarios by name, each with what it is, which join suits it, and why."""
    from generators._scenarios import SCENARIOS

    return {name: inspect.getdoc(make) or "" for name, make in SCENARIOS.items()}


def generate(scenario: str, **settings: Value) -> tuple[Stream, Stream]:
    """Make two recorded streams. The same settings and seed give the same rows, to the byte.

    Parameters
    ----------
    scenario
        One of `scenarios`.
    **settings
        The settings below, by name.
    events : int, default 1000
        Rows of the left side; the right side has about as many, less those that have no partner.
    keys : int, optional
        Distinct keys; None: what suits the scenario.
    skew : float, default 0
        Zipf exponent of the keys: 0 all alike, 1 strongly skewed.
    rate : float, default 10
        Events a second and side, in event time.
    unmatched : float, optional
        Share of left rows (visits in ``page_views_searches``, sessions in ``user_actions``) made without a partner;
        None: what suits the scenario. Where keys come again, such a row can still meet a partner made for another.
    disorder, disorder_spread : float, time span, default 0.1, "3 seconds"
        Share of rows that arrive out of order, and by how much at most.
    late, late_by : float, time span, default 0.02, "30 seconds"
        Share of rows that arrive late, and by how much on average (from half to one and a half times that).
    duplicates : float, default 0
        Share of rows that come twice.
    idle : (side, begin, end), optional
        A side that sends nothing for a part of the recording: ``("right", 0.4, 0.7)``.
    start : str or datetime, default "2026-01-01 09:00:00"
        Where event time begins, in UTC.
    batches : int, default 10
        Micro-batches: equal slices of the time of arrival.
    trigger : time span, optional
        Micro-batches as a query with this trigger interval would have them, in place of `batches`.
    watermark : time span, default "10 seconds"
        The watermark delay of both streams.
    seed : int, default 0
        Where all chance comes from.

    Raises
    ------
    ArgumentError
        Naming the setting that is wrong.
    """
    from generators._arrival import arrive
    from generators._draw import Draw
    from generators._scenarios import SCENARIOS

    one_of("scenario", scenario, tuple(SCENARIOS))
    checked = Settings.of(settings)
    draw = Draw(checked)
    left, right = arrive(SCENARIOS[scenario](draw), checked, draw.rng)
    return left, right
