"""A Kafka topic."""

from __future__ import annotations

from workbench.script._places import JOINED, Argument, DeadLetters, beside
from workbench.script.connectors import KAFKA

__all__ = ["DEAD_LETTERS"]

DEAD_LETTERS = DeadLetters(
    name="kafka",
    target="to the topic --dead-letters, at least once, with an id in the headers",
    template=beside(__file__),
    arguments=(Argument("--dead-letters", f"{JOINED}_dead_letters", "topic for the rows that were dropped"),),
    connectors=(KAFKA,),
)
