"""The verdicts of rules joins, and their sentences."""

from __future__ import annotations

from workbench.verdicts import IN_OUTPUT, Verdict, Wording

__all__ = ["RuleVerdict"]

_CHECK = "Check the row of the rule: its operator, its field and its value."


class RuleVerdict(Verdict):
    """The verdicts of rules joins."""

    MEETS_RULES = Wording(
        "matched", "meets rules of {other}", "meets {rules_met}, first in micro-batch {batch}{otherwise}", IN_OUTPUT
    )
    MET_BY_ROWS = Wording(
        "matched", "met by rows of {other}", "{rule}: met by {rows} of {other}, first in micro-batch {batch}", IN_OUTPUT
    )
    MEETS_NONE = Wording(
        "unmatched",
        "it meets no rule of {other} that is in force",
        "{in_force} in force, but it meets none: {nearest_rule}{then}",
        "Compare the value of the row with that of the nearest rule.",
        "condition",
    )
    NO_RULE_IN_FORCE = Wording(
        "unmatched",
        "no rule of {other} in force",
        "no rule of {other} was in force{not_yet}{then}",
        "Send rules before the rows that they apply to, with earlier event times.",
    )
    NO_ROW_CAME = Wording(
        "unmatched",
        "no row of {other} came while it was in force",
        "{rule}: no row of {other} came while it was in force{then_fix}",
        "Check the rule's key, and when it was replaced.",
    )
    NO_ROW_MET_IT = Wording(
        "unmatched",
        "no row of {other} met it",
        "{rule}: {rows_in_force} of {other} came while it was in force, and none met it{then_fix}",
        "Compare the value of the rule with those of the rows.",
        "condition",
    )
    WITHOUT_NAME = Wording(
        "unmatched",
        "its rule is null",
        "its {rule_column} is null, so it belongs to no rule{then_fix}",
        "Fill in the column with the rule's name.",
    )
    REPLACED_AT_ONCE = Wording(
        "unmatched",
        "another version replaced it at once",
        "{replaced_by_another}{then_fix}",
        "Nothing: only the last version counts.",
    )
    WITHDRAWS = Wording(
        "unmatched",
        "it withdraws a rule",
        "it withdraws rule {rule_name} from {since} on{then_fix}",
        "Nothing: no row meets it.",
    )
    WITHDRAWS_NOTHING = Wording(
        "unmatched",
        "it withdraws a rule that does not exist",
        "it withdraws rule {rule_name}, which had no version before {since}{then_fix}",
        "Check the rule's name.",
    )
    NO_ROW_CAN_MEET_IT = Wording(
        "unmatched", "no row can meet it", "no row can meet {rule}: {meaningless}{then_fix}", _CHECK
    )


# Clauses of the sentences above.
OTHERWISE = "; {clock}, it would meet {rules_otherwise}"
BY_EVENT_TIME = "by event time"
NOTHING_LATE = "with no version late"
NOT_YET = " when it came"
NOT_THEN = " at its event time"
RULE_LATE = ": {late_rule} came too late"
NEAREST = "the nearest is {nearest}; it has {has}{away}"
ONLY = "{nearest}; it has {has}{away}"
AWAY = ", {away_by} away"
INCOMPARABLE = "{nearest}; {meaning}"
INCOMPARABLE_VALUE = "{nearest}; it has {has}"
REPLACED_IN_BATCH = "another version of {rule_name} in the same micro-batch replaced it"
REPLACED_AT_TIME = "another version of {rule_name}, at the same time, came after it and replaced it"

# Why a late row has no partner even if it is kept.
MEETS_NO_RULE = "but it would have met no rule"
WOULD_WITHDRAW = "and would have withdrawn {rule_name} from {since_time} on"
NO_ROW = "but no row would have met it"

# Why no row can meet a version.
NULL = "its {column} is null"
NO_OPERATOR = "there is no operator {operator}"
NO_COLUMN = "{other} has no column {column} of {type}"

# What `near` and `until` are filled with.
LEFT_ALONE = "no rule of {other} was in force"
RIGHT_ALONE = "no row of {other} met it while it was in force"
IN_FORCE = "it is in force, and rows of {other} may still meet it"
IN_FORCE_ON_ARRIVAL = "it is in force, and rows of {other} that arrive later may meet it"
