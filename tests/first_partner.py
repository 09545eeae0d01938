"""A kind of join with state and a panel of its own: each left row with the first right row of its key that arrived."""

from __future__ import annotations

from dataclasses import dataclass

import ipywidgets as widgets
import numpy as np

from workbench.builtin_kinds.interval import WithoutWindows
from workbench.joins import Join, emission
from workbench.kinds import NEVER, Operator, PanelOf, RowsInMaps
from workbench.literals import SIDES
from workbench.model import Meeting, OperatorModel, Outcome
from workbench.model.operators import Placed, dropped, no_groups, of_pairs, rows_present
from workbench.plan.names import fill
from workbench.plan.processors import PLACED
from workbench.reasons.own import OwnReasons
from workbench.reasons.slots import SentenceSlots
from workbench.verdicts import Verdict, Wording

PLAN = (
    PLACED
    + '''
{{ signature() }}
    """Give each row the first row of its key that has arrived on the other side."""

{{ placed() }}
{% for side in (left, right) %}
{% call prepare(side) %}
        .where({% for key in side.prefixed_keys %}F.col({{ key }}).isNotNull(){{ " & " if not loop.last }}{% endfor %})
{% endcall %}
    {{ side.prefix }}rows, {{ side.prefix }}named, {{ side.prefix }}schema = placed(
        {{ side.var }}, [{% for key in side.prefixed_keys %}{{ key }}{{ ", " if not loop.last }}{% endfor %}], {{ side.prefixed_time }}, {{ side == left }}
    )
{% endfor %}
    class FirstOfKey(StatefulProcessor):
        """Holds the first right row of each key, for ever."""

        def init(self, handle):
            self.first = handle.getMapState("first", StructType([StructField("one", LongType())]), right_schema)

        def handleInputRows(self, key, rows, timerValues):
            came = list(rows)
            first = next((row for _, row in self.first.iterator()), None)
            if first is None and (right_rows := [row for row in came if not row["is_left"]]):
                earliest = min(right_rows, key=lambda row: row["at"])
                first = tuple(earliest[name] for name in right_schema.names)
                self.first.updateValue((1,), first)
            for row in came:
                if row["is_left"] and first is not None:
                    yield joined_row(*(row[name] for name in left_schema.names), *first)

        def close(self):
            pass

    joined_row = Row(*left_schema.names, *right_schema.names)
    output = StructType([*left_schema, *right_schema])
    grouped = left_rows.unionByName(right_rows, allowMissingColumns=True).groupBy({% for key in key_names %}"{{ key }}"{{ ", " if not loop.last }}{% endfor %})
    return grouped.transformWithState(FirstOfKey(), output, "append", "none").select(*left_named, *right_named)
'''
)


@dataclass(frozen=True, repr=False)
class FirstPartnerJoin(Join):
    """Each left row with the first right row of its key; within a micro-batch the earliest is the first."""


def first_of_keys(right):
    """The place of the first right row of each key, by the key's code."""
    known = right.assign(place=np.arange(len(right)))[(right["key"] >= 0).to_numpy()]
    return known.sort_values(["batch", "start"], kind="stable").drop_duplicates("key").set_index("key")["place"]


def pairs(join, left, right):
    first = first_of_keys(right)
    partner = first.reindex(left["key"].where(left["key"] >= 0)).to_numpy()
    one = np.flatnonzero(~np.isnan(partner))
    other = partner[one].astype(np.int64)
    there = right["batch"].to_numpy()[other] <= left["batch"].to_numpy()[one]
    return one[there], other[there]


def replay(join, marks, sides, shared, spark):
    left, right = (sides[side] for side in SIDES)
    stays = np.zeros(len(right), dtype=bool)
    stays[first_of_keys(right).to_numpy()] = True
    left["evicted_in"] = left["batch"]
    right["evicted_in"] = np.where(stays, len(marks), right["batch"])
    one, other = pairs(join, left, right)
    places = {"left": one, "right": other}
    left["leaves_at"], right["leaves_at"] = left["start"], np.full(len(right), NEVER)
    for side, mine in sides.items():
        matched = np.zeros(len(mine), dtype=bool)
        matched[places[side]] = True
        mine["matched"], mine["waits"], mine["group"] = matched, False, np.full(len(mine), -1, dtype=np.int8)
        mine["held"] = mine["evicted_in"] > mine["batch"]
    none = np.zeros(len(one), dtype=np.int64)
    rows = {side: sides[side]["row"].to_numpy() for side in SIDES}
    outputs = of_pairs(emission(join), rows, Placed(places, none, none, left["batch"].to_numpy()[one]), {})
    counted = rows_present(right, len(marks))
    return Outcome(marks, shared.keys_of(join), sides, outputs, no_groups(), np.zeros(len(marks), int), counted)


class FirstVerdict(Verdict):
    """Its own verdicts."""

    NOT_THE_FIRST = Wording(
        "unmatched", "another row of its key came first", "another row of its key came first", "Nothing."
    )
    TOO_EARLY = Wording(
        "unmatched", "no row of its key had come", "no row of its key had come by then", "Send it later."
    )


class FirstSentences(SentenceSlots):
    """Judges rows by what had arrived."""

    def judge(self, of):
        of.verdict[of.unmatched] = FirstVerdict.NOT_THE_FIRST if of.side == "right" else FirstVerdict.TOO_EARLY


class FirstPanel:
    """Says during a live query what stays in state."""

    def __init__(self):
        self.widget = widgets.HTML("The first partner of each key stays in state.")
        self.offer(None)

    def offer(self, live):
        mine = live is not None and isinstance(live.join, FirstPartnerJoin)
        self.widget.layout.display = None if mine else "none"


class FirstPartner(WithoutWindows[FirstPartnerJoin]):
    """Its kind."""

    name = "first_partner"
    label = "First-partner join"
    hows = ()
    drops_late = False
    no_ttl = "whose first partners stay forever"
    operator = Operator("first rows", "nothing", 1, is_processor=True, state=RowsInMaps((("right", "first"),)))
    parts = (
        OperatorModel(replay, dropped),
        Meeting(lambda *_: {}, pairs, lambda join, sides: pairs(join, sides["left"], sides["right"]), lambda *_: None),
        OwnReasons(FirstSentences),
        PanelOf(FirstPanel),
    )

    def describes(self, join):
        return isinstance(join, FirstPartnerJoin)

    def make(self, texts, flags, how):
        return FirstPartnerJoin()

    def plan(self, join, names, finish):
        keys = [f"key_{place}" for place in range(len(names.left.keys))]
        return fill(PLAN, names, finish, join=join, how="inner", key_names=keys)

    def held_by(self, join, side):
        return "the key: its first row stays for ever"

    def waiting(self, join, side):
        return "rows of {other} may still meet it"

    def waits(self, join, side):
        return 0
