"""A step while it is being made: what is written down, switched and told, until `done` hands it over."""

from dataclasses import replace
from typing import Any

from prowess.evolution import events
from prowess.evolution.drift import Drift, known_level
from prowess.evolution.events import Event
from prowess.evolution.fitness import delta, measure, severity
from prowess.evolution.noise import WINDOW
from prowess.evolution.params import Params
from prowess.evolution.probation import Fall, Probation, level_of
from prowess.evolution.recording import recorded, restored
from prowess.evolution.records import (
    MOST_ROLLBACKS,
    AgentState,
    Evaluation,
    EvaluationInput,
    Generation,
    Recall,
    Restore,
    Transition,
)
from prowess.evolution.restore import snapshot_after, still_withheld, switches
from prowess.evolution.scores import Scores
from prowess.evolution.steadiness import steady
from prowess.evolution.structure import compared
from prowess.evolution.triggers import DEFENSIVE, Trigger, brought, folded


class TransitionDraft:
    """What `transition` and `blame` work on; nobody keeps it."""

    def __init__(self, standing: AgentState, moment: EvaluationInput, params: Params, recall: Recall) -> None:
        self.params, self.recall = params, recall
        self.moment, self.setting, self.agent = moment, moment.setting, moment.agent
        self.standing = replace(standing, withheld=still_withheld(standing, moment.setting.snapshot))
        lagging = [provider for provider, is_gone in self.standing.withheld.items() if not is_gone]
        self.snapshot = moment.setting.snapshot.without(lagging)
        self.now = measure(moment.scores, params)
        self.before = measure(standing.previous or moment.scores, params)
        self.structure = compared(standing, self.snapshot, self.setting, params)
        self.steadiness = standing.steadiness
        self.drift = standing.drift
        self.fall: Fall | None = None
        self.trigger: Trigger | None = None
        self.recorded: Generation | None = None
        self.restore: Restore | None = None
        self.searched: Restore | None = None
        self._stays = False
        """Whether the agent stands where it stood, as there was nothing to undo."""
        self._events: list[Event] = []
        self._join()

    def _join(self) -> None:
        """What came is unproven from now on."""
        standing, came = self.standing, self.structure.came
        probation = standing.probation.reduced(self.snapshot.active_providers)
        if came:
            before = level_of(standing.recent, standing.steadiness.lately, self.before.fitness)
            probation = probation.joined(came, standing.evaluations, before)
        self.set(probation=probation, went=self.structure.went, newest=came or standing.newest)

    def set(self, **changes: Any) -> None:
        """Change where the agent stands."""
        self.standing = replace(self.standing, **changes)

    def say(self, event: Event, first: bool = False) -> None:
        self._events.insert(0 if first else len(self._events), event)

    # --- what is known -----------------------------------------------------------------------

    @property
    def is_unsafe(self) -> bool:
        return self.moment.scores.safety < self.params.safety_floor

    @property
    def interactions(self) -> int:
        return self.standing.evaluations - self.standing.generation_at

    @property
    def fallen(self) -> str:
        """How severe the fall is since something unproven came."""
        before = self.standing.probation.before
        return severity(self.fall.size, before.mean, self.params) if self.fall and before else "None"

    def worst_axis(self, before: Scores) -> str:
        fell = [(change, axis) for axis, change in delta(self.now.scores, before).items() if change < 0]
        return min(fell)[1] if fell else "unknown"

    # --- generations -------------------------------------------------------------------------

    def record(self, trigger: Trigger, reason: str = "", proves: bool = False) -> None:
        """Write a generation down; one that `proves` itself may become good, whatever its trigger."""
        number = self.standing.generation + 1
        measured = (self.now, self.before)
        self.recorded = recorded(self.standing, self.moment, measured, trigger, self.snapshot, reason)
        self.trigger = trigger
        self.say(events.generation(self.agent, number, trigger, self._detail(trigger, reason)))
        previous_good = self.standing.good
        self.set(generation=number, generation_at=self.standing.evaluations, recent=())
        if self.is_unsafe or (trigger in DEFENSIVE and not proves):
            return
        if self.standing.grace is None and self._proves_nothing_new(previous_good):
            self.set(good=number)
            self.raise_level()
        else:
            self.set(probation=self.standing.probation.awaiting(number, self.standing.evaluations))

    def _proves_nothing_new(self, good: int) -> bool:
        """Whether the last good generation had all of this, or there was none."""
        if not good or self.params.probation == 0:
            return True
        known = self.recall(good)
        same = known is None or known.snapshot.active_providers == self.snapshot.active_providers
        return same and not self.standing.probation.arrived

    def raise_level(self) -> None:
        """Hold a better generation to its own level; decline must not hide behind new generations."""
        allowance = self.params.drift_allowance
        if not self.drift.observed or self.now.fitness > self.drift.level + allowance:
            self.drift = Drift().observe(self.now.fitness, allowance)

    def _detail(self, trigger: Trigger, reason: str) -> dict[str, object]:
        detail: dict[str, object] = {"reason": reason} if reason else {}
        losses, tools = self.structure.losses, self.structure.tools
        if trigger == "CapabilityLoss" and losses:
            detail["lost"] = [{"provider": loss.provider, "faculty": loss.faculty} for loss in losses]
        if trigger == "ToolAcquisition" and tools:
            detail["tools"] = list(tools)
        return detail

    # --- going back --------------------------------------------------------------------------

    def roll_back(self, to: int, reason: str, trigger: Trigger) -> None:
        """Bring back the nearest generation that may still be; what would switch nothing warns."""
        self.trigger = trigger
        target = None if self.standing.stopped else self._restorable(to)
        if target is None:
            self._give_up(to)
            return
        fitness = measure(target.scores, self.params).fitness
        after = snapshot_after(target.snapshot, self.standing, self.setting, trigger)
        why = f"rolled back to generation {target.number}: {reason}"
        restore = switches(target.snapshot, after, self.setting, why)
        if not restore.changes_something and trigger != "Rollback":
            self._stays = self._undo_nothing(target)
        if self._stays:
            return
        self.restore = restore
        self.recorded = restored(
            self.standing, self.moment, target, (fitness, self.now.fitness), trigger, after, reason
        )
        span = (self.standing.generation, target.number)
        told = self.restore.as_data()
        self.say(events.rollback(self.agent, span, self.recorded.number, reason, told))
        self._stand_at(target, self.recorded)

    def switches_to(self, target: Generation, trigger: Trigger) -> Restore:
        """What a rollback to it would switch."""
        after = snapshot_after(target.snapshot, self.standing, self.setting, trigger)
        return switches(target.snapshot, after, self.setting, "")

    def _restorable(self, number: int) -> Generation | None:
        """The generation itself or, once it was brought back too often, the good one before it."""
        target = self.recall(number) if number else None
        while target and target.rollbacks >= MOST_ROLLBACKS:
            target = self.recall(target.parent) if target.parent else None
        return target

    def _stand_at(self, target: Generation, made: Generation) -> None:
        off = dict.fromkeys(self.restore.off if self.restore else (), False)
        back = made.snapshot.active_providers
        kept = {p: is_gone for p, is_gone in self.standing.withheld.items() if p not in back}
        same = target.number == self.standing.good
        calm = self.steadiness.rows[: -self.fall.length] if self.fall else self.steadiness.rows
        self.set(
            generation=made.number,
            generation_at=self.standing.evaluations,
            good=target.number,
            previous=target.scores,
            steadiness=replace(steady(target.scores), rows=calm),
            recent=(),
            grace=None,
            drift=self.standing.drift.forgiven() if same else known_level(made.fitness),
            withheld=kept | off,
            seen=made.snapshot,
            probation=Probation(),
            trial=None,
        )

    def _undo_nothing(self, target: Generation) -> bool:
        """Warn that there is no change to undo; true where the newest generation says so already."""
        number = self.standing.generation
        self.say(events.unexplained(self.agent, number + 1, "safety", "severe", target.number))
        newest = self.recall(number)
        return newest is not None and newest.restored == target.number

    def _give_up(self, to: int) -> None:
        """Stop the agent where rollbacks that switched something did not help; else warn."""
        if to and self.recall(to):
            self._stop()
        elif not self.standing.stopped:
            number = self.standing.generation
            self.say(events.unexplained(self.agent, number, "safety", "severe", to))

    def _stop(self) -> None:
        number = self.standing.generation
        detail = "no good generation is left to restore; a person must resume the agent"
        self.say(events.breach(self.agent, number, events.EXHAUSTED, detail))
        self.set(stopped=events.EXHAUSTED, grace=None, trial=None)

    # --- the end -----------------------------------------------------------------------------

    def done(self) -> Transition:
        if self._stays:
            self.set(seen=self.snapshot)
        elif self.restore is None:
            self.set(
                previous=self.moment.scores,
                steadiness=self.steadiness,
                recent=(*self.standing.recent, self.now.fitness)[-WINDOW:],
                drift=self.drift,
                seen=self.snapshot,
            )
        evaluation = Evaluation(
            agent=self.agent,
            trigger=self.trigger,
            generation=self.standing.generation,
            events=(*self._structural(), *self._events),
            fitness=self.now.fitness,
            restore=self.restore,
            trial=self.searched,
            stopped=self.standing.stopped,
        )
        return Transition(self.standing, evaluation, self.recorded)

    def _structural(self) -> list[Event]:
        """What was gained and lost, whatever the transition is called."""
        found, number = self.structure, self.standing.generation
        left = brought(self.snapshot)
        gained = [events.capability(self.agent, one, number) for one in (*found.gains, *found.returned)]
        lost = [
            events.loss(self.agent, one, folded(one.faculty) not in left, number)
            for one in (*found.losses, *found.flapped)
        ]
        return [*gained, *lost]
