"""The guard as cards use it: what may not be shown is rejected, other voices are taken out."""

from prowess.context.cards import Guard, Guarded
from prowess.context.classifier import Classifier
from prowess.context.sanitise import judge, neutralise


def card_guard(classifier: Classifier | None) -> Guard:
    """A guard for the texts of cards; without a classifier it goes by rules alone."""

    def guard(text: str) -> Guarded:
        mended = neutralise(text, "card")
        judgement = judge(text, "card", classifier=classifier)
        reasons = (finding.reason for finding in judgement.findings if finding.severity == "high")
        rejected = tuple(dict.fromkeys(reasons)) if judgement.verdict == "reject" else ()
        return Guarded(str(mended.text), rejected, mended.changed)

    return guard


def shipped_guard() -> Guard:
    """The guard with everything it has."""
    return card_guard(Classifier.open())
