"""The guard as cards use it: what may not be shown is rejected, other voices are taken out."""

from prowess.cards.card import Guard, Guarded
from prowess.guard.classifier import Classifier
from prowess.guard.sanitise import Finding, judge, neutralise

ABSOLUTE = frozenset({"override", "secret"})
"""An order to drop one's instructions and a credential stay out of prompts whoever wrote them down."""


def card_guard(classifier: Classifier | None) -> Guard:
    """A guard for the texts of cards; without a classifier it goes by rules alone."""

    def guard(text: str) -> Guarded:
        mended = neutralise(text, "card")
        judgement = judge(text, "card", classifier=classifier)
        grave = [finding for finding in judgement.findings if finding.severity == "high"]
        return Guarded(
            str(mended.text),
            _reasons(text, grave),
            mended.changed,
            _reasons(text, [finding for finding in grave if finding.family in ABSOLUTE]),
        )

    return guard


def _reasons(text: str, findings: list[Finding]) -> tuple[str, ...]:
    lines = ((one.told, text.count("\n", 0, one.place) + 1) for one in findings)
    return tuple(dict.fromkeys(f"{reason} (line {line})" for reason, line in lines))


def shipped_guard() -> Guard:
    """The guard with everything it has."""
    return card_guard(Classifier.open())
