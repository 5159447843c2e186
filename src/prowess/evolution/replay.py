"""What would have happened: evaluations from a file through the same steps, without any store."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import msgspec

from prowess.errors import EvolutionError
from prowess.evolution.params import Params
from prowess.evolution.records import (
    AgentState,
    Evaluation,
    EvaluationContext,
    EvaluationInput,
    Generation,
    Transition,
)
from prowess.evolution.scores import parse_scores
from prowess.evolution.snapshot import parse_snapshot
from prowess.evolution.transition import step
from prowess.types import DEFAULT_AGENT, Json


@dataclass(slots=True)
class Life:
    """One agent's evolution in memory."""

    standing: AgentState = field(default_factory=AgentState)
    generations: dict[int, Generation] = field(default_factory=dict)

    def evaluate(self, moment: EvaluationInput, params: Params) -> Evaluation:
        return self.take(step(self.standing, moment, params, self.generations.get))

    def take(self, made: Transition) -> Evaluation:
        """Keep what a step came to, as the store does."""
        self.standing = made.standing
        if made.recorded:
            self.generations[made.recorded.number] = made.recorded
            target = self.generations.get(made.recorded.restored)
            if target and made.counts:
                self.generations[target.number] = replace(target, rollbacks=target.rollbacks + 1)
        return made.evaluation


def replay(lines: Iterable[bytes], params: Params, place: str) -> Iterator[Evaluation]:
    """Evaluate line after line, each agent by itself; an empty line is nothing."""
    lives: dict[str, Life] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{place}, line {number}"
        said = _object(line, where)
        agent = _agent(said, where)
        life = lives.setdefault(agent, Life())
        # A line without a snapshot says that nothing changed.
        snapshot = parse_snapshot(said["snapshot"], where) if "snapshot" in said else life.standing.seen
        scores = parse_scores(said.get("scores"), where)
        setting = EvaluationContext(snapshot=snapshot, at=f"line {number}")
        yield life.evaluate(EvaluationInput(agent, scores, setting), params)


def as_data(evaluation: Evaluation) -> dict[str, Json]:
    """An evaluation as a line of the replay, and as the API shows it."""
    return {
        "agent": evaluation.agent,
        "trigger": evaluation.trigger,
        "generation": evaluation.generation,
        "events": [event.flat() for event in evaluation.events],
    }


def _object(line: bytes, where: str) -> dict[str, Json]:
    remedy = 'write {"agent": ..., "scores": {...}, "snapshot": {...}}'
    try:
        said = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as failure:
        raise EvolutionError(where, f"is not JSON ({failure})", remedy) from None
    if not isinstance(said, dict):
        raise EvolutionError(where, "is not an object", remedy)
    return said


def _agent(said: dict[str, Json], where: str) -> str:
    agent = said.get("agent", DEFAULT_AGENT)
    if not isinstance(agent, str) or not agent:
        raise EvolutionError(where, f"agent must be a name, got {agent!r}", "write the agent's name")
    return agent
