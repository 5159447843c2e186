"""What the journal says of cards, evolution and learning."""

from collections.abc import Mapping, Sequence

import msgspec

from prowess.journal.entry import Entry
from prowess.types import JsonObject

# --- cards -----------------------------------------------------------------------------------


class CardsResumed(Entry, frozen=True, kw_only=True):
    type = "cards.resumed"
    by: str = ""


class CardReviewed(Entry, frozen=True, kw_only=True):
    type = "cards.reviewed"
    selection: str
    card: str
    relevant: bool
    by: str = ""


class CardKept(Entry, frozen=True, kw_only=True):
    type = "cards.kept"
    card: str


class CardDropped(Entry, frozen=True, kw_only=True):
    type = "cards.dropped"
    card: str


class CardsFitted(Entry, frozen=True, kw_only=True):
    type = "cards.fitted"
    weights: Mapping[str, float]
    labels: int = 0


# --- evolution -------------------------------------------------------------------------------


class EvolutionTriggered(Entry, frozen=True, kw_only=True, omit_defaults=True):
    type = "evolution.triggered"
    trigger: str
    reason: str = ""
    by: str = ""
    provider: str = ""
    faculty: str = ""


class ViolationReported(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """An agent did what it must never do."""

    type = "violation"
    what: str = ""
    capability: str = ""
    by: str = ""


class InterventionReported(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """A person stepped in and put right what an agent did."""

    type = "intervention"
    what: str = ""
    by: str = ""


class ResultSuspected(Entry, frozen=True, kw_only=True):
    """The guard found that the result of a call speaks to the model."""

    type = "guard.suspected"
    capability: str
    call: str = ""


class ScoreContributed(Entry, frozen=True, kw_only=True):
    """What a program outside says of one axis, from 0 to 1."""

    type = "evolution.score"
    axis: str
    value: float
    by: str = ""


class EvolutionOrdered(Entry, frozen=True, kw_only=True):
    """A rollback that a person asked for."""

    type = "evolution.ordered"
    rollback_to: int
    by: str = ""


class EvolutionResumed(Entry, frozen=True, kw_only=True):
    type = "evolution.resumed"
    was: str = ""
    by: str = ""


class EvolutionParams(Entry, frozen=True, kw_only=True):
    type = "evolution.params"
    params: JsonObject
    by: str = ""


class EvolutionRepaired(Entry, frozen=True, kw_only=True):
    type = "evolution.repaired"
    rewritten: Sequence[str] = ()
    removed: Sequence[str] = ()
    by: str = ""


class EvolutionAnswered(Entry, frozen=True, kw_only=True):
    """What a person said to a proposal."""

    type = "evolution.answered"
    accepted: bool
    by: str = ""


class EvolutionCapability(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """A faculty that an agent gained, or lost."""

    type = "EvolutionCapability"
    agent: str
    provider: str
    faculty: str
    severity: str
    generation: int
    direction: str = "gained"
    """Or "returned" after a short while, or "lost"."""
    cause: str = ""
    """Why the agent can use the provider now, or no longer can."""


class EvolutionGeneration(Entry, frozen=True, kw_only=True, omit_defaults=True):
    type = "EvolutionGeneration"
    agent: str
    generation: int
    trigger: str
    reason: str = ""
    lost: Sequence[JsonObject] = ()
    tools: Sequence[str] = ()


class EvolutionBreach(Entry, frozen=True, kw_only=True):
    type = "EvolutionBreach"
    agent: str
    violation_type: str
    detail: str
    generation: int


class EvolutionRollback(Entry, frozen=True, kw_only=True, omit_defaults=True):
    type = "EvolutionRollback"
    agent: str
    from_generation: int
    to_generation: int
    generation: int
    reason: str
    switched_off: Sequence[str] | None = None
    switched_on: Sequence[str] | None = None
    kept_off: Sequence[str] | None = None
    missing: Mapping[str, str] | None = None


class EvolutionTrial(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """A step in the search for the cause of a regression."""

    type = "EvolutionTrial"
    agent: str
    step: str
    suspects: Sequence[JsonObject]
    reason: str
    generation: int
    switched_off: Sequence[str] = ()
    switched_on: Sequence[str] = ()
    kept_off: Sequence[str] = ()


class EvolutionWarning(Entry, frozen=True, kw_only=True):
    type = "EvolutionWarning"
    agent: str
    severity: str
    affected_area: str
    direction: str
    grace_remaining: int
    suggestion: str
    generation: int


class EvolutionRebalance(Entry, frozen=True, kw_only=True):
    type = "EvolutionRebalance"
    agent: str
    shifted_axes: Sequence[str]
    generation: int


# --- learning --------------------------------------------------------------------------------


class AlertRaised(Entry, frozen=True, kw_only=True):
    """People are told of something."""

    type = "alert.raised"
    alert: str
    kind: str = ""
    subject: str = ""
    text: str = ""


class AlertEnded(Entry, frozen=True, kw_only=True):
    """It is so no longer."""

    type = "alert.ended"
    alert: str
    kind: str = ""
    subject: str = ""


class LearningOrdered(Entry, frozen=True, kw_only=True):
    type = "learning.ordered"
    by: str = ""


class LedgerWritten(Entry, frozen=True, kw_only=True):
    """What one request demonstrated, in Links Notation."""

    type = "skill_ledger"
    id: str
    payload: str = ""


class LedgerCounted(Entry, frozen=True, kw_only=True):
    type = "skill_ledger:promotable"
    id: str
    payload: str = ""


class GapClosed(Entry, frozen=True, kw_only=True):
    type = "curriculum.closed"
    gap: str
    by: str = ""


class SkillProposed(Entry, frozen=True, kw_only=True):
    type = "skill.proposed"
    skill: str
    by: str = ""
    replaces: str = ""
    """The retired one that is proposed anew."""


class SuiteSaid(msgspec.Struct, frozen=True):
    clears: bool = False
    digest: str = ""
    verdict: str = ""


class SkillGated(Entry, frozen=True, kw_only=True):
    type = "skill.gated"
    skill: str
    by: str = ""
    regression: SuiteSaid | None = None
    benchmark: SuiteSaid | None = None


class _SkillDecided(Entry, frozen=True, kw_only=True):
    skill: str
    method: str = ""
    before: str = msgspec.field(name="from", default="")
    reason: str = ""
    by: str = ""


class SkillPromoted(_SkillDecided, frozen=True, kw_only=True):
    type = "skill.promoted"


class SkillDeprecated(_SkillDecided, frozen=True, kw_only=True):
    type = "skill.deprecated"


class SkillRetired(_SkillDecided, frozen=True, kw_only=True):
    type = "skill.retired"
