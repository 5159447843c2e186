"""What a regression leads to: the likeliest cause is undone, proposed or only named; then it is verified.

`undo` is where every regression ends, and `search_on` weighs each evaluation while a cause is looked for.
"""

from dataclasses import replace

from prowess.evolution import events, search
from prowess.evolution.draft import TransitionDraft
from prowess.evolution.drift import Drift
from prowess.evolution.probation import Level, Probation
from prowess.evolution.records import MOST_ROLLBACKS, Generation, Restore
from prowess.evolution.search import SearchStep
from prowess.evolution.trial import PATIENCE, CauseSearch, Suspect, ranked


def undo(draft: TransitionDraft, reason: str, severity: str, fell_at: int | None = None) -> None:
    """Undo what most likely caused a regression, as far as a regression may; `fell_at` is when it began."""
    draft.trigger = "Regression"
    suspects = suspected(draft, fell_at)
    target = draft.recall(draft.standing.good) if draft.standing.good else None
    can = target is not None and _can_roll_back(draft, target, suspects)
    if not suspects and (not can or fell_at is not None):
        leave(draft, severity)
    elif _may(draft) == "warn" or (_may(draft) == "propose" and not suspects):
        leave(draft, severity, suspects)
    elif _may(draft) == "propose":
        accuse(draft, suspects, reason, proposed=True)
    elif len(suspects) > 1 or not can:
        accuse(draft, suspects, reason)
    else:
        trial = replace(_trial(draft, suspects, reason), rolled_back=True) if suspects else None
        draft.roll_back(draft.standing.good, reason, "Regression")
        draft.set(trial=trial)


def _can_roll_back(draft: TransitionDraft, target: Generation, suspects: tuple[Suspect, ...]) -> bool:
    """Whether a rollback would change something, takes the suspects alone, and was not done too often."""
    switched = draft.switches_to(target, "Regression")
    takes_no_more = set(switched.off) <= {one.provider for one in suspects}
    return switched.changes_something and takes_no_more and target.rollbacks < MOST_ROLLBACKS


def suspected(draft: TransitionDraft, fell_at: int | None = None) -> tuple[Suspect, ...]:
    """What is unproven, the likeliest cause first; what came after a fall did not cause it."""
    arrived = draft.standing.probation.arrived
    if fell_at is not None:
        arrived = {name: since for name, since in arrived.items() if since <= fell_at}
    length = draft.fall.length if draft.fall else 1
    return ranked(arrived, draft.setting.evidence, draft.standing.evaluations - length + 1)


def accuse(
    draft: TransitionDraft, suspects: tuple[Suspect, ...], reason: str, proposed: bool = False
) -> None:
    """Begin the search with the likeliest suspect, or propose to."""
    trial = _trial(draft, suspects, reason, proposed)
    if draft.fall:
        draft.steadiness = replace(draft.steadiness, rows=draft.steadiness.rows[: -draft.fall.length])
    draft.record("Regression", reason)
    draft.set(grace=None)
    take(draft, search.begun(trial, suspects), trial)


def search_on(draft: TransitionDraft, trial: CauseSearch) -> bool:
    """Weigh one more evaluation of a search; true when it decided something."""
    step = search.advanced(trial, draft.now.fitness, draft.snapshot)
    if step is None:
        draft.set(trial=trial.observed(draft.now.fitness))
        return False
    take(draft, step, trial)
    if step.name == "unexplained" or (step.name == "found" and not trial.rolled_back):
        draft.record("Regression", step.reason, proves=True)
    if step.name == "unexplained":
        draft.say(_unexplained(draft, "severe"))
    if step.name in ("unexplained", "dropped"):
        accept_level(draft)
    return True


def take(draft: TransitionDraft, step: SearchStep, before: CauseSearch) -> None:
    """Do what a step of the search says: switch, tell, and remember who is off."""
    on = search.allowed(step, draft.standing, draft.setting)
    kept_off = tuple(p for p in step.on if p not in on)
    step = replace(step, on=on)
    switched = Restore(step.off, on, step.reason, kept_off)
    if switched.changes_something:
        draft.searched = switched
        draft.trigger = "Regression"
    told = switched.as_data()
    draft.say(events.trial(draft.agent, draft.standing.generation, step.name, step.about, step.reason, told))
    draft.snapshot = search.with_switched(draft.snapshot, step, before.faculties)
    probation, now = draft.standing.probation, draft.standing.evaluations
    arrived = {p: at for p, at in probation.arrived.items() if p not in (before.accused, *step.off)}
    arrived |= dict.fromkeys(on, now)
    withheld = {p: gone for p, gone in draft.standing.withheld.items() if p not in on}
    draft.set(trial=step.trial, withheld=withheld | dict.fromkeys(step.off, False))
    if not before.proposed:
        level = (probation.before or before.before) if arrived else None
        found = before.accused if step.name == "found" else ""
        kept = replace(probation, arrived=arrived, before=level, fitness=(), found=found)
        draft.set(probation=replace(kept, brings=before.faculties if found else {}))


def decline(draft: TransitionDraft, trial: CauseSearch) -> None:
    """A person says that nothing shall be undone."""
    about = (Suspect(trial.accused, 0, 0.0), *trial.others)
    take(draft, SearchStep("declined", about, "a person declined it"), trial)
    accept_level(draft)


def accept(draft: TransitionDraft, trial: CauseSearch) -> None:
    """A person says that the search shall begin."""
    begun = replace(trial, proposed=False, seen=0, weight=0.0)
    take(draft, search.begun(begun, (Suspect(trial.accused, 0, 0.0), *trial.others)), begun)


def leave(draft: TransitionDraft, severity: str, suspects: tuple[Suspect, ...] = ()) -> None:
    """Switch nothing: say what there is to say, and take the lower fitness for what is usual now."""
    if suspects:
        reason = f"{suspects[0].provider} is the likeliest cause; a regression may only warn"
        number = draft.standing.generation + 1
        draft.say(events.trial(draft.agent, number, "warned", suspects, reason, {}))
    else:
        draft.say(_unexplained(draft, severity))
    if draft.standing.grace is None:
        draft.record("Regression", "no change to undo" if not suspects else "a regression may only warn")
    accept_level(draft)


def accept_level(draft: TransitionDraft) -> None:
    waiting = draft.standing.probation.waiting
    draft.drift = Drift()
    draft.set(grace=None, recent=(), probation=Probation(waiting=waiting))


def _unexplained(draft: TransitionDraft, severity: str) -> events.Event:
    good = draft.recall(draft.standing.good)
    axis = draft.worst_axis(good.scores if good else draft.before.scores)
    number = draft.standing.generation + 1
    return events.unexplained(draft.agent, number, axis, severity, draft.standing.good)


def _trial(
    draft: TransitionDraft, suspects: tuple[Suspect, ...], reason: str, proposed: bool = False
) -> CauseSearch:
    probation, fitness = draft.standing.probation, draft.now.fitness
    before = probation.before or Level(draft.before.fitness)
    fallen = before.mean - draft.fall.size if draft.fall else fitness
    brings = {**probation.brings, **draft.snapshot.provider_faculties}
    known = (*(one.provider for one in suspects), probation.found)
    return CauseSearch(
        accused=suspects[0].provider,
        others=suspects[1:],
        before=before,
        fallen=min(fallen, before.mean),
        good=draft.standing.good,
        reason=reason,
        proposed=proposed,
        earlier=probation.found,
        lag=_lag(draft, suspects[0]),
        faculties={name: brings[name] for name in known if name in brings},
    )


def _lag(draft: TransitionDraft, suspect: Suspect) -> int:
    """How long after it came the fall was seen."""
    length = draft.fall.length if draft.fall else 1
    return min(PATIENCE, max(0, draft.standing.evaluations - length + 1 - suspect.since))


def _may(draft: TransitionDraft) -> str:
    chosen = draft.params.on_regression
    return draft.setting.on_regression if chosen == "default" else chosen
