"""A quick look at the result of a call: does something in it speak to the model rather than to its user?

Above stands the gateway, which looks at every result of a server that is not fully trusted. Nearly all hold
nothing that points at an order, and are passed over by a search for single words; only what stands around
such words is judged, and of a long result only the first few places.
"""

from pathlib import Path

from prowess.guard.classifier import Classifier
from prowess.guard.sanitise import judge
from prowess.word_lists import lists_in

ENOUGH = 3
WORDS = Path(__file__).with_name("prefilter.toml")
STRETCH, STEP = 900, 600
MOST_STRETCHES = 4
"""How many stretches of one result are judged; the time is bounded, the promise is not complete."""
MOST_CHARACTERS = 200_000


def speaks_to_the_model(text: str, classifier: Classifier | None) -> bool:
    """Whether a result holds text that looks like instructions."""
    return any(
        judge(stretch, "result", classifier=classifier).verdict == "reject" for stretch in pointed_at(text)
    )


def pointed_at(text: str) -> list[str]:
    """The stretches in which words point at an order, the first of them; none in nearly every result."""
    small = text[:MOST_CHARACTERS].lower()
    lists = lists_in(WORDS)
    words = [(word, ENOUGH) for word in lists["strong"] if word in small]
    words += [(word, 1) for word in lists["weak"] if word in small]
    if sum(weight for _, weight in words) < ENOUGH:
        return []
    found: list[str] = []
    for start in range(0, max(1, len(small) - (STRETCH - STEP)), STEP):
        stretch = small[start : start + STRETCH]
        if sum(weight for word, weight in words if word in stretch) >= ENOUGH:
            found.append(text[start : start + STRETCH])
            if len(found) == MOST_STRETCHES:
                break
    return found
