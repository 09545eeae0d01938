"""Patterns on Spark: a processor that follows the rows of each key in order of event time."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.conditions import Column, EarlierColumn, asks_earlier, python, python_helpers
from workbench.errors import wrong
from workbench.literals import Side
from workbench.patterns import Pattern, skip_of
from workbench.patterns.automaton import Asked, Automaton, Test, automaton
from workbench.patterns.checking import kinds_of, of_sides, side_of
from workbench.plan.conditions import spark_sql
from workbench.plan.names import Names, fill
from workbench.plan.processors import KEPT, PLACED
from workbench.quoting import literal
from workbench.sources.arrow import AFTER_ALL
from workbench.untyped import Value

__all__ = ["render"]

_TEMPLATE = (
    PLACED
    + KEPT
    + '''
{{ signature() }}
    """Find the rows of a key that follow each other as a pattern says."""

{{ placed(fits=True) }}
{% for side in (left, right) %}
    {{ side.var }} = (
        {{ side.var }}.withWatermark({{ side.time | column }}, {{ side.delay | span | literal }})
{{ seen_by_watermark(side, side.time | column, "") }}
        .where({% for key in side.keys %}F.col({{ key | column }}).isNotNull(){{ " & " if not loop.last }}{% endfor %})
    )
{% endfor %}
    # what is asked of a row by itself: whether it fits a step
{% for side, fits in ((left, left_fits), (right, right_fits)) %}
    {{ side.prefix }}fits = F.array({% for each in fits %}{% if each is boolean %}F.lit({{ each }}){% else %}F.coalesce(F.expr({{ each | literal }}), F.lit(False)){% endif %}{{ ", " if not loop.last }}{% endfor %})
    {{ side.prefix }}rows, _, {{ side.prefix }}schema = placed(
        {{ side.var }}, [{% for key in side.keys %}{{ key | column }}{{ ", " if not loop.last }}{% endfor %}], {{ side.time | column }}, {{ side == left }}, {{ side.prefix }}fits
    )
{% endfor %}
    AFTER_ALL = {{ ended }}  # in the year 2161: only the end of the input is later
    STEPS = [{% for step in steps %}{{ step | literal }}{{ ", " if not loop.last }}{% endfor %}]
    # each state: its step, the one that must come, what it is, how long after the row before, what it does with a row:
    # take or ignore it and go on to a state, or proceed, which is to do what that state does, where the test is true
    STATES = [
{% for state in states %}
        ({{ state.step | literal }}, {{ state.waits_for | literal }}, {{ state.kind | literal }}, {{ "{:_}".format(state.within) }}, [{% for action, target, test in state.moves %}({{ action | literal }}, {{ target }}, lambda fits: {{ test }}){{ ", " if not loop.last }}{% endfor %}]),
{% endfor %}
    ]
    START, WITHIN, MOST = {{ start }}, {{ "{:_}".format(within) }}, {{ "{:_}".format(most) }}
{% if later %}
    LEFT, RIGHT = ({name: place for place, name in enumerate(rows.columns)} for rows in ({{ left.var }}, {{ right.var }}))
{{ helpers | indent(4, first=True) }}
    def earlier(held, path, wanted, column):
        """A column of the last row that a step has taken; None without one."""
        place = next((place for step, place in reversed(path) if step == wanted), None)
        return None if place is None else held[place][column]

{% endif %}
    def fitting(held, path, place):
        """What holds of a row, and of the rows of a partial match before it."""
        row = held[place]
{% if later %}
        fits = list(row[-1])
{% for number, text in later %}
        fits[{{ number }}] = fits[{{ number }}] and ({{ text }}) is True
{% endfor %}
        return fits
{% else %}
        return row[-1]
{% endif %}

    def moves(state, path, place, fits):
        """What becomes of a partial match, as its state and its rows, with the next row."""
        looked_at = [state]
        while looked_at:
            step, *_, possible = STATES[looked_at.pop()]
            possible = [(action, target) for action, target, test in possible if test(fits)]
            looked_at += [target for action, target in possible if action == "proceed"]
            for action, target in possible:
                if action == "ignore" and path:
                    yield target, path
                elif action == "take":
                    longer = (*path, (step, place))
                    yield target, longer
                    end = final_from(target, fits)
                    if end is not None:
                        yield end, longer
        if not path:
            yield state, path  # another match may begin with any row

    def final_from(state, fits):
        looked_at = [state]
        while looked_at:
            for action, target, test in STATES[looked_at.pop()][4]:
                if action == "proceed" and test(fits):
                    if STATES[target][2] == "final":
                        return target
                    looked_at.append(target)
        return None

    def end_of(match):
        """When a partial match has waited long enough, in event time."""
        state, path = match
        if not path:
            return math.inf
        own = path[-1][1][0] + STATES[state][3] if STATES[state][3] else math.inf
        return min(own, path[0][1][0] + WITHIN if WITHIN else math.inf)

{% if skips %}
    # partial matches in the order of Java's PriorityQueue, as Flink has them: which of those that begin with the same
    # row comes first decides which of them is left by the skip strategy
    def begins(match):
        return match[1][0][1] if match[1] else (math.inf,)

    def push(queue, match):
        queue.append(match)
        place = len(queue) - 1
        while place and begins(match) < begins(queue[(place - 1) // 2]):
            queue[place], place = queue[(place - 1) // 2], (place - 1) // 2
        queue[place] = match

    def sink(queue, place):
        match = queue[place]
        while (child := 2 * place + 1) < len(queue):
            if child + 1 < len(queue) and begins(queue[child]) > begins(queue[child + 1]):
                child += 1
            if begins(match) <= begins(queue[child]):
                break
            queue[place], place = queue[child], child
        queue[place] = match

    def pull(queue):
        first, last = queue[0], queue.pop()
        if queue:
            queue[0] = last
            sink(queue, 0)
        return first

    def prune(queue, path):
        """Let those partial matches go that a match excludes."""
{% if skip == "to next" %}
        until = path[0][1]
        kept = [match for match in queue if not match[1] or begins(match) > until]
{% elif skip == "past last event" %}
        until = path[-1][1]
        kept = [match for match in queue if not match[1] or begins(match) > until]
{% else %}
        named = [place for step, place in path if step == {{ skip_step | literal }}]
        if not named:
            return
        kept = [match for match in queue if not match[1] or begins(match) >= named[{{ "0" if skip == "to first" else "-1" }}]]
{% endif %}
        if len(kept) < len(queue):
            queue[:] = kept
            for place in range(len(kept) // 2 - 1, -1, -1):
                sink(queue, place)

{% endif %}
    key_fields = [left_rows.schema[name] for name in {{ key_names }}]
    place_type = "STRUCT<step: STRING, at: BIGINT, side: INT, number: INT>"
    match_type = f"ARRAY<STRUCT<state: INT, path: ARRAY<{place_type}>>>"
{{ kept_rows(fits=True) }}
    kept_matches = StructType.fromDDL(f"partial {match_type}, complete {match_type}")
    kept_schema = StructType([StructField("wake", LongType()), *kept_rows, *kept_matches])

    class Matches(StatefulProcessor):
        """Holds rows until the watermark has passed them, then those that partial matches are made of.

        A row's place is its time in microseconds since 1970-01-01 UTC, 0 for left and 1 for right, and a number.
        """

{{ kept_value("key, ") }}
        def advance(self, key, rows, watermark, fired=None):
            self.key, before = key, self.load()
            numbers = Counter((at, side) for at, side, _ in self.held)
            for row in rows:
                at, side = row["at"], 0 if row["is_left"] else 1
                names = (left_schema if row["is_left"] else right_schema).names
                self.held[at, side, numbers[at, side]] = (*(row[name] for name in names), row["fits"])
                numbers[at, side] += 1
            until = math.inf if watermark >= AFTER_ALL else watermark
            waiting, passed_by = sorted(self.held.keys() - self.used()), None
            for passed, place in enumerate(waiting):
                if place[0] > until:
                    waiting = waiting[passed:]
                    break
                if place[0] != passed_by:
                    yield from self.expire(place[0])
                passed_by = place[0]
                yield from self.take(place)
            else:
                waiting = []
            yield from self.expire(until)
            self.save(before, waiting, fired)

        def take(self, place):
            """The matches that come out with the next row."""
            partial, complete = [], []
            for state, path in self.partial:
                kept, stopped = [], False
                for after in moves(state, path, place, fitting(self.held, path, place)):
                    kind = STATES[after[0]][2]
                    if kind == "final":
                        {{ "push(complete, after)" if skips else "complete.append(after)" }}
                    elif kind == "stop":
                        stopped = True
                    else:
                        kept.append(after)
                for after in kept if not stopped else []:
                    {{ "push(partial, after)" if skips else "partial.append(after)" }}
            yield from self.release(partial, complete)
            held = sum(len(path) for _, path in self.partial + self.complete)
            if held > MOST:
                raise ValueError(
                    f"the partial matches of key {tuple(self.key)} hold {held} rows, more than {MOST}: "
                    "set a shorter within, or a larger most"
                )

        def expire(self, until):
            """What comes out, and is given up, as time passes."""
            while (ends := min(map(end_of, self.partial))) <= until and ends < math.inf:
                partial, complete = [], []
                for match in self.partial:
                    _, waits_for, kind, *_ = STATES[match[0]]
                    if end_of(match) != ends:
                        {{ "push(partial, match)" if skips else "partial.append(match)" }}
                    elif kind == "pending":
                        {{ "push(complete, match)" if skips else "complete.append(match)" }}
                    else:
                        yield self.output(match[1], waits_for)
                yield from self.release(partial, complete)

        def release(self, partial, complete):
            self.partial = partial
{% if skips %}
            for match in complete:
                push(self.complete, match)
            while self.complete and begins(self.complete[0]) <= begins(self.partial[0]):
                _, path = pull(self.complete)
                prune(self.partial, path)
                prune(self.complete, path)
                yield self.output(path, None)
{% else %}
            for _, path in complete:
                yield self.output(path, None)
{% endif %}

        def output(self, path, waited_for):
            lists = {step: [] for step in STEPS}
            for step, place in path:
                schema = left_schema if place[1] == 0 else right_schema
                lists[step].append(dict(zip(schema.names, self.held[place])))
            return found_row(*self.key, *lists.values(), path[0][1][0], path[-1][1][0], waited_for)

        def used(self):
            return {place for _, path in self.partial + self.complete for _, place in path}

        def load(self):
            """Read what a key has in state: when it wakes, its rows, the partial matches and those that are not out yet."""
            self.held, self.partial, self.complete = {}, [(START, ())], []
            kept = self.kept.get()
            if kept is None:
                return None
            for side, rows in enumerate(kept[1:3]):
                self.held.update({(at, side, number): tuple(row) for at, number, *row in rows})
            self.partial, self.complete = (
                [(state, tuple((step, (at, side, number)) for step, at, side, number in path)) for state, path in matches]
                for matches in kept[3:]
            )
            return kept[0], set(self.held), list(self.partial), list(self.complete)

        def save(self, before, waiting, fired):
            kept = self.used() | set(waiting)
            wake = min([place[0] for place in waiting[:1]] + list(map(end_of, self.partial)))
            wake = -(-wake // 1000) if kept and wake < math.inf else None
            woken = None if before is None else before[0]
{{ one_timer() }}
            if not kept:
                if before is not None:
                    self.kept.clear()
            elif (wake, kept, self.partial, self.complete) != before:
                rows = ([(at, number, *self.held[at, of, number]) for at, of, number in sorted(kept) if of == side] for side in (0, 1))
                flat = ([(state, [(step, *place) for step, place in path]) for state, path in each] for each in (self.partial, self.complete))
                self.kept.update((wake, *rows, *flat))

        def close(self):
            pass

    output = StructType(
        [
            *key_fields,
{% for step, side in step_sides %}
            StructField({{ step | literal }}, ArrayType({{ side }}_schema)),
{% endfor %}
            StructField("start", LongType()),
            StructField("end", LongType()),
            StructField("waited_for", StringType()),
        ]
    )

    found_row = Row(*output.names)

    def listed(step, rows, schema):
        """A list of rows, with their columns by name again."""

        def named(row):
            columns = [(row[placed.name], own) for placed, own in zip(schema, rows.schema)]
            return F.struct(*((F.timestamp_micros(each) if is_time(own) else each).alias(own.name) for each, own in columns))

        return F.transform(F.col(step), named)

    grouped = left_rows.unionByName(right_rows, allowMissingColumns=True).groupBy({% for key in key_names %}"{{ key }}"{{ ", " if not loop.last }}{% endfor %})
    matches = grouped.transformWithState(Matches(), output, "append", "eventTime")
    return matches.select(
{% for key in left.keys %}
        (F.timestamp_micros("{{ key_names[loop.index0] }}") if is_time({{ left.var }}.schema[{{ key | literal }}]) else F.col("{{ key_names[loop.index0] }}")).alias({{ key | literal }}),
{% endfor %}
{% for step, side in step_sides %}
        listed({{ step | column }}, {{ left.var if side == "left" else right.var }}, {{ side }}_schema).alias({{ step | literal }}),
{% endfor %}
        F.timestamp_micros("start").alias("start"),
        F.timestamp_micros("end").alias("end"),
        "waited_for",
    )
'''
)


def render(join: Pattern, names: Names, finish: bool) -> str:
    """The text of a pattern; arguments as in `workbench.kinds.plan_of`."""
    made = automaton(join)
    types = of_sides(names.types)
    skip, skip_step = skip_of(join)
    steps = [(each.name, each.side) for each in join.taken]
    states = [
        {
            "step": each.step,
            "waits_for": each.waits_for,
            "kind": each.kind,
            "within": each.within,
            "moves": [(move.action, move.target, _test(move.test)) for move in each.moves],
        }
        for each in made.states
    ]
    later = [(number, _later(join, each, types)) for number, each in enumerate(made.asked) if _is_later(each)]
    return fill(
        _TEMPLATE,
        names,
        finish,
        steps=[name for name, _ in steps],
        step_sides=steps,
        states=states,
        start=made.start,
        within=made.within,
        most=join.most,
        skip=skip,
        skips=skip != "no skip",
        skip_step=skip_step,
        left_fits=_fits(join, made, "left", types),
        right_fits=_fits(join, made, "right", types),
        later=later,
        helpers=python_helpers(" ".join(text for _, text in later)),
        key_names=[f"key_{place}" for place in range(len(names.left.keys))],
        ended=f"{AFTER_ALL.value // 1000:_}",
    )


def _is_later(asked: Asked) -> bool:
    return asked.where is not None and asks_earlier(asked.where)


def _fits(join: Pattern, made: Automaton, side: Side, types: Mapping[Side, Mapping[str, Value]]) -> list[bool | str]:
    """For each of what is asked whether it holds of a side's rows: never, always, or a condition in Spark's SQL."""
    found: list[bool | str] = []
    for asked in made.asked:
        if asked.side != side or asked.where is None or _is_later(asked):
            found.append(asked.side == side)
        else:
            found.append(spark_sql(asked.where, kinds_of(join, side, asked.where, types)))
    return found


def _later(join: Pattern, asked: Asked, types: Mapping[Side, Mapping[str, Value]]) -> str:
    """What is asked of a row and of earlier rows of its match, in Python."""
    where = asked.where
    if where is None:
        raise wrong("where", where, "use a condition")

    def column(of: Column | EarlierColumn) -> str:
        if isinstance(of, EarlierColumn):
            place = f"{side_of(join, of.step).upper()}[{literal(of.column)}]"
            return f"earlier(held, path, {literal(of.step)}, {place})"
        return f"row[{asked.side.upper()}[{literal(of.name)}]]"

    return python(where, kinds_of(join, asked.side, where, types), column)


def _test(test: Test) -> str:
    """A test as Python."""
    match test.sign:
        case "true":
            return "True"
        case "asked":
            return f"fits[{test.number}]"
        case "not":
            return f"not ({_test(test.parts[0])})"
    return " and ".join(f"({_test(each)})" for each in test.parts)
