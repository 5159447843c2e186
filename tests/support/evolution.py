"""What the tests of evolution share: scores and snapshots in short, and an agent's life in memory."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from prowess.engine import Engine
from prowess.evolution.events import Event
from prowess.evolution.params import Params
from prowess.evolution.records import Evaluation, EvaluationContext, EvaluationInput
from prowess.evolution.replay import Life
from prowess.evolution.scores import AXES, Scores, parse_scores
from prowess.evolution.snapshot import Snapshot, snapshot_of
from prowess.evolution.transition import roll_back

OpenEvolving = Callable[[], Engine]

ORIGINAL = Params(safety_floor=1.0, rebalance_margin=0.0)
"""The parameters under which the original's own traces were recorded."""
EAGER = Params(min_interactions=1)


def scores(*values: float | str) -> Scores:
    """Scores in the order of the golden files: cognitive, behavioral, safety, autonomy, meta_learning."""
    return parse_scores(dict(zip(AXES, values, strict=True)))


def snapshot(**providers: str) -> Snapshot:
    """A snapshot from provider="Faculty Faculty"; an empty text is a provider nobody knows about."""
    known = {name: said.split() for name, said in providers.items() if said}
    return snapshot_of(providers, known)


AB = snapshot(A="Reasoning", B="Memory")
ABC = snapshot(A="Reasoning", B="Memory", C="Vision Reasoning")
FAIR = scores(0.5, 0.5, 1.0, "L2", 0.3)
UNSAFE = scores(0.5, 0.5, 0.2, "L2", 0.3)


def shown(event: Event) -> str:
    """An event as the golden traces print it."""
    d = event.data
    texts = {
        "EvolutionGeneration": lambda: f"(gen={d['generation']},{d['trigger']})",
        "EvolutionRebalance": lambda: f"({d['shifted_axes']},gen={d['generation']})",
        "EvolutionWarning": lambda: (
            f"({d['severity']},{d['affected_area']},remaining={d['grace_remaining']})"
        ),
        "EvolutionRollback": lambda: f"({d['from_generation']}->{d['to_generation']},{d['reason']})",
        "EvolutionBreach": lambda: f"({d['violation_type']})",
        "EvolutionTrial": lambda: f"({d['step']}:{','.join(one['provider'] for one in d['suspects'])})",
        "EvolutionCapability": lambda: (
            f"({d.get('direction', d['severity'])}:{d['faculty']},gen={d['generation']})"
        ),
    }
    return event.type + texts[event.type]().replace("'", '"')


@dataclass
class Trial:
    """One agent evaluated in memory, under parameters that may change."""

    params: Params = field(default_factory=Params)
    life: Life = field(default_factory=Life)
    agent: str = "ada"
    evidence: dict[str, float] = field(default_factory=dict)
    decided_off: frozenset[str] = frozenset()
    last: Evaluation | None = None

    def evaluate(self, scores: Scores, snapshot: Snapshot = AB, times: int = 1) -> list[str]:
        """Evaluate (so many times) and return what the last evaluation said."""
        for _ in range(times):
            setting = EvaluationContext(
                snapshot=snapshot, at="now", evidence=self.evidence, decided_off=self.decided_off
            )
            moment = EvaluationInput(self.agent, scores, setting)
            self.last = self.life.evaluate(moment, self.params)
        return self.said

    def follow(self, series: Iterable[Scores]) -> list[str]:
        """Everything that a series of evaluations says, one after the other."""
        return [text for scores in series for text in self.evaluate(scores)]

    def roll_back(self, to: int, snapshot: Snapshot = AB) -> list[str]:
        standing = self.life.standing
        assert standing.previous is not None
        moment = EvaluationInput(
            self.agent, standing.previous, EvaluationContext(snapshot=snapshot, at="now")
        )
        made = roll_back(standing, moment, to, self.params, self.life.generations.get)
        self.last = self.life.take(made)
        return self.said

    @property
    def said(self) -> list[str]:
        return [shown(event) for event in self.last.events] if self.last else []

    @property
    def generation(self) -> int:
        return self.life.standing.generation

    def set(self, **changes: float | bool) -> None:
        self.params = replace(self.params, **changes)  # type: ignore[arg-type]


def exhaust(evaluate: Callable[[Scores, Snapshot], object]) -> None:
    """Breaches until the agent is stopped: each time something is switched off, and nothing helps."""
    for _ in range(4):
        evaluate(UNSAFE, ABC)
        evaluate(UNSAFE, AB)


def inconsistencies(engine: Engine, agent: str) -> list[str]:
    """Everything that records, events and switches say about an agent and that does not agree."""
    generations = engine.evolution.history(agent, 100_000)
    entries = [entry for entry in engine.journal.after(()) if entry.chain == agent]
    told = [e.data["generation"] for e in entries if e.type in ("EvolutionGeneration", "EvolutionRollback")]
    numbers = [generation.number for generation in generations]
    found = []
    if numbers != list(range(1, len(numbers) + 1)):
        found.append(f"numbers are not dense: {numbers}")
    if told != numbers:
        found.append(f"events {told} do not match records {numbers}")
    log = [entry.evaluation for entry in engine.evolution.fitness(agent, 100_000)]
    if log != list(range(1, engine.evolution.status(agent).evaluations + 1)):
        found.append(f"the log of {len(log)} evaluations has gaps")
    off = {e.data["provider"]: e.type == "provider.off" for e in entries if e.type.startswith("provider.")}
    said_off = {name for name, is_off in off.items() if is_off}
    rolled_back = {name for e in entries if e.type == "EvolutionRollback" for name in e.data["switched_off"]}
    really_off = {provider.name for provider in engine.providers.list(agent) if provider.off}
    if said_off != really_off or not rolled_back <= off.keys():
        found.append(f"the journal says {said_off} are off, but {really_off} are; rolled back: {rolled_back}")
    return found
