"""What a rollback brings back, and what it leaves off. Pure.

A rollback never switches on what a person switched off. After a breach of safety it switches nothing on at
all: the answer to a breach takes things away.
"""

from collections.abc import Collection

from prowess.evolution.records import AgentState, EvaluationContext, Restore
from prowess.evolution.snapshot import Snapshot
from prowess.evolution.triggers import Trigger

GONE = "it has left the catalogue"


def snapshot_after(
    wanted: Snapshot, standing: AgentState, setting: EvaluationContext, trigger: Trigger
) -> Snapshot:
    """What is active after a rollback to what was wanted."""
    # What an earlier rollback switched off stays off, unless a person asks for it back.
    withheld = () if trigger == "Rollback" else standing.withheld
    off = set(wanted.active_providers) - set(setting.snapshot.active_providers)
    stays_off = off if trigger == "SafetyBreach" else off & setting.decided_off
    # What came since, or came anew, is unproven.
    unproven = () if trigger == "Rollback" else standing.probation.arrived
    return wanted.without({*withheld, *stays_off, *unproven, *missing(off, setting)})


def switches(wanted: Snapshot, after: Snapshot, setting: EvaluationContext, why: str) -> Restore:
    """What must be switched to get there, and what keeps the rest off."""
    active, keep = set(setting.snapshot.active_providers), set(after.active_providers)
    away = set(wanted.active_providers) - active
    kept_off = away & setting.decided_off
    off, on = tuple(sorted(active - keep)), tuple(sorted(keep - active))
    return Restore(off, on, why, tuple(sorted(kept_off)), missing(away - kept_off, setting))


def missing(providers: Collection[str], setting: EvaluationContext) -> dict[str, str]:
    """The providers that no switch brings back, and why."""
    there = setting.catalogue
    gone = {p: GONE for p in sorted(providers) if there is not None and p not in there}
    return gone | {p: setting.barred[p] for p in sorted(providers) if p in setting.barred}


def still_withheld(standing: AgentState, snapshot: Snapshot) -> dict[str, bool]:
    """What rollbacks switched off and nobody has switched on since.

    A provider that was gone and is back was reactivated. One that never went is a snapshot that
    lags behind the rollback: taken before it, or written down elsewhere.
    """
    active = set(snapshot.active_providers)
    kept = (p for p, was_gone in standing.withheld.items() if p not in active or not was_gone)
    return {provider: provider not in active for provider in kept}
