"""A process that evaluates an agent, for a number of rounds or until it is killed.

    python -m tests.evolution.evaluator URL AGENT [ROUNDS]

Each round switches provider C on, tells of a gain, then breaks safety, so that the rollback
switches C off again. What it prints was acknowledged.
"""

import itertools
import sys
from pathlib import Path

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.errors import EvolutionError
from prowess.opening import now
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability
from prowess.types import Provider
from tests.support.evolution import FAIR, UNSAFE

EVERYTHING = EngineOptions(policy_files=(Path(__file__).with_name("owner.yaml"),))
"""A policy by which every agent may use everything."""
FACULTIES = {"A": ("Reasoning",), "B": ("Memory",), "C": ("Vision",)}


def source() -> StaticSource:
    """Three providers with a tool each."""
    return StaticSource(
        capabilities=[capability(f"tool:{name.lower()}-work", provider=name) for name in FACULTIES],
        providers=[
            Provider(name=name, source="static", faculties=brings) for name, brings in FACULTIES.items()
        ],
    )


def main(url: str, agent: str, rounds: str = "") -> None:
    engine = Engine(open_database(url, Path()), (source(),), now, {}, EVERYTHING)
    print("ready", flush=True)
    for _ in range(int(rounds)) if rounds else itertools.count():
        engine.evolution.evaluate(agent, FAIR)
        engine.providers.activate("C", agent)
        engine.evolution.evaluate(agent, FAIR)
        evaluation = engine.evolution.evaluate(agent, UNSAFE)
        print(evaluation.generation, flush=True)
        if evaluation.stopped:
            resume(engine, agent)


def resume(engine: Engine, agent: str) -> None:
    try:
        engine.evolution.resume(agent)
    except EvolutionError:
        print("another process resumed it", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
