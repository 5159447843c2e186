"""Calls over time, and how long they take: of all, of one server, of one agent.

Above: the operations on use. Below: the journal.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

from prowess.catalogue.stored import several
from prowess.engine.listing import field_of
from prowess.engine.use_figures import MADE, RecordedUse, recorded_uses
from prowess.journal import stamp

if TYPE_CHECKING:
    from prowess.engine.internals import Internals

MAX_USES = 5_000
Window: TypeAlias = Literal["day", "week", "month"]
SPANS: dict[Window, tuple[timedelta, timedelta]] = {
    "day": (timedelta(days=1), timedelta(hours=1)),
    "week": (timedelta(days=7), timedelta(hours=6)),
    "month": (timedelta(days=30), timedelta(days=1)),
}
"""How far each looks back, and how much time one point of it stands for."""
LIMITS = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000)
"""Milliseconds between the bars of a distribution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyBar:
    """How many calls took less than `below` milliseconds, and not less than the bar before; 0: any longer."""

    below: int
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UseOverTime:
    times: tuple[int, ...]
    """The beginning of each step, in seconds; the last one is not over."""
    calls: tuple[int, ...]
    failed: tuple[int, ...]
    denied: tuple[int, ...]
    latency: tuple[LatencyBar, ...]
    """From the first bar that has calls to the last."""
    is_whole: bool
    """Whether every call of that time is counted; of very many, only the latest are."""


def use_over_time(
    inner: "Internals", window: Window, server: str = "", agent: str | None = None
) -> UseOverTime:
    """What the journal says of the calls since then.

    server: only of what this one brings; empty for all.
    agent: only those of this agent; None for all.
    """
    times, seconds = steps(window, inner.clock())
    since = stamp(datetime.fromtimestamp(times[0], UTC))
    uses = recorded_uses(inner.history, MAX_USES, agent, since)
    is_whole = len(uses) < MAX_USES
    if server:
        view = inner.world().view
        used = several(view.capabilities, {one.capability for one in uses})
        own = {id for id, c in used.items() if field_of(c, "server") == server}
        uses = tuple(one for one in uses if one.capability in own)
    made = [one for one in uses if one.ending in MADE]
    return UseOverTime(
        times=times,
        calls=_stepped(made, times, seconds),
        failed=_stepped((one for one in made if one.ending == "failed"), times, seconds),
        denied=_stepped((one for one in uses if one.ending == "denied"), times, seconds),
        latency=_latency(made),
        is_whole=is_whole,
    )


def steps(window: Window, now: datetime) -> tuple[tuple[int, ...], int]:
    """The beginning of each step of a window, in seconds, and how long a step is."""
    back, step = SPANS[window]
    seconds = int(step.total_seconds())
    last = int(now.timestamp()) // seconds * seconds
    return tuple(range(last - int(back.total_seconds()) + seconds, last + seconds, seconds)), seconds


def _stepped(uses: Iterable[RecordedUse], times: tuple[int, ...], seconds: int) -> tuple[int, ...]:
    found = dict.fromkeys(times, 0)
    for one in uses:
        at = int(datetime.fromisoformat(one.at).timestamp()) // seconds * seconds
        if at in found:
            found[at] += 1
    return tuple(found.values())


def _latency(made: Iterable[RecordedUse]) -> tuple[LatencyBar, ...]:
    counts = dict.fromkeys((*LIMITS, 0), 0)
    for one in made:
        if one.milliseconds is not None:
            counts[next((limit for limit in LIMITS if one.milliseconds < limit), 0)] += 1
    bars = [LatencyBar(below=below, calls=number) for below, number in counts.items()]
    used = [place for place, bar in enumerate(bars) if bar.calls]
    return tuple(bars[used[0] : used[-1] + 1]) if used else ()
