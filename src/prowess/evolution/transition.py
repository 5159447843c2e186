"""One evaluation, from where an agent stands to where it stands next. Pure.

Above: `generations`, which keeps the result in the store, and `replay`, which keeps it in memory.
Below: fitness, triggers and drift. `step` runs the whole flow; `roll_back` and `apply_trigger` are the
two ways from outside, a person's and another system's.
"""

from dataclasses import replace

from prowess.errors import EvolutionError, NotFound
from prowess.evolution import events
from prowess.evolution.drift import Drift, known_level
from prowess.evolution.events import Event
from prowess.evolution.fitness import (
    Measured,
    delta,
    grace_length,
    measure,
    ranking,
    settled_ranking,
    severity,
    shifted_axes,
)
from prowess.evolution.noise import WINDOW, scatter
from prowess.evolution.params import Params
from prowess.evolution.records import (
    MOST_ROLLBACKS,
    AgentState,
    Evaluation,
    EvaluationInput,
    Generation,
    Grace,
    Recall,
    Restore,
    Transition,
)
from prowess.evolution.restore import snapshot_after, still_withheld, switches
from prowess.evolution.scores import Scores
from prowess.evolution.triggers import (
    DEFENSIVE,
    Trigger,
    check_triggers,
    detect_capability_changes,
    detect_losses,
    detect_tools,
    resolve,
)

RECOVERY_TOLERANCE = 1e-9


def step(standing: AgentState, moment: EvaluationInput, params: Params, recall: Recall) -> Transition:
    """Evaluate once."""
    work = _Work(replace(standing, evaluations=standing.evaluations + 1), moment, params, recall)
    work.evaluate()
    return work.done()


def roll_back(
    standing: AgentState, moment: EvaluationInput, to: int, params: Params, recall: Recall
) -> Transition:
    """Bring a generation back because a person says so; `moment` holds the scores as they stand."""
    if recall(to) is None:
        raise NotFound("generation", str(to), see="see: prowess evolve history")
    work = _Work(standing, moment, params, recall)
    work.roll_back(to, "rolled back by a person", "Rollback")
    return work.done()


def apply_trigger(
    standing: AgentState, moment: EvaluationInput, order: tuple[Trigger, str], params: Params, recall: Recall
) -> Transition:
    """Carry out a trigger that a system outside gives, with its reason."""
    if not standing.generation:
        raise EvolutionError(moment.agent, "has no generation yet", "evaluate it once before triggering")
    if standing.stopped:
        raise EvolutionError(moment.agent, f"is stopped: {standing.stopped}", "run: prowess evolve resume")
    work = _Work(standing, moment, params, recall)
    work.apply_trigger(*order)
    return work.done()


class _Work:
    """One step while it is being made; nobody outside this module sees it."""

    def __init__(self, standing: AgentState, moment: EvaluationInput, params: Params, recall: Recall) -> None:
        self.params, self.recall = params, recall
        self.moment, self.setting = moment, moment.setting
        self.standing = replace(standing, withheld=still_withheld(standing, moment.setting.snapshot))
        lagging = [provider for provider, is_gone in self.standing.withheld.items() if not is_gone]
        self.snapshot = moment.setting.snapshot.without(lagging)
        self.now = measure(moment.scores, params)
        self.before = measure(standing.previous or moment.scores, params)
        seen = standing.seen if standing.generation else self.snapshot
        self.changes = detect_capability_changes(seen, self.snapshot, moment.setting.registry)
        self.losses = (
            detect_losses(seen, self.snapshot, moment.setting.registry) if params.capability_loss else ()
        )
        self.tools = detect_tools(seen, self.snapshot) if params.tool_acquisition else ()
        self.ranking = settled_ranking(standing.ranking, moment.scores, params.rebalance_margin)
        self.drift = standing.drift
        self.events: list[Event] = []
        self.trigger: Trigger | None = None
        self.recorded: Generation | None = None
        self.restore: Restore | None = None

    # --- the flow ----------------------------------------------------------------------------

    def evaluate(self) -> None:
        if not self.standing.generation:
            self._begin()
        elif self._unsafe():
            self._breach(self._below_floor(), "Safety breach detected")
        elif not self.standing.stopped:
            self._weigh()

    def apply_trigger(self, trigger: Trigger, reason: str) -> None:
        if trigger == "SafetyBreach":
            self._breach(f"reported from outside: {reason}", reason)
        elif trigger == "Regression":
            self.roll_back(self.standing.good, reason, "Regression")
        else:
            self._record(trigger, reason)

    def _begin(self) -> None:
        """The first evaluation makes generation 1, safe or not."""
        if self._unsafe():
            self._say(events.breach(self.moment.agent, 1, events.BELOW_FLOOR, self._below_floor()))
            self._record("SafetyBreach")
        else:
            self._record("Evolution")

    def _weigh(self) -> None:
        expired = self._tend_grace()
        if expired:
            reason = f"Grace period expired for {expired.axis} axis"
            self.roll_back(self.standing.good, reason, "Regression")
            return
        trigger = resolve(self._metric(), self.changes, self.losses, self.tools)
        if trigger == "Regression":
            self._regress()
        elif trigger:
            self._grow(trigger)

    def _metric(self) -> Trigger | None:
        """What the numbers say, the slow decline of many evaluations included."""
        found = check_triggers(
            self.now, self._compared, self._interactions, self.params, self.standing.ranking
        )
        if not self.standing.good:
            return found or "Evolution"
        if self.standing.grace is None and found not in DEFENSIVE:
            self.drift = self.drift.observe(self.now.fitness, self.params.drift_allowance)
            if self._drifted:
                return "Regression"
        return found

    # --- what a trigger leads to -------------------------------------------------------------

    def _breach(self, detail: str, reason: str) -> None:
        if not self.standing.stopped:
            self.roll_back(self.standing.good, reason, "SafetyBreach")
        told = events.breach(self.moment.agent, self.standing.generation, events.BELOW_FLOOR, detail)
        self.events.insert(0, told)

    def _regress(self) -> None:
        grace = self.standing.grace
        if not self._drifted:
            baseline = grace.baseline if grace else self.before.fitness
            if severity(self.now.fitness - baseline, baseline, self.params) == "Severe":
                self.roll_back(self.standing.good, "Severe regression detected", "Regression")
                return
        if grace is None:
            self._start_grace()
        self._record("Regression")

    def _grow(self, trigger: Trigger) -> None:
        if trigger == "Rebalance":
            shifted = shifted_axes(self.ranking, self.standing.ranking)
            self._say(events.rebalance(self.moment.agent, self.standing.generation + 1, shifted))
        self._record(trigger)

    def roll_back(self, to: int, reason: str, trigger: Trigger) -> None:
        """Bring back the nearest generation that may still be brought back, or stop the agent."""
        self.trigger = trigger
        target = None if self.standing.stopped else self._restorable(to)
        if target is None:
            self._stop()
            return
        restored = self._restored(target, trigger, reason)
        why = f"rolled back to generation {target.number}: {reason}"
        self.restore = switches(target.snapshot, restored.snapshot, self.setting, why)
        span = (self.standing.generation, target.number)
        self._say(events.rollback(self.moment.agent, span, restored.number, reason, self.restore.as_data()))
        self.standing = self._standing_after(target, restored)
        self.recorded = restored

    # --- grace -------------------------------------------------------------------------------

    def _start_grace(self) -> None:
        at, length = self.standing.evaluations, grace_length(self._interactions, self.params)
        if self._drifted:
            good = self.recall(self.standing.good)
            axis = self._worst_axis(good.scores if good else self.before.scores)
            grace = Grace(at, length, self.drift.level, axis, "drift")
        else:
            grace = Grace(at, length, self.before.fitness, self._worst_axis(self.before.scores))
        # The evaluation that fell must not pull down the level it is measured against.
        self.drift = self.standing.drift.forgiven()
        self.standing = replace(self.standing, grace=grace)
        self._warn(grace, length, self.standing.generation + 1)

    def _tend_grace(self) -> Grace | None:
        """End a grace period that was used, warn while it runs, return it when it has run out."""
        grace = self.standing.grace
        if grace is None:
            return None
        if self.now.fitness >= grace.baseline - RECOVERY_TOLERANCE:
            self.standing = replace(self.standing, grace=None, good=self._good_after_recovery())
            return None
        remaining = grace.length - (self.standing.evaluations - grace.started)
        if remaining <= 0:
            return grace
        self._warn(grace, remaining, self.standing.generation)
        return None

    def _good_after_recovery(self) -> int:
        """What was added during the grace period has proved itself with the recovery."""
        good = self.recall(self.standing.good)
        same = good is not None and good.snapshot == self.standing.seen
        return self.standing.good if same else self.standing.generation

    def _warn(self, grace: Grace, remaining: int, number: int) -> None:
        self._say(events.warning(self.moment.agent, number, grace.axis, grace.direction, remaining))

    def _worst_axis(self, before: Scores) -> str:
        fell = [(change, axis) for axis, change in delta(self.now.scores, before).items() if change < 0]
        return min(fell)[1] if fell else "unknown"

    # --- records -----------------------------------------------------------------------------

    def _record(self, trigger: Trigger, reason: str = "") -> None:
        standing, number = self.standing, self.standing.generation + 1
        self.recorded = Generation(
            number=number,
            trigger=trigger,
            at=self.setting.at,
            interactions=self._interactions if standing.generation else 0,
            scores=self.moment.scores,
            delta=delta(self.now.scores, self.before.scores),
            fitness=self.now.fitness,
            fitness_delta=self.now.fitness - self.before.fitness,
            snapshot=self.snapshot,
            parent=standing.good,
            reason=reason,
            policy_revision=self.setting.policy_revision,
            catalogue_version=self.setting.catalogue_version,
        )
        self.trigger = trigger
        self._say(events.generation(self.moment.agent, number, trigger, self._detail(trigger, reason)))
        at = standing.evaluations
        self.standing = replace(standing, generation=number, generation_at=at, recent=())
        if trigger not in DEFENSIVE and standing.grace is None and not self._unsafe():
            self.standing = replace(self.standing, good=number)
            self._raise_level()

    def _raise_level(self) -> None:
        """Hold a better generation to its own level; decline must not hide behind new generations."""
        allowance = self.params.drift_allowance
        if not self.drift.observed or self.now.fitness > self.drift.level + allowance:
            self.drift = Drift().observe(self.now.fitness, allowance)

    def _detail(self, trigger: Trigger, reason: str) -> dict[str, object]:
        detail: dict[str, object] = {"reason": reason} if reason else {}
        if trigger == "CapabilityLoss" and self.losses:
            detail["lost"] = [{"provider": loss.provider, "faculty": loss.faculty} for loss in self.losses]
        if trigger == "ToolAcquisition" and self.tools:
            detail["tools"] = list(self.tools)
        return detail

    def _restorable(self, number: int) -> Generation | None:
        """The generation itself or, once it was brought back too often, the good one before it."""
        target = self.recall(number) if number else None
        while target and target.rollbacks >= MOST_ROLLBACKS:
            target = self.recall(target.parent) if target.parent else None
        return target

    def _restored(self, target: Generation, trigger: Trigger, reason: str) -> Generation:
        fitness = measure(target.scores, self.params).fitness
        return Generation(
            number=self.standing.generation + 1,
            trigger=trigger,
            at=self.setting.at,
            interactions=0,
            scores=target.scores,
            delta={},
            fitness=fitness,
            fitness_delta=fitness - self.now.fitness,
            snapshot=snapshot_after(target.snapshot, self.standing, self.setting, trigger),
            parent=target.number,
            restored=target.number,
            reason=reason,
            policy_revision=self.setting.policy_revision,
            catalogue_version=self.setting.catalogue_version,
        )

    def _standing_after(self, target: Generation, restored: Generation) -> AgentState:
        off = dict.fromkeys(self.restore.off if self.restore else (), False)
        back = restored.snapshot.active_providers
        kept = {p: is_gone for p, is_gone in self.standing.withheld.items() if p not in back}
        same = target.number == self.standing.good
        return replace(
            self.standing,
            generation=restored.number,
            generation_at=self.standing.evaluations,
            good=target.number,
            previous=target.scores,
            ranking=ranking(target.scores),
            recent=(),
            grace=None,
            drift=self.standing.drift.forgiven() if same else known_level(restored.fitness),
            withheld=kept | off,
            seen=restored.snapshot,
        )

    def _stop(self) -> None:
        number = self.standing.generation
        detail = "no good generation is left to restore; a person must resume the agent"
        self._say(events.breach(self.moment.agent, number, events.EXHAUSTED, detail))
        self.standing = replace(self.standing, stopped=events.EXHAUSTED, grace=None)

    # --- small parts -------------------------------------------------------------------------

    def _remember(self) -> None:
        self.standing = replace(
            self.standing,
            previous=self.moment.scores,
            ranking=self.ranking,
            recent=(*self.standing.recent, self.now.fitness)[-WINDOW:],
            drift=self.drift,
            seen=self.snapshot,
        )

    def _say(self, event: Event) -> None:
        self.events.append(event)

    def _unsafe(self) -> bool:
        return self.moment.scores.safety < self.params.safety_floor

    def _below_floor(self) -> str:
        return f"safety {self.moment.scores.safety:g} is below the floor of {self.params.safety_floor:g}"

    @property
    def _interactions(self) -> int:
        return self.standing.evaluations - self.standing.generation_at

    @property
    def _compared(self) -> Measured:
        """The evaluation before; its fitness counts as the same where the step is within the noise."""
        usual = self.params.noise_margin * scatter(self.standing.recent)
        unchanged = abs(self.now.fitness - self.before.fitness) <= usual
        return Measured(self.before.scores, self.now.fitness) if unchanged else self.before

    @property
    def _drifted(self) -> bool:
        return self.drift.watched > self.params.min_interactions and self.drift.found(self.params.drift_limit)

    def done(self) -> Transition:
        if self.restore is None:
            self._remember()
        agent, number = self.moment.agent, self.standing.generation
        gains = (events.capability(agent, change, number) for change in self.changes)
        evaluation = Evaluation(
            agent=agent,
            trigger=self.trigger,
            generation=number,
            events=(*gains, *self.events),
            fitness=self.now.fitness,
            restore=self.restore,
            stopped=self.standing.stopped,
        )
        return Transition(self.standing, evaluation, self.recorded)
