"""What kinds of sets there are, what is drawn from each, and its share of the training."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amounts:
    """How many pairs of each kind are drawn: for each query, for each tool."""

    reworded: float = 0.5
    joined: float = 0.3
    asked_for: float = 1.0
    untold: float = 0.3
    named: float = 0.3
    whole_text: float = 0.4


@dataclass(frozen=True, slots=True)
class Kind:
    """Sets that are alike; `draws` is how many times each is drawn from."""

    share: float
    draws: int
    amounts: Amounts = Amounts()


LABELLED = Kind(share=0.35, draws=3)
# Tools of harvested sets are drawn from where they were made; a translated synopsis is never reworded by
# English rules.
KINDS = {
    re.compile(r"written_(openapi|debian|python)_"): Kind(0.12, 3, Amounts(asked_for=0, named=0)),
    re.compile(r"written_"): Kind(0.38, 3),
    re.compile(r"openapi_"): Kind(0.07, 1),
    re.compile(r"debian_[a-z]"): Kind(0.08, 1, Amounts(reworded=0, joined=0, asked_for=0, named=0)),
    # These gained nothing by themselves: they only lend their tools to the written requests.
    re.compile(r"debian_\d|python_"): Kind(0, 0),
}


def kind_of(name: str) -> Kind:
    return next((kind for pattern, kind in KINDS.items() if pattern.match(name)), LABELLED)
