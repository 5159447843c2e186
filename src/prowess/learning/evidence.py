"""What one request proved: for each need, which method was reached and whether it helped.

Above: the ledger, which sorts needs into skills and gaps. Below: nothing; these are values, read from a
document or made from the journal.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

from prowess.errors import LearningError

NeedStatus: TypeAlias = Literal["pending", "satisfied", "deferred", "blocked", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceTrail:
    """One need from the words it was found in to the method that answered it, or to where it ended."""

    need_id: str
    source_span: str
    work_unit_id: str | None = None
    status: NeedStatus = "pending"
    route: str | None = None
    method: str | None = None
    method_via_alias: bool = False
    connected: bool = False

    @property
    def demonstrated(self) -> bool:
        return self.connected and self.status == "satisfied" and self.method is not None


@dataclass(frozen=True, slots=True)
class SolutionEvidence:
    """Every need of one request, in its order."""

    frame_id: str
    trails: tuple[EvidenceTrail, ...]

    @property
    def accounted_for(self) -> bool:
        return bool(self.trails) and all(trail.connected for trail in self.trails)

    @property
    def fully_resolved(self) -> bool:
        return self.accounted_for and all(trail.status == "satisfied" for trail in self.trails)

    @property
    def resolved_to_method(self) -> int:
        return sum(trail.method is not None for trail in self.trails)


def read_evidence(document: bytes, place: str) -> SolutionEvidence:
    """The evidence of a JSON document, as another program wrote it."""
    try:
        return msgspec.json.decode(document, type=SolutionEvidence)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as failure:
        remedy = "give an object with frame_id and trails"
        raise LearningError(place, f"is no evidence ({failure})", remedy) from None
