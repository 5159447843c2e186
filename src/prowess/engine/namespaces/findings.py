"""`engine.findings`: what the guard found in texts of this machine."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from prowess.catalogue import findings as flagged
from prowess.catalogue.catalogue import Catalogue
from prowess.engine.sync import OpenedGuard
from prowess.journal import Journal
from prowess.types import Problem
from prowess.world import Worlds

if TYPE_CHECKING:
    from prowess.guard.scan import Judged


@dataclass(frozen=True, slots=True)
class GuardFindings:
    """What the guard found in cards, skills and manifests of one's own: reported, and not held back."""

    _journal: Journal
    _catalogue: Catalogue
    _worlds: Worlds
    _guard: OpenedGuard

    def list(self) -> tuple[Problem, ...]:
        """What the guard found and nobody has accepted."""
        return flagged.standing(self._journal, self._worlds.now().view)

    def accept(self, id: str, by: str) -> Problem:
        """A person accepts what the guard found, for exactly the content the capability has now.

        id: the capability, such as "card:billing".
        by: who decides; the journal names them.
        """
        return flagged.accept(self._journal, self._worlds.now().view, id, by)

    def inspect(self, id: str) -> "tuple[Judged, ...]":
        """Judge each text of a capability as its author wrote it.

        id: the capability.
        """
        from prowess.guard.scan import found_in  # numpy, at the first look

        self._worlds.now().view.get(id)  # what does not exist is named with what is near
        now, approved = self._catalogue.original(id), self._catalogue.approved_version(id)
        return found_in(now.capability, now.detail, self._guard.classifier, approved)
