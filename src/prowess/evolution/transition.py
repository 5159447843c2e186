"""One evaluation, from where an agent stands to where it stands next. Pure.

Above: `generations`, which keeps the result in the store, and `replay`, which keeps it in memory.
Below: fitness, triggers, drift, and `blame` for what a regression leads to. `step` runs the whole flow;
`roll_back`, `apply_trigger` and `answer` are the ways from outside, a person's and another system's.
"""

from dataclasses import replace
from typing import NamedTuple

from prowess.errors import EvolutionError, NotFound
from prowess.evolution import blame, events
from prowess.evolution.draft import TransitionDraft
from prowess.evolution.fitness import Measured, grace_length, severity, shifted_axes
from prowess.evolution.noise import scatter
from prowess.evolution.params import Params
from prowess.evolution.records import AgentState, EvaluationInput, Grace, Recall, Transition
from prowess.evolution.scores import Scores
from prowess.evolution.steadiness import Steadiness, held_ranking, level_before, steady
from prowess.evolution.triggers import (
    DEFENSIVE,
    EXTERNAL,
    CapabilityChange,
    Trigger,
    brought,
    check_triggers,
    folded,
    resolve,
)

RECOVERY_TOLERANCE = 1e-9
DRIFT_IN_NOISE, DRIFT_LIMIT_IN_NOISE = 1.25, 12.5
"""Drift is counted beyond so many times what an evaluation usually lies off its level."""


class TriggerOrder(NamedTuple):
    """What a system outside asks for: a trigger, why, and which provider and faculty it is about."""

    trigger: Trigger
    reason: str
    provider: str = ""
    faculty: str = ""


def step(standing: AgentState, moment: EvaluationInput, params: Params, recall: Recall) -> Transition:
    """Evaluate once."""
    draft = TransitionDraft(replace(standing, evaluations=standing.evaluations + 1), moment, params, recall)
    _evaluate(draft)
    return draft.done()


def roll_back(
    standing: AgentState, moment: EvaluationInput, to: int, params: Params, recall: Recall
) -> Transition:
    """Bring a generation back because a person says so; `moment` holds the scores as they stand."""
    if recall(to) is None:
        raise NotFound("generation", str(to), see="see: prowess evolve history")
    draft = TransitionDraft(standing, moment, params, recall)
    draft.roll_back(to, "rolled back by a person", "Rollback")
    return draft.done()


def apply_trigger(
    standing: AgentState, moment: EvaluationInput, order: TriggerOrder, params: Params, recall: Recall
) -> Transition:
    """Carry out a trigger that a system outside gives."""
    if order.trigger not in EXTERNAL:
        raise NotFound("trigger", order.trigger, EXTERNAL, f"known: {', '.join(EXTERNAL)}")
    if not standing.generation:
        raise EvolutionError(moment.agent, "has no generation yet", "evaluate it once before triggering")
    if standing.stopped:
        raise EvolutionError(moment.agent, f"is stopped: {standing.stopped}", "run: prowess evolve resume")
    draft = TransitionDraft(standing, moment, params, recall)
    _apply(draft, order)
    return draft.done()


def answer(
    standing: AgentState, moment: EvaluationInput, accept: bool, params: Params, recall: Recall
) -> Transition:
    """A person's answer to what was proposed."""
    trial = standing.trial
    if trial is None or not trial.proposed:
        raise EvolutionError(moment.agent, "has no proposal that waits", "see: prowess evolve status")
    draft = TransitionDraft(standing, moment, params, recall)
    (blame.accept if accept else blame.decline)(draft, trial)
    return draft.done()


# --- the flow --------------------------------------------------------------------------------


def _evaluate(draft: TransitionDraft) -> None:
    draft.steadiness = _steadiness(draft)
    draft.set(probation=draft.standing.probation.observed(draft.now.fitness))
    if not draft.standing.generation:
        _begin(draft)
    elif draft.is_unsafe:
        _breach(draft, _below_floor(draft), "Safety breach detected")
    elif not draft.standing.stopped:
        _weigh(draft)
        _prove(draft)


def _apply(draft: TransitionDraft, order: TriggerOrder) -> None:
    if order.trigger == "CapabilityGain" and order.provider:
        _gain(draft, order)
    if order.trigger in DEFENSIVE:
        _name(draft, order.provider)
    if order.trigger == "SafetyBreach":
        _breach(draft, f"reported from outside: {order.reason}", order.reason)
    elif order.trigger == "Regression":
        blame.undo(draft, order.reason, "severe")
    else:
        draft.record(order.trigger, order.reason)


def _begin(draft: TransitionDraft) -> None:
    """The first evaluation makes generation 1, safe or not."""
    if draft.is_unsafe:
        draft.say(events.breach(draft.agent, 1, events.BELOW_FLOOR, _below_floor(draft)))
        draft.record("SafetyBreach")
    else:
        draft.record("Evolution")


def _weigh(draft: TransitionDraft) -> None:
    if draft.standing.trial and blame.search_on(draft, draft.standing.trial):
        return
    expired = _tend_grace(draft)
    if expired:
        reason = f"Grace period expired for {expired.axis} axis"
        blame.undo(draft, reason, "mild", expired.started)
        return
    found = draft.structure
    trigger = resolve(_metric(draft), found.gains, found.losses, found.tools)
    if trigger == "Regression":
        _regress(draft)
    elif trigger:
        _grow(draft, trigger)


def _metric(draft: TransitionDraft) -> Trigger | None:
    """What the numbers say, the slow decline of many evaluations included."""
    standing, params, scores = draft.standing, draft.params, draft.moment.scores
    if standing.trial:
        return None  # the search weighs what the numbers say now
    held = held_ranking(standing.steadiness, draft.steadiness, scores, params.rebalance_margin)
    found = check_triggers(draft.now, _compared(draft), draft.interactions, params, held)
    if not standing.good:
        return found or "Evolution"
    draft.fall = standing.probation.fall(params.noise_margin)
    if draft.fallen == "Severe" or (draft.fallen == "Mild" and standing.grace is None):
        return "Regression"
    draft.fall = None
    if standing.grace is None and found not in DEFENSIVE:
        draft.drift = draft.drift.observe(draft.now.fitness, _drift_allowance(draft))
        if _has_drifted(draft):
            return "Regression"
    return found


def _prove(draft: TransitionDraft) -> None:
    """What has lasted long enough without trouble is good."""
    standing, length = draft.standing, draft.params.probation
    if standing.grace or standing.trial or draft.trigger in DEFENSIVE:
        return
    proven = standing.probation.proven(standing.evaluations, length)
    good, waiting = proven.mature(standing.evaluations, length)
    draft.set(probation=waiting, good=good or standing.good)
    if good:
        draft.raise_level()


# --- what a trigger leads to -----------------------------------------------------------------


def _breach(draft: TransitionDraft, detail: str, reason: str) -> None:
    if not draft.standing.stopped:
        draft.roll_back(draft.standing.good, reason, "SafetyBreach")
    told = events.breach(draft.agent, draft.standing.generation, events.BELOW_FLOOR, detail)
    draft.say(told, first=True)


def _regress(draft: TransitionDraft) -> None:
    grace = draft.standing.grace
    if not _has_drifted(draft):
        baseline = grace.baseline if grace else draft.before.fitness
        by_step = severity(draft.now.fitness - baseline, baseline, draft.params)
        if draft.fallen == "Severe" or (draft.fall is None and by_step == "Severe"):
            blame.undo(draft, "Severe regression detected", "severe")
            return
    if grace is None:
        _start_grace(draft)
    draft.record("Regression")


def _grow(draft: TransitionDraft, trigger: Trigger) -> None:
    if trigger == "Rebalance":
        shifted = shifted_axes(draft.steadiness.ranking, draft.standing.steadiness.ranking)
        draft.say(events.rebalance(draft.agent, draft.standing.generation + 1, shifted))
    draft.record(trigger)


def _name(draft: TransitionDraft, provider: str) -> None:
    """Whom a system outside blames: the one it names, else what is unproven, else what came last."""
    active = draft.snapshot.active_providers
    probation = draft.standing.probation
    if provider:
        if provider not in active:
            raise NotFound("active provider", provider, active, "see: prowess provider list")
        draft.set(probation=replace(probation, arrived={provider: draft.standing.evaluations}))
    elif not probation.arrived:
        newest = [name for name in draft.standing.newest if name in active]
        draft.set(probation=replace(probation, arrived=dict.fromkeys(newest, draft.standing.evaluations)))


def _gain(draft: TransitionDraft, order: TriggerOrder) -> None:
    """A gain that only a system outside can see is told as any other."""
    faculty = order.faculty or "unknown"
    told = {(one.provider, folded(one.faculty)) for one in draft.structure.gains}
    if (order.provider, folded(faculty)) in told:
        return
    is_known = folded(faculty) in brought(draft.standing.seen)
    change = CapabilityChange(order.provider, faculty, "minor" if is_known else "major")
    draft.structure = replace(draft.structure, gains=(*draft.structure.gains, change))


# --- grace -----------------------------------------------------------------------------------


def _start_grace(draft: TransitionDraft) -> None:
    standing, length = draft.standing, grace_length(draft.interactions, draft.params)
    before, at = standing.probation.before, standing.evaluations
    if _has_drifted(draft):
        good = draft.recall(standing.good)
        axis = draft.worst_axis(good.scores if good else draft.before.scores)
        grace = Grace(at, length, draft.drift.level, axis, "drift")
    elif draft.fall and before:
        grace = Grace(at, length, before.mean - before.spread, draft.worst_axis(draft.before.scores))
    else:
        grace = Grace(at, length, draft.before.fitness, draft.worst_axis(draft.before.scores))
    # The evaluation that fell must not pull down the level it is measured against.
    draft.drift = standing.drift.forgiven()
    draft.set(grace=grace)
    _warn(draft, grace, length, standing.generation + 1)


def _tend_grace(draft: TransitionDraft) -> Grace | None:
    """End a grace period that was used, warn while it runs, return it when it has run out."""
    grace = draft.standing.grace
    if grace is None:
        return None
    if draft.now.fitness >= grace.baseline - RECOVERY_TOLERANCE:
        draft.set(grace=None)
        return None
    remaining = grace.length - (draft.standing.evaluations - grace.started)
    if remaining <= 0:
        return grace
    _warn(draft, grace, remaining, draft.standing.generation)
    return None


def _warn(draft: TransitionDraft, grace: Grace, remaining: int, number: int) -> None:
    draft.say(events.warning(draft.agent, number, grace.axis, grace.direction, remaining))


# --- seen through the noise ------------------------------------------------------------------


def _steadiness(draft: TransitionDraft) -> Steadiness:
    standing, params = draft.standing, draft.params
    before = standing.steadiness
    if not before.ranking and standing.previous:
        before = steady(standing.previous)
    if standing.trial:
        return before  # while something is off on trial, what is measured says nothing of what is usual
    is_settling = standing.generation <= 1 and draft.interactions < params.min_interactions
    margin = params.rebalance_margin
    return before.observed(draft.moment.scores, draft.now.fitness, margin, is_settling and margin > 0)


def _compared(draft: TransitionDraft) -> Measured:
    """The evaluation before; what did not change but by noise counts as the same."""
    before, params = draft.before, draft.params
    usual = params.noise_margin * scatter(draft.standing.recent)
    is_same = abs(draft.now.fitness - before.fitness) <= usual
    level = level_before(draft.standing.steadiness, draft.steadiness, draft.moment.scores, before.scores)
    scores: Scores = replace(before.scores, autonomy=level)
    return Measured(scores, draft.now.fitness if is_same else before.fitness)


def _drift_allowance(draft: TransitionDraft) -> float:
    return max(draft.params.drift_allowance, DRIFT_IN_NOISE * draft.steadiness.spread)


def _has_drifted(draft: TransitionDraft) -> bool:
    limit = max(draft.params.drift_limit, DRIFT_LIMIT_IN_NOISE * draft.steadiness.spread)
    return draft.drift.watched > draft.params.min_interactions and draft.drift.found(limit)


def _below_floor(draft: TransitionDraft) -> str:
    return f"safety {draft.moment.scores.safety:g} is below the floor of {draft.params.safety_floor:g}"
