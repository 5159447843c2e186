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
        return SearchStep(
            "dropped", about, f"somebody switched {trial.accused} on, so it stays on", on=trial.tried
        )
    if trial.returned:
        return _of_returned(trial)
    if trial.verdict is None:
        return None
    if trial.verdict == "recovered":
        if trial.tried and not trial.earlier:
            return _returning(trial)
        return _found(trial, (*trial.tried, trial.earlier) if trial.earlier else ())
    if not trial.others:
        on = (*trial.tried, trial.accused)
        return SearchStep("unexplained", about, f"fitness stayed low without {', '.join(on)}", on=on)
    following = trial.next()
    reason = f"fitness stayed low without {trial.accused}; {following.accused} is off now, too"
    return SearchStep("suspected", about, reason, following, (following.accused,))


def _found(trial: CauseSearch, innocent: tuple[str, ...] = ()) -> SearchStep:
    reason = f"{trial.accused} was the cause: without it fitness recovered"
    return SearchStep("found", (Suspect(trial.accused, 0),), reason, on=innocent)


def _returning(trial: CauseSearch) -> SearchStep:
    """Fitness is well while several are off: one by one all but the last are on again, while it stays so."""
    now = trial.returning()
    back = now.returned[-1]
    reason = f"without {trial.accused} fitness recovered; {back} is on again to see whether it stays so"
    return SearchStep("returned", (Suspect(back, 0),), reason, now, on=(back,))


def _of_returned(trial: CauseSearch) -> SearchStep | None:
    """Those that are on again are innocent, or one of them is not, or it is too early to say."""
    if trial.verdict == "recovered":
        return _found(trial)
    if trial.verdict is None:
        return _returning(trial) if trial.tried else None
    now = trial.turned()
    reason = f"fitness fell anew with {now.accused}, so it is off, and {trial.accused} is on"
    on = (*trial.tried, trial.accused)
    return SearchStep("suspected", (Suspect(now.accused, 0),), reason, now, (now.accused,), on)


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
