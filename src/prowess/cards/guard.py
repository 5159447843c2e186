"""The guard as cards use it: what may not be shown is rejected, other voices are taken out."""

from prowess.cards.card import Guard, Guarded
from prowess.guard.classifier import Classifier
from prowess.guard.sanitise import judge, neutralise


def card_guard(classifier: Classifier | None) -> Guard:
    """A guard for the texts of cards; without a classifier it goes by rules alone."""

    def guard(text: str) -> Guarded:
        mended = neutralise(text, "card")
        judgement = judge(text, "card", classifier=classifier)
        reasons = (
            f"{finding.told} (line {text.count(chr(10), 0, finding.place) + 1})"
            for finding in judgement.findings
            if finding.severity == "high"
        )
        return Guarded(str(mended.text), tuple(dict.fromkeys(reasons)), mended.changed)

    return guard


def shipped_guard() -> Guard:
    """The guard with everything it has."""
    return card_guard(Classifier.open())
