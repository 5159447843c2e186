"""Gaps that gather over requests: what agents needed and did not get.

Above: the engine. Below: the store, whose table of gaps this module owns.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import log2

import msgspec

from prowess.errors import NotFound
from prowess.learning.ids import stable_id
from prowess.learning.outcomes import TRIED_AND_FAILED
from prowess.learning.paraphrases import normalised, telling
from prowess.learning.use_store import Answer, Met
from prowess.store.database import Transaction

MAX_AGENTS = 20
HALF_LIFE_DAYS = 14.0
ANSWERED = "answered since"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A need that was met more than once or not, and never answered."""

    id: str
    span: str
    status: str = ""
    reason: str = ""
    times: int = 0
    since: str = ""
    last_seen: str = ""
    agents: tuple[str, ...] = ()
    closed_by: str = ""
    closed_at: str = ""
    answer: str = ""
    """The capability that answered it since."""

    @property
    def failed(self) -> str:
        """What was tried for it and failed, if that is why it is open."""
        tried, found, _ = self.reason.partition(TRIED_AND_FAILED)
        return tried if found else ""


def gap_id(span: str) -> str:
    return stable_id("curriculum_item", normalised(span))


def counted(gap: Gap, met: Sequence[Met], answers: Sequence[Answer]) -> Gap:
    """The gap with each time it was met and each time the same need was answered, the newest first.

    What was answered for one of those who met it, after they had, is closed; met again, it is open.
    """
    latest = answers[0] if answers else None
    if not met:
        answered = _answered(gap, latest) if latest else replace(gap, closed_by=gap.closed_by or ANSWERED)
        return replace(answered, times=0)
    now = replace(
        gap,
        status=met[0].status,
        reason=met[0].reason,
        times=len(met),
        since=met[-1].at,
        last_seen=met[0].at,
        agents=tuple(sorted({each.agent for each in met}))[:MAX_AGENTS],
    )
    if latest and latest.at > met[0].at:
        return _answered(now, latest)
    by_itself = gap.closed_by == ANSWERED
    reopened = bool(gap.closed_by) and (by_itself or met[0].at > gap.closed_at)
    return replace(now, closed_by="", closed_at="", answer="") if reopened else now


def _answered(gap: Gap, by: Answer) -> Gap:
    """Closed by itself, unless a person had closed it before."""
    if gap.closed_by and gap.closed_by != ANSWERED:
        return gap
    return replace(gap, closed_by=ANSWERED, closed_at=by.at, answer=by.method)


def weight(gap: Gap, now: datetime) -> float:
    """How much closing a gap would help: how often, how lately and by how many it was met."""
    days = max(0.0, (now - datetime.fromisoformat(gap.last_seen)).total_seconds() / 86400)
    freshness: float = 0.5 ** (days / HALF_LIFE_DAYS)
    return log2(1 + gap.times) * log2(1 + len(gap.agents)) * freshness


def ranked(gaps: Sequence[Gap], now: datetime) -> tuple[Gap, ...]:
    return tuple(sorted(gaps, key=lambda gap: (-weight(gap, now), gap.id)))


# --- the table -------------------------------------------------------------------------------


def keep(transaction: Transaction, gap: Gap) -> None:
    transaction.run(
        "INSERT INTO curriculum_gap (workspace, id, span, telling, last_seen, closed_by, record)"
        " VALUES (:workspace, :id, :span, :telling, :last_seen, :closed_by, :record)"
        " ON CONFLICT (workspace, id)"
        " DO UPDATE SET last_seen = excluded.last_seen, closed_by = excluded.closed_by,"
        " telling = excluded.telling, record = excluded.record",
        id=gap.id, span=gap.span, telling=telling(gap.span), last_seen=gap.last_seen,
        closed_by=gap.closed_by, record=msgspec.json.encode(gap).decode(),
    )  # fmt: skip


def find(transaction: Transaction, id: str) -> Gap | None:
    row = transaction.one(
        "SELECT record FROM curriculum_gap WHERE workspace = :workspace AND id = :id", id=id
    )
    return _gap(row[0]) if row else None


def of_the_same_need(transaction: Transaction, span: str) -> tuple[Gap, ...]:
    """The gaps of needs in these words, in whatever order."""
    rows = transaction.all(
        "SELECT record FROM curriculum_gap WHERE workspace = :workspace AND telling = :telling ORDER BY id",
        telling=telling(span),
    )
    return tuple(_gap(record) for (record,) in rows)


def get(transaction: Transaction, id: str) -> Gap:
    """The gap of this id, or of the only id that begins so."""
    rows = transaction.all("SELECT id, record FROM curriculum_gap WHERE workspace = :workspace ORDER BY id")
    short = id.removeprefix("curriculum_item_")
    fitting = [record for known, record in rows if known.removeprefix("curriculum_item_").startswith(short)]
    if len(fitting) != 1:
        raise NotFound("gap", id, [known for known, _ in rows], "see: prowess gaps list")
    return _gap(fitting[0])


def every(transaction: Transaction, closed: bool = False) -> tuple[Gap, ...]:
    """The open gaps; or all of them."""
    rows = transaction.all(
        "SELECT record FROM curriculum_gap"
        " WHERE workspace = :workspace AND (:closed = 1 OR closed_by = '') ORDER BY id",
        closed=int(closed),
    )
    return tuple(_gap(record) for (record,) in rows)


def _gap(record: str) -> Gap:
    return msgspec.json.decode(record, type=Gap)
