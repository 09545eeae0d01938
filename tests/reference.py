"""The definitions of the joins as plain loops: slow, obvious, and written without a look at the workbench's model.

Rows are dicts with at least "key" and "t" (any hashable key or None; whole microseconds). Nothing is late.
"""

from __future__ import annotations


def windows_of(window, t):
    """Tumbling and sliding windows that hold t, as (start, end)."""
    kind, *numbers = window
    if kind == "tumbling":
        size, offset = numbers
        slide = size
    else:
        size, slide, offset = numbers
    found = []
    start = offset + ((t - offset) // slide) * slide
    while start + size > t:
        found.append((start, start + size))
        start -= slide
    return sorted(found)


def sessions(gap, left, right):
    """{(key): [(start, end), ...]} over both sides; None keys make no session."""
    moments = {}
    for row in [*left, *right]:
        if row["key"] is not None:
            moments.setdefault(row["key"], []).append(row["t"])
    merged = {}
    for key, times in moments.items():
        spans = []
        for t in sorted(times):
            if spans and t <= spans[-1][1]:
                spans[-1] = (spans[-1][0], t + gap)
            else:
                spans.append((t, t + gap))
        merged[key] = spans
    return merged


def assigned(window, left, right):
    """For each side a list of (row index, (start, end))."""
    if window[0] != "session":
        return [
            [(i, span) for i, row in enumerate(side) for span in windows_of(window, row["t"])] for side in (left, right)
        ]
    gap = window[1]
    merged = sessions(gap, left, right)
    result = []
    for side in (left, right):
        mine = []
        for i, row in enumerate(side):
            spans = (
                [(row["t"], row["t"] + gap)]
                if row["key"] is None
                else [s for s in merged[row["key"]] if s[0] <= row["t"] < s[1]]
            )
            mine.append((i, spans[0]))
        result.append(mine)
    return result


def window_join(window, how, left, right):
    """Sorted list of (left index or None, right index or None, start, end); semi and anti give (left index, None, …)."""
    lefts, rights = assigned(window, left, right)
    out = []
    used_left, used_right = set(), set()
    for l, lspan in lefts:
        for r, rspan in rights:
            if left[l]["key"] is not None and left[l]["key"] == right[r]["key"] and lspan == rspan:
                used_left.add((l, lspan))
                used_right.add((r, rspan))
                if how in ("inner", "left", "right", "full"):
                    out.append((l, r, *lspan))
    for l, span in lefts:
        if (how in ("left", "full", "anti") and (l, span) not in used_left) or (
            how == "semi" and (l, span) in used_left
        ):
            out.append((l, None, *span))
    for r, span in rights:
        if how in ("right", "full") and (r, span) not in used_right:
            out.append((None, r, *span))
    return sort(out)


def interval_join(lower, upper, lower_exclusive, upper_exclusive, how, left, right):
    """Sorted list of (left index or None, right index or None)."""
    out, used_left, used_right = [], set(), set()
    for l, lrow in enumerate(left):
        for r, rrow in enumerate(right):
            distance = rrow["t"] - lrow["t"]
            above = distance > lower if lower_exclusive else distance >= lower
            below = distance < upper if upper_exclusive else distance <= upper
            if lrow["key"] is not None and lrow["key"] == rrow["key"] and above and below:
                used_left.add(l)
                used_right.add(r)
                if how in ("inner", "left", "right", "full"):
                    out.append((l, r))
    for l in range(len(left)):
        if (how in ("left", "full", "anti") and l not in used_left) or (how == "semi" and l in used_left):
            out.append((l, None))
    for r in range(len(right)):
        if how in ("right", "full") and r not in used_right:
            out.append((None, r))
    return sort(out)


def as_of_join(direction, tolerance, allow_exact, how, left, right):
    """Sorted list of (left index, right index or None); later right rows replace earlier ones at the same time."""
    out = []
    for l, lrow in enumerate(left):
        best = None
        for r, rrow in enumerate(right):
            apart = rrow["t"] - lrow["t"]
            faces = {"backward": apart <= 0, "forward": apart >= 0, "nearest": True}[direction]
            if lrow["key"] is None or lrow["key"] != rrow["key"] or not faces:
                continue
            if (apart == 0 and not allow_exact) or (tolerance is not None and abs(apart) > tolerance):
                continue
            rank = (-abs(apart), apart <= 0, r)
            best = max(best, (rank, r)) if best else (rank, r)
        if best:
            out.append((l, best[1]))
        elif how == "left":
            out.append((l, None))
    return sort(out)


def rules_join(as_of, keyed, left, right):
    """Sorted list of (left index, right index): each left row with the latest version of each rule, where it meets it.

    Left rows have "batch" and the columns that rules name; right rows "batch", "rule", "field", "op", "value", "withdrawn".
    """
    out = []
    for l, lrow in enumerate(left):
        if keyed and lrow["key"] is None:
            continue
        latest = {}
        for r, rrow in enumerate(right):
            if rrow["rule"] is None or (keyed and rrow["key"] != lrow["key"]):
                continue
            came = (rrow["batch"], rrow["t"], r) if as_of == "arrival" else (rrow["t"], r)
            reached = came[0] <= (lrow["batch"] if as_of == "arrival" else lrow["t"])
            if reached and came >= latest.get(rrow["rule"], (came,))[0]:
                latest[rrow["rule"]] = (came, r)
        for _, r in latest.values():
            if not right[r]["withdrawn"] and _meets(lrow.get(right[r]["field"]), right[r]["op"], right[r]["value"]):
                out.append((l, r))
    return sort(out)


def _meets(given, op, value):
    if given is None or value is None or op not in ("<", "<=", ">", ">=", "=", "==", "!=", "<>"):
        return False
    less, equal = given < value, given == value
    return {"<": less, "<=": less or equal, ">": not less and not equal, ">=": not less}.get(
        op, equal == (op in ("=", "=="))
    )


def cogroup(window, left, right):
    """Sorted list of (key, start, end, left indexes, right indexes)."""
    groups = {}
    for place, side in enumerate(assigned(window, left, right)):
        for i, span in side:
            key = (left, right)[place][i]["key"]
            if key is not None:
                groups.setdefault((key, *span), ([], []))[place].append(i)
    return sorted((*name, sorted(lists[0]), sorted(lists[1])) for name, lists in groups.items())


def sort(rows):
    return sorted(rows, key=lambda row: tuple((value is None, value or 0) for value in row))
