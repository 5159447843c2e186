"""What was learnt: skills with their gates, and what agents needed and could not do."""

from typing import Annotated, Literal

import msgspec

from prowess.learning.gaps import Gap
from prowess.learning.ledger import SkillLedger
from prowess.learning.lessons import Skill
from prowess.learning.promotion import Gated, SuiteResult
from prowess.learning.usage import Closing, UsageLine
from prowess.web.operations import Call, Limit, Name, Note, Operation, RequestParams, Text
from prowess.web.paging import Page, numbered

Status = Literal["", "proposed", "stable", "deprecated", "retired"]


class SkillsQuery(RequestParams, frozen=True, kw_only=True):
    status: Status = ""
    cursor: str = ""
    limit: Limit = 50


class Gaps(RequestParams, frozen=True, kw_only=True):
    closed: bool = False
    """Also those that are closed."""
    cursor: str = ""
    limit: Limit = 20


class Reason(RequestParams, frozen=True, kw_only=True):
    reason: Note = ""


class GateSkills(RequestParams, frozen=True, kw_only=True):
    skills: Annotated[tuple[Name, ...], msgspec.Meta(min_length=1, max_length=200)]


class Proposed(RequestParams, frozen=True, kw_only=True):
    method: Name
    spans: Annotated[
        tuple[Annotated[Text, msgspec.Meta(min_length=1)], ...], msgspec.Meta(min_length=1, max_length=100)
    ]


class SkillWhole(msgspec.Struct, frozen=True):
    skill: Skill
    results: tuple[SuiteResult, ...]
    """Everything its gates ever measured, oldest first."""


class LearnAnswer(msgspec.Struct, frozen=True):
    on: bool
    skills: int
    gaps: int


class GapShown(msgspec.Struct, frozen=True):
    gap: Gap
    closing: Closing


def learn(call: Call) -> LearnAnswer:
    learnt = call.engine.learning.learn(by=call.by)
    return LearnAnswer(call.engine.learning.on, len(learnt.skills), len(learnt.gaps))


def skills(call: Call) -> Page[Skill]:
    q: SkillsQuery = call.query
    return numbered(call.engine.learning.skills(q.status), q.cursor, q.limit)


def skill(call: Call) -> SkillWhole:
    id = call.path["id"]
    return SkillWhole(call.engine.learning.skill(id), call.engine.learning.results(id))


def propose(call: Call) -> Skill:
    return call.engine.learning.propose(msgspec.json.encode(call.body), "proposal", call.by)


def gate(call: Call) -> tuple[Gated, ...]:
    return call.engine.learning.gate(*call.body.skills, by=call.by)


def promote(call: Call) -> Skill:
    return call.engine.learning.promote(call.path["id"], call.by)


def promote_all(call: Call) -> tuple[Skill, ...]:
    return call.engine.learning.promote_all()


def deprecate(call: Call) -> Skill:
    return call.engine.learning.deprecate(call.path["id"], call.by, call.body.reason)


def retire(call: Call) -> Skill:
    return call.engine.learning.retire(call.path["id"], call.by, call.body.reason)


def usage(call: Call) -> tuple[UsageLine, ...]:
    return call.engine.catalogue.usage()


def ledger(call: Call) -> SkillLedger:
    return call.engine.learning.ledger(call.path["offer"])


def gaps(call: Call) -> Page[GapShown]:
    q: Gaps = call.query
    found = numbered(call.engine.learning.gaps(q.closed), q.cursor, q.limit)
    return Page(tuple(_shown(call, gap) for gap in found.items), found.next)


def gap(call: Call) -> GapShown:
    return _shown(call, call.engine.learning.gap(call.path["id"]))


def close(call: Call) -> Gap:
    return call.engine.learning.close_gap(call.path["id"], call.by)


def _shown(call: Call, gap: Gap) -> GapShown:
    return GapShown(gap, call.engine.learning.closing(gap))


OPERATIONS = (
    Operation(id="learning.learn", slow=True, method="POST", path="/learning/learn", run=learn,
              answer=LearnAnswer,
              role="operator", does="Turn what happened since the last time into skills and gaps"),
    Operation(id="learning.usage", slow=True, method="GET", path="/learning/usage", run=usage,
              answer=tuple[UsageLine, ...], does="What each provider and skill costs, and what use was made"),
    Operation(id="learning.ledger", quotes=True, method="GET", path="/learning/ledger/{offer}", run=ledger,
              answer=SkillLedger, does="What one request demonstrated"),
    Operation(id="skills.list", quotes=True,
              method="GET", path="/skills", run=skills, query=SkillsQuery, answer=Page[Skill],
              does="Every skill, the one seen last first"),
    Operation(id="skills.propose", method="POST", path="/skills", run=propose, body=Proposed, answer=Skill,
              status=201, role="operator", signed=True, does="Suggest a skill"),
    Operation(id="skills.show", quotes=True, method="GET", path="/skills/{id}", run=skill, answer=SkillWhole,
              does="One skill, with everything its gates measured"),
    Operation(id="skills.gate", slow=True, method="POST", path="/skills/gate", run=gate, body=GateSkills,
              answer=tuple[Gated, ...], role="operator", signed=True, does="Run the gates of some skills"),
    Operation(id="skills.promote_all", method="POST", path="/skills/promote", run=promote_all,
              answer=tuple[Skill, ...], role="operator",
              does="Promote whatever has passed its gates, where the configuration allows it"),
    Operation(id="skills.promote", method="POST", path="/skills/{id}/promote", run=promote, answer=Skill,
              role="operator", signed=True, does="Rely on a skill from the next sync on"),
    Operation(id="skills.deprecate", method="POST", path="/skills/{id}/deprecate", run=deprecate,
              body=Reason, answer=Skill, role="operator", signed=True, does="Rely on a skill no more"),
    Operation(id="skills.retire", method="POST", path="/skills/{id}/retire", run=retire, body=Reason,
              answer=Skill, role="operator", signed=True, does="Withdraw a skill for good"),
    Operation(id="curriculum.list", quotes=True, method="GET", path="/curriculum", run=gaps, query=Gaps,
              answer=Page[GapShown], does="What was needed and not answered, the most worth closing first"),
    Operation(id="curriculum.show", quotes=True,
              method="GET", path="/curriculum/{id}", run=gap, answer=GapShown,
              does="One gap, and what would close it"),
    Operation(id="curriculum.close", method="POST", path="/curriculum/{id}/close", run=close, answer=Gap,
              role="operator", signed=True, does="Say that a gap needs nothing more"),
)  # fmt: skip
