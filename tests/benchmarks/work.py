"""What the workbench itself works out, without Spark: generated streams, the model, the charts of a million rows."""

from __future__ import annotations

import json
import statistics
import sys
import time

import faker
import streams
from _report import report

import generators
import workbench as wb
from workbench.model import Simulation

EVENTS, BY_FAKER = 1_000_000, 2_000


def generated() -> None:
    begun = time.perf_counter()
    generators.generate("orders_payments", events=EVENTS, seed=1)
    took = time.perf_counter() - begun
    begun = time.perf_counter()
    plain(BY_FAKER)
    ratio = (time.perf_counter() - begun) / BY_FAKER / (took / EVENTS)
    words = "generators: 1,000,000 events a side"
    report(words, "10 s, 50 times plain Faker", f"{took:.1f} s, {ratio:,.0f} times", took < 10 and ratio > 50)


def plain(events: int) -> list[tuple[dict[str, object], dict[str, object]]]:
    """Orders and payments as Faker makes them, one by one."""
    fake = faker.Faker()
    faker.Faker.seed(1)
    made = []
    for _ in range(events):
        order, moment = fake.uuid4(), fake.date_time_this_month()
        amount = fake.pyfloat(min_value=5, max_value=500, right_digits=2)
        left = {"order_id": order, "ordered_at": moment, "customer": fake.name(), "city": fake.city(), "amount": amount}
        method = fake.credit_card_provider()
        right = {"order_id": order, "paid_at": moment, "payment_id": fake.uuid4(), "method": method, "paid": amount}
        made.append((left, right))
    return made


def model() -> None:
    within = {"interval": 0.5, "tumbling": 0.5, "sliding": 1, "session": 1, "coGroup": 1}
    for rows, most in ((100_000, dict.fromkeys(within, 0.06)), (1_000_000, within)):
        sides = streams.large(rows)
        found = {name: statistics.median(fates(name, sides) for _ in range(3)) for name in within}
        report(
            f"model: {rows:,} rows a side, to the fate of each",
            ", ".join(f"{name} {limit:g}" for name, limit in most.items()) + " s",
            ", ".join(f"{name} {took:.2f}" for name, took in found.items()) + " s",
            all(found[name] <= most[name] for name in within),
        )


def fates(name: str, sides: tuple[wb.Stream, wb.Stream]) -> float:
    begun = time.perf_counter()
    _ = Simulation(streams.JOINS[name], *sides).fates
    return time.perf_counter() - begun


def charts() -> None:
    slowest, largest = (0.0, ""), 0
    sides = streams.large()
    for name, join in streams.JOINS.items():
        run = wb.preview(join, *sides)
        _ = run.outcome
        for view in ("timeline", "arrival", "watermarks", "windows", "late", "misses", "state", "keys"):
            if name == "interval" and view == "windows":
                continue
            begun = time.perf_counter()
            text = json.dumps(getattr(run.charts, view)().to_dict())
            slowest = max(slowest, (time.perf_counter() - begun, f"{view} of {name}"))
            largest = max(largest, len(text))
    measured = f"{slowest[0]:.1f} s ({slowest[1]}), {largest / 2**20:.2f} MB"
    reached = slowest[0] < 3 and largest < 2 * 2**20
    report("charts: the slowest, the largest view of 1,000,000 rows a side", "3 s, 2 MB", measured, reached)


if __name__ == "__main__":
    model()
    if "--quick" not in sys.argv:
        generated()
        charts()
