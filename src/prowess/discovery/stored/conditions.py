"""Conditions over the rows of an index in the store: what an agent may use, what a person filters by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RowCondition:
    """Something that is true of some rows, which a statement calls `c`."""

    text: str
    values: Mapping[str, object] = field(default_factory=dict)
    """What stands for its parameters."""

    def and_also(self, other: "RowCondition") -> "RowCondition":
        """Both; no parameter of one may be called like one of the other."""
        if EVERYTHING in (self, other):
            return other if self == EVERYTHING else self
        return RowCondition(f"({self.text}) AND ({other.text})", {**self.values, **other.values})

    def negated(self) -> "RowCondition":
        return RowCondition(f"NOT ({self.text})", self.values)


EVERYTHING = RowCondition("TRUE")


def any_of(conditions: Sequence[RowCondition]) -> RowCondition:
    """At least one of these; no two parameters may be called alike."""
    values = {name: value for one in conditions for name, value in one.values.items()}
    return RowCondition(" OR ".join(f"({one.text})" for one in conditions) or "FALSE", values)
