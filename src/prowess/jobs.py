"""Work that must happen once, whichever of several processes does it: each piece is claimed with a lease.

Above: learning, evaluation, the making of vectors, the reading of servers. Below: one row for each piece
of work, taken by one conditional write in a short transaction; no session holds a lock. A process that dies
leaves a lease that runs out, and the next one that looks takes the work over. The clocks of two machines
never agree, so a lease only saves what would be done twice; that nothing is written twice is for the
transactions of the work itself.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from prowess.errors import ProwessError
from prowess.journal import stamp
from prowess.store.database import Database

LENGTH = timedelta(seconds=60)
"""How long a lease holds after its work was last heard of."""
ALWAYS = timedelta(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of work: who does it since when and until when, or did it last, and what came of it."""

    workspace: str
    work: str
    node: str
    since: str
    until: str
    ended: str = ""
    result: str = ""
    error: str = ""
    state: Literal["running", "done", "failed", "abandoned"] = "running"
    """Abandoned: whoever had it was not heard of again; the next one that looks takes it over."""


class Lease:
    """One piece of work that is ours until it ends, or until we are not heard of for too long."""

    def __init__(self, jobs: "Jobs", work: str, since: datetime) -> None:
        self._jobs = jobs
        self._work = work
        self._since = stamp(since)
        self._kept = since
        self.result = ""
        """What came of it, for people; said before it ends."""

    def keep(self) -> bool:
        """Say that the work goes on; false once somebody else has taken it over."""
        now = self._jobs.clock()
        if now - self._kept < LENGTH / 3:
            return True
        self._kept = now
        return self._write(
            "UPDATE job SET until = :until"
            " WHERE workspace = :workspace AND work = :work AND node = :node AND since = :since",
            until=stamp(now + LENGTH),
        )

    def say(self, result: str) -> None:
        """How far it has come, for people; and that it goes on."""
        self._kept = self._jobs.clock()
        self._write(
            "UPDATE job SET result = :result, until = :until"
            " WHERE workspace = :workspace AND work = :work AND node = :node AND since = :since",
            result=result, until=stamp(self._kept + LENGTH),
        )  # fmt: skip

    def end(self, error: str = "") -> None:
        """The work is done, or failed; what somebody else took over meanwhile is theirs to end."""
        self._write(
            "UPDATE job SET ended = :ended, result = :result, error = :error"
            " WHERE workspace = :workspace AND work = :work AND node = :node AND since = :since",
            ended=stamp(self._jobs.clock()), result=self.result, error=error,
        )  # fmt: skip

    def forget(self) -> None:
        """The work is done, and nobody asks for it again."""
        self._write(
            "DELETE FROM job"
            " WHERE workspace = :workspace AND work = :work AND node = :node AND since = :since"
        )

    def _write(self, sql: str, **values: str) -> bool:
        """Only while it is ours."""
        said = {**values, "work": self._work, "node": self._jobs.node, "since": self._since}
        with self._jobs.database.writing(flush=False) as transaction:
            return transaction.run(sql, **said) == 1


@dataclass(frozen=True, slots=True)
class Jobs:
    """The work of one workspace, as one process claims it."""

    database: Database
    clock: Callable[[], datetime]
    node: str

    def claim(self, work: str, every: timedelta = ALWAYS) -> Lease | None:
        """Take a piece of work; nothing where another has it, or where it was begun less than `every` ago.

        What nobody vouches for any more is taken over, and what a wrong clock took for ever.
        """
        now = self.clock()
        said = {"now": stamp(now), "until": stamp(now + LENGTH), "before": stamp(now - every)}
        with self.database.writing(flush=False) as transaction:
            row = transaction.one(
                "INSERT INTO job (workspace, work, node, since, until)"
                " VALUES (:workspace, :work, :node, :now, :until)"
                " ON CONFLICT (workspace, work) DO UPDATE"
                " SET node = excluded.node, since = excluded.since, until = excluded.until, ended = ''"
                " WHERE job.since > :until OR (job.ended <> '' AND job.since <= :before)"
                " OR (job.ended = '' AND job.until <= :now) RETURNING work",
                work=work, node=self.node, **said,
            )  # fmt: skip
        return Lease(self, work, now) if row else None

    @contextmanager
    def held(self, work: str, every: timedelta = ALWAYS) -> Iterator[Lease | None]:
        """A lease for a block, or nothing; it ends with the block, and says how that failed."""
        lease = self.claim(work, every)
        try:
            yield lease
        except BaseException as failure:
            if lease:
                with suppress(ProwessError):  # the store is away: the lease runs out
                    lease.end(
                        failure.message if isinstance(failure, ProwessError) else type(failure).__name__
                    )
            raise
        if lease:
            lease.end()

    def note(self, work: str, result: str) -> None:
        """Say what came of work whose parts were claimed one by one."""
        with self.held(work) as lease:
            if lease:
                lease.result = result

    def every(self, everywhere: bool = False) -> tuple[Job, ...]:
        """All that was ever claimed, in this workspace or in all of them, by name."""
        with self.database.reading(everywhere) as transaction:
            rows = transaction.all(
                "SELECT workspace, work, node, since, until, ended, result, error FROM job"
                " WHERE workspace = :workspace OR :everywhere = 1 ORDER BY workspace, work",
                everywhere=int(everywhere),
            )
        names = ("workspace", "work", "node", "since", "until", "ended", "result", "error")
        now = stamp(self.clock())
        return tuple(_with_state(Job(**dict(zip(names, row, strict=True))), now) for row in rows)


def _with_state(job: Job, now: str) -> Job:
    if job.ended:
        return replace(job, state="failed" if job.error else "done")
    return replace(job, state="running" if job.until > now else "abandoned")
