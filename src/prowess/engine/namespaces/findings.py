"""`engine.findings`: what the guard found in texts of this machine."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prowess.catalogue import findings as flagged
from prowess.errors import FindingStands
from prowess.journal.entries import GuardAccepted
from prowess.types import Problem

if TYPE_CHECKING:
    from prowess.engine.internals import Internals
    from prowess.guard.scan import Judged


@dataclass(frozen=True, slots=True)
class GuardFindings:
    """What the guard found in cards, skills and manifests of one's own: reported, and not held back."""

    _inner: "Internals"

    def list(self) -> tuple[Problem, ...]:
        """What the guard found and nobody has accepted."""
        inner = self._inner
        return flagged.standing(inner.journal, inner.world().view, inner.syncing.finding_stands)

    def accept(self, id: str, by: str) -> Problem:
        """A person accepts what the guard found, for exactly the content the capability has now.

        A card is selected, found and read like any other from then on. An order to drop one's instructions
        and a credential cannot be accepted in a card: FindingStands says what to change.

        id: the capability, such as "card:billing".
        by: who decides; the journal names them.
        """
        inner = self._inner
        view = inner.world().view
        capability = view.get(id)
        card = inner.parts.cards.guarded(capability) if capability.kind == "card" else None
        found = flagged.finding(self.list(), id, card.reasons if card else ())
        if card and card.absolute:
            raise FindingStands(id, card.absolute)
        with inner.database.writing() as transaction:
            inner.catalogue.accept(transaction, id, capability.digest, by, inner.now())
            entry = GuardAccepted(capability=id, digest=capability.digest, by=by, was=found.what)
            inner.journal.append(transaction, entry)
        return found

    def inspect(self, id: str) -> "tuple[Judged, ...]":
        """Judge each text of a capability as its author wrote it.

        id: the capability.
        """
        from prowess.guard.scan import found_in  # numpy, at the first look

        inner = self._inner
        inner.world().view.get(id)  # what does not exist is named with what is near
        now, approved = inner.catalogue.original(id), inner.catalogue.approved_version(id)
        return found_in(now.capability, now.detail, inner.guard.classifier, approved)
