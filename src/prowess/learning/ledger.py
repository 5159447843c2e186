"""The ledger of one request: what it demonstrated becomes candidate skills, the rest a curriculum.

Above: promotion, which alone may satisfy a gate, and the engine. Below: evidence and Links Notation.
Recording is proposal-only: a candidate is born proposed with both flags of its gate false.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from prowess.learning.evidence import EvidenceTrail, NeedStatus, SolutionEvidence
from prowess.learning.ids import stable_id
from prowess.learning.links import Escaping, Record, written

SkillMode: TypeAlias = Literal["off", "accumulate"]
SkillStatus: TypeAlias = Literal["proposed", "stable", "deprecated", "retired"]

SKILL_MODES: tuple[SkillMode, ...] = ("off", "accumulate")
DEFAULT_MODE: SkillMode = "off"

NO_METHOD = "No catalogued method resolves this need; recorded as a gap to close."
NOT_CONNECTED = "A method exists but the need's chain did not connect end to end; recorded as a gap to close."
NOT_SATISFIED = "The need resolved to a method but was not satisfied; recorded as a gap to close."


@dataclass(frozen=True, slots=True)
class PromotionGate:
    """What must hold before promotion: tests that ran and a benchmark that gained."""

    has_tests: bool = False
    has_benchmark_delta: bool = False

    @property
    def satisfied(self) -> bool:
        return self.has_tests and self.has_benchmark_delta

    @property
    def status(self) -> SkillStatus:
        return "stable" if self.satisfied else "proposed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateSkill:
    """A reusable ability that a satisfied need demonstrated."""

    skill_id: str
    method: str
    source_span: str
    route: str | None = None
    work_unit_id: str | None = None
    gate: PromotionGate = PromotionGate()
    status: SkillStatus = field(init=False, default="proposed")
    promotable: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", self.gate.status)
        object.__setattr__(self, "promotable", self.gate.satisfied)

    def record(self) -> Record:
        pairs = [
            ("record_type", "candidate_skill"),
            ("skill_id", self.skill_id),
            ("method", self.method),
            ("source_span", self.source_span),
            ("status", self.status),
            ("has_tests", _truth(self.gate.has_tests)),
            ("has_benchmark_delta", _truth(self.gate.has_benchmark_delta)),
            ("promotable", _truth(self.promotable)),
        ]
        pairs += [("route", self.route)] if self.route is not None else []
        pairs += [("work_unit", self.work_unit_id)] if self.work_unit_id is not None else []
        return Record(self.skill_id, tuple(pairs))


@dataclass(frozen=True, slots=True, kw_only=True)
class CurriculumItem:
    """A recorded gap: a need that was not answered, kept as something to learn."""

    item_id: str
    need_id: str
    source_span: str
    status: NeedStatus
    reason: str

    def record(self) -> Record:
        pairs = (
            ("record_type", "curriculum_item"),
            ("item_id", self.item_id),
            ("need_id", self.need_id),
            ("source_span", self.source_span),
            ("status", self.status),
            ("reason", self.reason),
        )
        return Record(self.item_id, pairs)


@dataclass(frozen=True, slots=True)
class SkillLedger:
    """One candidate skill or one curriculum item for each trail, in the order of the trails."""

    frame_id: str
    skills: tuple[CandidateSkill, ...] = ()
    curriculum: tuple[CurriculumItem, ...] = ()

    @classmethod
    def from_evidence(cls, evidence: SolutionEvidence) -> "SkillLedger":
        """Sort the trails; nothing is dropped and nothing is promoted."""
        return cls(
            evidence.frame_id,
            tuple(_candidate(trail) for trail in evidence.trails if trail.demonstrated),
            tuple(_gap(trail) for trail in evidence.trails if not trail.demonstrated),
        )

    @property
    def proposed_count(self) -> int:
        return sum(skill.status == "proposed" for skill in self.skills)

    @property
    def stable_count(self) -> int:
        return sum(skill.status == "stable" for skill in self.skills)

    @property
    def promotable_count(self) -> int:
        return sum(skill.promotable for skill in self.skills)

    @property
    def curriculum_count(self) -> int:
        return len(self.curriculum)

    def records(self) -> tuple[Record, ...]:
        header = [
            ("record_type", "skill_ledger"),
            ("frame_id", self.frame_id),
            ("skill_count", str(len(self.skills))),
            ("proposed", str(self.proposed_count)),
            ("stable", str(self.stable_count)),
            ("promotable", str(self.promotable_count)),
            ("curriculum_count", str(self.curriculum_count)),
        ]
        header += [("skill", skill.skill_id) for skill in self.skills]
        header += [("curriculum", item.item_id) for item in self.curriculum]
        first = Record(stable_id("skill_ledger", self.frame_id), tuple(header))
        skills = (skill.record() for skill in self.skills)
        return (first, *skills, *(item.record() for item in self.curriculum))

    def to_links_notation(self, escaping: Escaping = "corrected") -> str:
        return written(self.records(), escaping)


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One line of a trace; its id also holds its place, so that no two events share one."""

    id: str
    kind: str
    payload: str


def appended(trace: tuple[TraceEvent, ...], kind: str, payload: str) -> tuple[TraceEvent, ...]:
    return (*trace, TraceEvent(stable_id(kind, f"{kind}:{len(trace)}:{payload}"), kind, payload))


def ledger_events(
    ledger: SkillLedger, trace: tuple[TraceEvent, ...] = (), escaping: Escaping = "corrected"
) -> tuple[TraceEvent, ...]:
    """The pair a ledger adds to a trace: its text, and how many skills may be promoted."""
    trace = appended(trace, "skill_ledger", ledger.to_links_notation(escaping))
    return appended(trace, "skill_ledger:promotable", str(ledger.promotable_count))


def _candidate(trail: EvidenceTrail) -> CandidateSkill:
    method = trail.method or ""
    return CandidateSkill(
        skill_id=stable_id("candidate_skill", f"{method}:{trail.source_span}"),
        method=method,
        source_span=trail.source_span,
        route=trail.route,
        work_unit_id=trail.work_unit_id,
    )


def _gap(trail: EvidenceTrail) -> CurriculumItem:
    return CurriculumItem(
        item_id=stable_id("curriculum_item", trail.need_id),
        need_id=trail.need_id,
        source_span=trail.source_span,
        status=trail.status,
        reason=_reason(trail),
    )


def _reason(trail: EvidenceTrail) -> str:
    if trail.method is None:
        return NO_METHOD
    return NOT_SATISFIED if trail.connected else NOT_CONNECTED


def _truth(value: bool) -> str:
    return "true" if value else "false"
