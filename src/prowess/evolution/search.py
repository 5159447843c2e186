"""One step in the search for the cause of a fall: what the newest evaluation says of who is off. Pure."""

from dataclasses import dataclass

from prowess.evolution.records import AgentState, EvaluationContext
from prowess.evolution.snapshot import Faculties, Snapshot, snapshot_of
from prowess.evolution.trial import CauseSearch, Suspect


@dataclass(frozen=True, slots=True)
class SearchStep:
    """What follows: who is suspected now, if anybody, and what is switched for it."""

    name: str
    about: tuple[Suspect, ...]
    reason: str
    trial: CauseSearch | None = None
    off: tuple[str, ...] = ()
    on: tuple[str, ...] = ()


def begun(trial: CauseSearch, suspects: tuple[Suspect, ...]) -> SearchStep:
    """The likeliest suspect goes off, or a person is asked whether it shall."""
    if trial.proposed:
        reason = f"{trial.reason}; {trial.accused} is the likeliest cause, and waits for a person"
        return SearchStep("proposed", suspects, reason, trial)
    reason = f"{trial.reason}; {trial.accused} is the likeliest cause, so it is off to see whether that helps"
    return SearchStep("suspected", suspects, reason, trial, off=(trial.accused,))


def advanced(before: CauseSearch, fitness: float, active: Snapshot) -> SearchStep | None:
    """What one more evaluation decides; nothing while it says too little."""
    trial = before.observed(fitness)
    about = (Suspect(trial.accused, 0),)
    if trial.proposed:
        is_over = trial.verdict == "recovered"
        return SearchStep("withdrawn", about, "fitness recovered by itself") if is_over else None
    if trial.accused in active.active_providers:
        return SearchStep("dropped", about, f"somebody switched {trial.accused} on, so it stays on")
    if trial.verdict is None:
        return None
    if trial.verdict == "recovered":
        innocent = (*trial.tried, trial.earlier) if trial.earlier else trial.tried
        reason = f"{trial.accused} was the cause: without it fitness recovered"
        return SearchStep("found", about, reason, on=innocent)
    if not trial.others:
        on = (*trial.tried, trial.accused)
        return SearchStep("unexplained", about, f"fitness stayed low without {', '.join(on)}", on=on)
    following = trial.next()
    reason = f"fitness stayed low without {trial.accused}; {following.accused} is off now, too"
    return SearchStep("suspected", about, reason, following, (following.accused,))


def with_switched(snapshot: Snapshot, step: SearchStep, known: Faculties) -> Snapshot:
    """What is active after the switches of a step; what comes back brings what is known of it."""
    if not (step.off or step.on):
        return snapshot
    brings = {**snapshot.provider_faculties, **{p: known.get(p, ()) for p in step.on}}
    active = [*(p for p in snapshot.active_providers if p not in step.off), *step.on]
    return snapshot_of(active, {p: found for p, found in brings.items() if found}, snapshot.tools)


def allowed(step: SearchStep, standing: AgentState, setting: EvaluationContext) -> tuple[str, ...]:
    """What may be switched on again: what a search took, and never what a person has switched off since."""
    return tuple(p for p in step.on if p in standing.withheld and p not in setting.decided_off)
