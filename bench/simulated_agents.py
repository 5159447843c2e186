"""Simulated agents: some stay as they are, some get new providers of which one does damage.

`false_alarms` counts what evolution makes of agents that only wobble; `found_cause` tells whether the right
provider is switched off in time, and whether an innocent one stays off. The original's rule is beside it.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from prowess.evolution.fitness import fitness
from prowess.evolution.params import Params
from prowess.evolution.records import Evaluation, EvaluationContext, EvaluationInput, Restore
from prowess.evolution.replay import Life
from prowess.evolution.scores import Scores
from prowess.evolution.snapshot import snapshot_of

NOISE = 0.05
KNOWN = {"mail": "Communication", "notes": "Memory", "web": "Web"}
NEW = ("vision", "maps", "shop")
SOON, LATER, MOST = 5, 10, 30
CALLS = 10
USUALLY_FAIL, BADLY_FAIL = 0.05, 0.4


@dataclass(frozen=True, slots=True)
class Truth:
    """What an agent really is: the axes before noise."""

    cognitive: float
    behavioral: float
    autonomy: float
    meta_learning: float

    def measured(
        self, chance: random.Random, noise: float, worse: float = 0.0, steady_level: bool = True
    ) -> Scores:
        """The axes with noise; `worse` is taken off cognitive and behavioral."""

        def seen(value: float) -> float:
            return min(1.0, max(0.0, value + chance.gauss(0, noise)))

        level = self.autonomy if steady_level else seen(self.autonomy)
        return Scores(
            seen(self.cognitive - worse),
            seen(self.behavioral - worse),
            1.0,
            float(level),
            seen(self.meta_learning),
        )


def some_agent(chance: random.Random) -> Truth:
    value = [chance.uniform(0.35, 0.9) for _ in range(3)]
    return Truth(value[0], value[1], chance.choice((0.2, 0.4, 0.6, 0.8)), value[2])


def false_alarms(
    seed: int, agents: int, length: int, noise: float = NOISE, steady_level: bool = True,
    params: Params | None = None,
) -> dict[str, int]:  # fmt: skip
    """Agents that stay as they are: what was found all the same, by trigger, and how many stopped."""
    found: dict[str, int] = {}
    setting = EvaluationContext(snapshot=snapshot_of(KNOWN, {p: (f,) for p, f in KNOWN.items()}), at="now")
    for number in range(agents):
        chance = random.Random(seed * 1_000_003 + number)
        truth, life = some_agent(chance), Life()
        for index in range(length):
            scores = truth.measured(chance, noise, steady_level=steady_level)
            made = life.evaluate(EvaluationInput("ada", scores, setting), params or Params())
            if index and made.trigger:
                found[made.trigger] = found.get(made.trigger, 0) + 1
            if made.stopped:
                found["stopped"] = found.get("stopped", 0) + 1
    return found


@dataclass(frozen=True, slots=True)
class Damage:
    """One case: how many providers come at once, how late the damage shows and how large it is."""

    changes: int
    lag: int
    size: float
    """What is taken off two axes; twice the fall of fitness. 0 is something from 0.2 to 0.6, by chance."""
    with_evidence: bool
    recovers_after: int = 0
    """Evaluations until what is measured is good again once the cause is off."""
    noise: float = NOISE


@dataclass(frozen=True, slots=True)
class CauseFound:
    in_time: bool
    """The right provider was off within five evaluations, counted from the first bad one."""
    innocent_off: bool
    """An innocent one was off ten evaluations after the first bad one."""
    still_off: bool
    """The right one was off then."""
    off_after: int


Rule = Callable[[EvaluationInput], Evaluation]


@dataclass(slots=True)
class World:
    """What is switched on, and since when the cause has been on or off."""

    guilty: str
    damage: Damage
    active: set[str] = field(default_factory=lambda: set(KNOWN))
    on_for: int = -1
    """Evaluations since the cause is on; -1 while it is off."""
    bad_until: int = 0

    def is_bad(self) -> bool:
        """Whether this evaluation shows damage; called once for each."""
        if self.guilty in self.active:
            self.on_for += 1
            bad = self.on_for >= self.damage.lag
            self.bad_until = self.damage.recovers_after if bad else 0
            return bad
        self.on_for = -1
        self.bad_until -= 1
        return self.bad_until >= 0

    def follow(self, made: Evaluation) -> None:
        for switched in (made.restore, made.trial):
            if switched:
                self.active = self.active - set(switched.off) | set(switched.on)


def found_cause(seed: int, damage: Damage, rule: Callable[[], Rule]) -> CauseFound:
    chance = random.Random(seed)
    truth, evaluate = replace(some_agent(chance), cognitive=0.8, behavioral=0.75), rule()
    came = chance.sample(NEW, damage.changes)
    world = World(chance.choice(came), damage)
    size = damage.size or chance.uniform(0.2, 0.6)
    for _ in range(chance.randint(25, 60)):
        world.follow(evaluate(_moment(truth.measured(chance, damage.noise), world.active, {})))
    world.active |= set(came)
    first, off_after, number = 0, 99, 0
    while number < first + LATER if first else number < MOST:
        number += 1
        bad = world.is_bad()
        if bad and not first:
            first = number
        evidence = _evidence(chance, world, bad) if damage.with_evidence else {}
        scores = truth.measured(chance, damage.noise, size if bad else 0.0)
        world.follow(evaluate(_moment(scores, world.active, evidence)))
        if off_after == 99 and world.guilty not in world.active:
            off_after = number - first + 1 if first else 0
    innocent = set(came) - {world.guilty}
    return CauseFound(
        off_after <= SOON,
        not (innocent | set(KNOWN)) <= world.active,
        world.guilty not in world.active,
        off_after,
    )


def _moment(scores: Scores, active: Iterable[str], evidence: Mapping[str, float]) -> EvaluationInput:
    brings = {**{p: (f,) for p, f in KNOWN.items()}, **dict.fromkeys(NEW, ("Vision",))}
    snapshot = snapshot_of(active, brings)
    return EvaluationInput("ada", scores, EvaluationContext(snapshot=snapshot, at="now", evidence=evidence))


def _evidence(chance: random.Random, world: World, bad: bool) -> dict[str, float]:
    """What share of each provider's latest calls failed; the cause fails more often once it does damage."""

    def failed(provider: str) -> float:
        rate = BADLY_FAIL if bad and provider == world.guilty else USUALLY_FAIL
        return sum(chance.random() < rate for _ in range(CALLS)) / CALLS

    return {provider: failed(provider) for provider in sorted(world.active)}


# --- the rules -------------------------------------------------------------------------------


def ours(params: Params | None = None) -> Rule:
    life = Life()
    return lambda moment: life.evaluate(moment, params or Params())


def original() -> Rule:
    """The original's: a generation is good when it is recorded, and a fall is one step after the debounce.

    It goes back to the last good generation, and a gain makes a generation only after the debounce, too.
    """
    return _Original().evaluate


@dataclass(slots=True)
class _Original:
    params: Params = field(default_factory=lambda: Params(rebalance_margin=0.0))
    previous: Scores | None = None
    since: int = 0
    seen: frozenset[str] = frozenset()
    good: frozenset[str] = frozenset()

    def evaluate(self, moment: EvaluationInput) -> Evaluation:
        active = frozenset(moment.setting.snapshot.active_providers)
        now = fitness(moment.scores, self.params)
        before = fitness(self.previous or moment.scores, self.params)
        self.since += 1
        restore = None
        if self.previous is None:
            self.good = self.seen = active
        elif self.since > self.params.min_interactions:
            threshold = max(self.params.theta_min, self.params.beta * before)
            if now - before <= -2 * threshold:
                restore = _restored(active, self.good)
                active, self.since = self.good, 0
            elif active - self.seen or now - before >= max(self.params.theta_min, self.params.alpha * before):
                self.good, self.since = active, 0
            self.seen = active
        self.previous = moment.scores
        return Evaluation(
            agent="ada", trigger="Regression" if restore else None, generation=1, events=(), fitness=now,
            restore=restore,
        )  # fmt: skip


def _restored(active: frozenset[str], good: frozenset[str]) -> Restore:
    return Restore(tuple(sorted(active - good)), tuple(sorted(good - active)), "")
