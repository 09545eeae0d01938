"""The scenarios. Each docstring says which join suits it, and why."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from generators._draw import SECOND, Draw, Numbers, Side, names


def impressions_clicks(draw: Draw) -> tuple[Side, Side]:
    """Advertising: impressions shown to users, and the clicks that some of them bring seconds later.

    Suits an interval join, ``IntervalJoin("0 seconds", "30 seconds", how="left")``: a click belongs to the
    impressions of its user in the half minute before it, and impressions without a click count too.
    """
    count = draw.settings.events
    users, shown = draw.keys(count, usual=max(1, count // 2)), draw.moments(count)
    clicked = draw.partnered(count, unmatched=0.6)
    campaigns = draw.pool(lambda fake: fake.catch_phrase(), count, size=40)
    impressions = Side(
        "impressions",
        ("user_id",),
        "shown_at",
        shown,
        {
            "user_id": names("u", users),
            "impression_id": names("i", draw.numbers(count), 7),
            "campaign": campaigns,
            "site": draw.pool(lambda fake: fake.domain_name(), count, size=60),
        },
    )
    hits = int(clicked.sum())
    clicks = Side(
        "clicks",
        ("user_id",),
        "clicked_at",
        draw.after(shown[clicked], mean=8.0, least=0.4),
        {
            "user_id": names("u", users[clicked]),
            "campaign": campaigns.filter(pa.array(clicked)),
            "device": draw.pick(["phone", "laptop", "tablet"], hits, [6, 3, 1]),
            "cost": draw.amounts(hits, 0.4),
        },
    )
    return impressions, clicks


def orders_payments(draw: Draw) -> tuple[Side, Side]:
    """A shop: orders, and their payments some seconds later; one order in ten is never paid.

    Suits an interval join, ``IntervalJoin("0 seconds", "15 seconds", how="left")``: each order has its own waiting
    time for its payment, and the unpaid ones are what the shop wants to see.
    """
    count = draw.settings.events
    orders_of, ordered = draw.keys(count, usual=count), draw.moments(count)
    paid = draw.partnered(count, unmatched=0.1)
    amounts = draw.amounts(count, 35.0)
    orders = Side(
        "orders",
        ("order_id",),
        "ordered_at",
        ordered,
        {
            "order_id": names("o", orders_of),
            "customer": draw.pool(lambda fake: fake.name(), count),
            "city": draw.pool(lambda fake: fake.city(), count),
            "amount": amounts,
        },
    )
    hits = int(paid.sum())
    payments = Side(
        "payments",
        ("order_id",),
        "paid_at",
        draw.after(ordered[paid], mean=4.0, least=0.5),
        {
            "order_id": names("o", orders_of[paid]),
            "payment_id": names("p", draw.numbers(hits)),
            "method": draw.pick(["card", "transfer", "wallet"], hits, [6, 1, 3]),
            "paid": amounts.filter(pa.array(paid)),
        },
    )
    return orders, payments


def goods_info_price(draw: Draw) -> tuple[Side, Side]:
    """A catalogue: goods info, and the price of each, sent five seconds earlier; one in five goods has none.

    Suits an interval join below zero, ``IntervalJoin("-6 seconds", "-4 seconds", how="left")``: the partner comes
    before the row, by a time that is known.
    """
    count = draw.settings.events
    goods, sent = draw.keys(count, usual=count), draw.moments(count)
    priced = draw.partnered(count, unmatched=0.2)
    info = Side(
        "goods_info",
        ("goods_id",),
        "info_at",
        sent,
        {
            "goods_id": names("g", goods),
            "title": draw.people(goods, lambda fake: fake.catch_phrase()),
            "maker": draw.people(goods, lambda fake: fake.company()),
        },
    )
    price = Side(
        "goods_price",
        ("goods_id",),
        "price_at",
        sent[priced] - 5 * SECOND,
        {
            "goods_id": names("g", goods[priced]),
            "price": draw.amounts(int(priced.sum()), 20.0),
            "currency": draw.pick(["EUR", "USD", "GBP"], int(priced.sum()), [5, 4, 1]),
        },
    )
    return info, price


def transfers(draw: Draw) -> tuple[Side, Side]:
    """Two accounts' books: money out of one, and in on the other seconds later; a few transfers never arrive.

    Suits a coGroup, ``CoGroup(Tumbling("1 minute"))``, or a full outer join: reconciliation wants both lists of a
    reference, and most of all those where one list is empty. The key has two columns, reference and currency.
    """
    count = draw.settings.events
    references, booked = draw.keys(count, usual=count), draw.moments(count)
    arrives = draw.partnered(count, unmatched=0.05)
    currency = draw.pick(["EUR", "USD", "CHF"], count, [6, 3, 1])
    amounts = draw.amounts(count, 250.0)
    money_out = Side(
        "money_out",
        ("reference", "currency"),
        "booked_at",
        booked,
        {
            "reference": names("r", references),
            "currency": currency,
            "account": draw.pool(lambda fake: fake.iban(), count, size=100),
            "amount": amounts,
        },
    )
    hits = pa.array(arrives)
    money_in = Side(
        "money_in",
        ("reference", "currency"),
        "received_at",
        draw.after(booked[arrives], mean=3.0, least=1.0),
        {
            "reference": names("r", references[arrives]),
            "currency": currency.filter(hits),
            "account": draw.pool(lambda fake: fake.iban(), int(arrives.sum()), size=100),
            "amount": amounts.filter(hits),
        },
    )
    return money_out, money_in


def page_views_searches(draw: Draw) -> tuple[Side, Side]:
    """A web site: page views and searches of users, in bursts of a few seconds between events.

    Suits a session window join, ``WindowJoin(Session("15 seconds"))``: what a user looks at and searches for in one
    visit belongs together, and a visit ends when the user falls silent, not when a clock strikes.
    """
    count = draw.settings.events
    usual = max(1, count // 8)
    visits = max(1, count // 6)
    visitor, begin = draw.keys(visits, usual=usual), draw.moments(count)[:: max(1, count // visits)][:visits]
    visits = len(begin)
    visitor = visitor[:visits]
    searching = draw.partnered(visits, unmatched=0.3)
    views_of = np.sort(np.concatenate([np.arange(visits), draw.rng.integers(0, visits, count)])[:count])
    seeking = np.flatnonzero(searching)
    searches_of = np.sort(draw.rng.choice(seeking, count // 3)) if len(seeking) else np.array([], dtype=np.int64)

    def within(visit: Numbers) -> Numbers:
        """Times in a visit: each event a few seconds after the one before."""
        waits = draw.rng.gamma(2.0, 2.0, len(visit)) * 1000
        first = np.flatnonzero(np.diff(visit, prepend=-1))
        steps = np.cumsum(waits)
        since = steps - np.repeat(steps[first], np.diff(np.append(first, len(visit))))
        return begin[visit] + since.astype(np.int64) * 1000

    page_views = Side(
        "page_views",
        ("user_id",),
        "viewed_at",
        within(views_of),
        {
            "user_id": names("u", visitor[views_of]),
            "page": draw.pool(lambda fake: "/" + fake.uri_path(), count, size=120),
            "browser": draw.pick(["Firefox", "Chrome", "Safari", "Edge"], count, [2, 5, 2, 1]),
        },
    )
    searches = Side(
        "searches",
        ("user_id",),
        "searched_at",
        within(searches_of) + SECOND,
        {
            "user_id": names("u", visitor[searches_of]),
            "words": draw.pool(lambda fake: " ".join(fake.words(2)), len(searches_of)),
            "hits": pa.array(draw.rng.integers(0, 400, len(searches_of))),
        },
    )
    return page_views, searches


def orders_prices(draw: Draw) -> tuple[Side, Side]:
    """A shop whose prices change: orders, and each product's prices, some of them in bursts; one order in 20 has none.

    Suits an as-of join, ``AsOfJoin("backward", "20 seconds", how="left")``: an order is charged the price that was in
    force at its time, however many changes there were before, and a change that comes late must not be missed.
    """
    count = draw.settings.events
    usual = max(1, count // 40)
    goods, ordered = draw.keys(count, usual=usual), draw.moments(count)
    priced = draw.partnered(count, unmatched=0.05)
    new = pa.array(draw.rng.integers(0, max(1, usual // 10), count))
    orders = Side(
        "orders",
        ("product_id",),
        "ordered_at",
        ordered,
        {
            "product_id": pc.if_else(pa.array(priced), names("g", goods), names("new", new)),
            "order_id": names("o", draw.numbers(count)),
            "customer": draw.pool(lambda fake: fake.name(), count),
            "quantity": pa.array(draw.rng.integers(1, 6, count)),
        },
    )
    first = np.unique(goods[priced])
    changed = np.sort(draw.rng.choice(np.flatnonzero(priced), int(priced.sum()) // 3))
    again = changed[draw.rng.random(len(changed)) < 0.3]  # corrected within a second or two
    moments = np.concatenate(
        [
            ordered[:1].repeat(len(first)) - draw.rng.integers(1, 20, len(first)) * SECOND,
            ordered[changed] - draw.rng.integers(0, 5_000, len(changed)) * 1000,
            ordered[again] + draw.rng.integers(300, 2_000, len(again)) * 1000,
        ]
    )
    order = np.argsort(moments, kind="stable")
    prices = Side(
        "prices",
        ("product_id",),
        "changed_at",
        moments[order],
        {
            "product_id": names("g", np.concatenate([first, goods[changed], goods[again]])[order]),
            "price_id": names("p", draw.numbers(len(order))),
            "price": draw.amounts(len(order), 20.0),
            "reason": draw.pick(["list price", "discount", "correction"], len(order), [5, 3, 1]),
        },
    )
    return orders, prices


def readings_thresholds(draw: Draw) -> tuple[Side, Side]:
    """Sensors: what they read, and each sensor's thresholds, which are moved, and withdrawn, while readings come.

    Suits a rules join, ``RulesJoin()``: a reading is judged by the thresholds in force at its time, and comes out once
    for each that it crosses; a threshold that comes late must not judge by the old value.
    """
    count = draw.settings.events
    sensors, read = draw.keys(count, usual=max(1, count // 20)), draw.moments(count)
    heat = draw.rng.normal(60.0, 12.0, count).round(1)
    readings = Side(
        "readings",
        ("sensor_id",),
        "read_at",
        read,
        {
            "sensor_id": names("s", sensors),
            "reading_id": names("r", draw.numbers(count)),
            "temperature": pa.array(heat),
            "humidity": pa.array(np.clip(draw.rng.normal(45.0, 15.0, count), 0, 100).round(1)),
            "site": draw.pool(lambda fake: fake.city(), count, size=20),
        },
    )
    known = np.unique(sensors)
    moved = np.sort(draw.rng.integers(0, count, max(1, count // 4)))
    damp = np.concatenate([np.arange(len(known)) % 2 == 1, draw.rng.random(len(moved)) < 0.4])
    moments = np.concatenate(
        [
            read[:1].repeat(len(known)) - draw.rng.integers(1, 20, len(known)) * SECOND,
            read[moved] - draw.rng.integers(0, 5_000, len(moved)) * 1000,
        ]
    )
    order = np.argsort(moments, kind="stable")
    number = len(order)
    value = np.where(damp, draw.rng.normal(60.0, 6.0, number), draw.rng.normal(70.0, 6.0, number)).round(1)
    gone = np.concatenate([np.zeros(len(known), dtype=bool), draw.rng.random(len(moved)) < 0.15])
    thresholds = Side(
        "thresholds",
        ("sensor_id",),
        "since",
        moments[order],
        {
            "sensor_id": names("s", np.concatenate([known, sensors[moved]])[order]),
            "rule_id": pc.if_else(pa.array(damp[order]), "damp", "hot"),
            "field": pc.if_else(pa.array(damp[order]), "humidity", "temperature"),
            "op": draw.pick([">", ">="], number, [4, 1]),
            "value": pa.array(value[order]),
            "withdrawn": pa.array(gone[order]),
            "changed_by": draw.pool(lambda fake: fake.name(), number, size=8),
        },
    )
    return readings, thresholds


_COUNTRIES = pa.array(
    ["Austria", "Belgium", "Brazil", "Canada", "France", "Germany", "India", "Italy", "Japan", "Poland", "Spain"]
)
_LEFT_ROWS = 4.3  # actions in a session, on average
_COMES_BACK = 600  # seconds from one session of a user to the next, where sessions are drawn on and on


def user_actions(draw: Draw) -> tuple[Side, Side]:
    """A shop's users: what they do, session by session, and what they pay; one session in twelve is a fraud's.

    Suits a pattern, ``Pattern(step("sign_in", side="left", where=col("action") == "sign_in"), followed_by("declined",
    side="right", where=(col("status") == "declined") & (col("amount") < 5)).one_or_more(), followed_by("paid",
    side="right", where=(col("status") == "accepted") & (col("amount") > 500)), within="15 minutes")``: the sequence
    tells a fraud, a sign-in, small payments declined, a large one accepted, and no sign-out in between. To an interval
    join, ``IntervalJoin("0 seconds", "15 minutes", how="left")``, a payment belongs to what its user did in the quarter
    of an hour before it. A user's next session begins after the one before has ended, so that a short recording takes
    longer than its rate says.
    """
    count = draw.settings.events
    exact = count >= 100 or not draw.goes_on  # a feed draws so few rows at once that only their mean can be right
    clock = draw.moments(count)
    first, last = (round(number / _LEFT_ROWS) for number in (draw.first, draw.first + count))
    sessions = max(last - first, 0 if draw.goes_on else 1)
    begun = clock[np.arange(sessions) * count // max(1, sessions)]
    users = _users_of(draw, first, sessions)
    each = np.arange(sessions)

    pays = draw.partnered(sessions, unmatched=0.15)
    most = max(0, (6 * sessions - count) // 4) if exact else sessions  # more would leave too few actions
    frauds = draw.rng.permutation(np.flatnonzero(pays))[: min(most, int(sessions / 12 + draw.rng.random()))]
    fraud = np.isin(each, frauds)
    honest = np.flatnonzero(~fraud)
    baskets = np.where(fraud, 0, draw.rng.integers(1, 5, sessions))
    if exact:  # so many that all actions are as many as asked for, and none has more than four
        more = max(0, count - 2 * sessions - len(honest))
        baskets[honest] = 1 + np.bincount(draw.rng.permutation(3 * len(honest))[:more] // 3, minlength=len(honest))
    declined = np.where(fraud, draw.rng.integers(2, 4, sessions), draw.rng.random(sessions) < 0.1)
    payments = np.where(pays, declined + 1, 0)

    # in milliseconds since the sign-in, a row for each session
    filled = np.cumsum(_while(draw, (sessions, 4), mean=10.0, least=2.0), axis=1)
    ready = np.where(fraud, 0, filled[each, baskets - 1])
    tries = draw.rng.integers(5_000, 25_000, (sessions, 4))
    tries[honest, 0] = _while(draw, (len(honest),), mean=16.0, least=4.0)
    paid = ready[:, None] + np.cumsum(tries, axis=1)
    done = np.where(pays, paid[each, payments - 1], ready)
    left = done + np.where(
        fraud, draw.rng.integers(1_000, 8_000, sessions), _while(draw, (sessions,), mean=90.0, least=10.0)
    )
    signed_in = _one_after_another(users, begun, left + _while(draw, (sessions,), mean=90.0, least=20.0))

    filling, paying = np.arange(4) < baskets[:, None], np.arange(4) < payments[:, None]
    session = np.concatenate([each, each.repeat(baskets), each])
    acted = signed_in[session] + np.concatenate([np.zeros_like(left), filled[filling], left]) * 1000
    order = np.argsort(acted, kind="stable")[: count if exact else None]
    abroad = np.where(fraud, draw.rng.integers(1, len(_COUNTRIES), sessions), 0)
    actions = Side(
        "actions",
        ("user_id",),
        "acted_at",
        acted[order],
        {
            "user_id": names("u", users[session[order]]),
            "action": pa.array(["sign_in", "add_to_basket", "sign_out"]).take(
                pa.array(np.repeat([0, 1, 2], [sessions, baskets.sum(), sessions])[order])
            ),
            "country": _COUNTRIES.take(pa.array(((users + abroad) % len(_COUNTRIES))[session[order]])),
        },
        until=int(clock[-1]),
    )

    accepted = (np.arange(4) == declined[:, None])[paying]
    session = each.repeat(payments)
    moments = signed_in[session] + paid[paying] * 1000
    order = np.argsort(moments, kind="stable")
    amounts = np.where(
        fraud[session],
        np.where(
            accepted, 500 + draw.amounts(len(session), 350.0).to_numpy(), draw.rng.uniform(0.5, 4.9, len(session))
        ),
        draw.amounts(sessions, 35.0).to_numpy()[session],
    ).round(2)
    own = draw.people(users, lambda fake: fake.credit_card_number()[-4:])
    stolen = pc.utf8_lpad(pa.array(draw.rng.integers(0, 10_000, sessions)).cast(pa.string()), 4, "0")
    return actions, Side(
        "payments",
        ("user_id",),
        "paid_at",
        moments[order],
        {
            "user_id": names("u", users[session[order]]),
            "amount": pa.array(amounts[order]),
            "status": pc.if_else(pa.array(accepted[order]), "accepted", "declined"),
            "card": pc.if_else(pa.array(fraud), stolen, own).take(pa.array(session[order])),
        },
    )


def _users_of(draw: Draw, first: int, sessions: int) -> Numbers:
    """The user of each session: in turn, so that all have several, or as keys and skew ask for."""
    settings = draw.settings
    if draw.goes_on and not settings.skew:
        users = settings.keys or max(1, int(settings.rate * _COMES_BACK / _LEFT_ROWS))
        return (first + np.arange(sessions)) % users
    usual = max(1, sessions // 3)
    return draw.keys(sessions, usual) if settings.keys or settings.skew else np.arange(sessions) % usual


def _while(draw: Draw, shape: tuple[int, ...], mean: float, least: float) -> Numbers:
    """Milliseconds: `least` seconds, and a gamma-distributed while of `mean` seconds more."""
    waits: Numbers = ((draw.rng.gamma(2.0, mean / 2.0, shape) + least) * 1000).astype(np.int64)
    return waits


def _one_after_another(users: Numbers, begun: Numbers, lasts: Numbers) -> Numbers:
    """When each session begins: when it would, but not before the user's sessions before it, in milliseconds, end."""
    import pandas as pd

    lengths = pd.Series(lasts * 1000)
    before = lengths.groupby(users).cumsum() - lengths
    moments: Numbers = ((pd.Series(begun) - before).groupby(users).cummax() + before).to_numpy()
    return moments


SCENARIOS = {
    each.__name__: each
    for each in (
        impressions_clicks,
        orders_payments,
        goods_info_price,
        transfers,
        page_views_searches,
        orders_prices,
        readings_thresholds,
        user_actions,
    )
}
