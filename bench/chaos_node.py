"""One node of `bench.chaos`: serves agents until it is killed, and writes down what it was told is safe.

python -m bench.chaos_node URL FOLDER NAME
"""

import json
import random
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TextIO

from prowess.config import EvolutionConfig, LearningConfig
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.engine.search import STALE
from prowess.errors import ProwessError
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Message, Outcome, Turn

AGENTS = ("ada", "bob", "eve", "kim")
STEPS = 50
"""As many profiles as the probe is led through, one after the other; each may use one tool."""
EVERY_OUTCOMES = 5


def policy() -> str:
    owner = "  owner: {agents: [ada, bob, eve, kim], additional_tools: ['tool:work*']}\n"
    steps = (f"  step{n}: {{additional_tools: ['tool:step{n}']}}\n" for n in range(STEPS))
    return f"profiles:\n{owner}{''.join(steps)}"


def opened(url: str, folder: Path, clock: Callable[[], datetime]) -> Engine:
    tools = [capability(f"tool:work{n}", f"Do the work number {n}") for n in range(20)]
    tools += [capability(f"tool:step{n}", "Take the step") for n in range(STEPS)]
    options = EngineOptions(
        embedder=word_embedder,
        policy_files=(folder / "policy.yaml",),
        evolution=EvolutionConfig(every_outcomes=EVERY_OUTCOMES),
        learning=LearningConfig(mode="accumulate", every_minutes=0.05),
    )
    source = StaticSource("office", capabilities=tools)
    return Engine(open_database(url, folder, patience=5.0), (source,), clock, {}, options)


@dataclass(frozen=True, slots=True)
class JumpingClock:
    """The time, and as many seconds more as stand in a file."""

    file: Path

    def __call__(self) -> datetime:
        ahead = 0.0
        with suppress(OSError, ValueError):
            ahead = float(self.file.read_text())
        return datetime.now(UTC) + timedelta(seconds=ahead)


class Load:
    def __init__(self, engine: Engine, name: str, out: TextIO) -> None:
        self._engine = engine
        self._name = name
        self._out = out
        self._lock = threading.Lock()

    def run(self, number: int) -> None:
        chance = random.Random(f"{self._name} {number}")
        while True:
            agent = chance.choice(AGENTS)
            self._noted("turn", lambda agent=agent: self._turn(agent, chance))
            self._noted("probe", self._probe)
            self._noted("find", self._find)
            if chance.random() < 0.1:
                self._noted("learn", self._learn)
            time.sleep(0.05)

    def _turn(self, agent: str, chance: random.Random) -> dict[str, Any]:
        turn = Turn(messages=(Message("user", f"do the work number {chance.randrange(20)}"),), agent=agent)
        offer = self._engine.offer(turn)
        self._say({"kind": "offer", "id": offer.id, "agent": agent})
        used = offer.hits[0].id if offer.hits else "tool:work1"
        self._engine.record(Outcome(offer=offer.id, capability=used, ok=chance.random() < 0.8, agent=agent))
        return {"id": offer.id, "agent": agent}

    def _probe(self) -> dict[str, Any]:
        world = self._engine.internals.world("probe")
        seen = [id for id in world.visible("probe").capabilities if id.startswith("tool:step")]
        return {"sees": seen}

    def _find(self) -> dict[str, Any]:
        hits = self._engine.find("take the step", "probe")
        return {"sees": [hit.id for hit in hits], "stale": any(h.reasons[0].startswith(STALE) for h in hits)}

    def _learn(self) -> dict[str, Any]:
        self._engine.evolution.evaluate_due()
        return {"lessons": len(self._engine.learning.learn_due().lessons)}

    def _noted(self, kind: str, work: Callable[[], dict[str, Any]]) -> None:
        begun = time.monotonic()
        try:
            said = work()
        except ProwessError as error:
            said = {"refused": type(error).__name__, "why": error.message[:200]}
        except Exception as error:  # what it is, the report says
            said = {"crashed": f"{type(error).__name__}: {error}"[:300]}
        self._say({"kind": kind, "begun": begun, "ended": time.monotonic(), **said})

    def _say(self, said: dict[str, Any]) -> None:
        with self._lock:
            self._out.write(json.dumps({"node": self._name, **said}) + "\n")
            self._out.flush()


def main(url: str, place: str, name: str) -> None:
    folder = Path(place)
    engine = None
    while engine is None:
        with suppress(ProwessError):  # the store may be away just now
            engine = opened(url, folder, JumpingClock(folder / "ahead"))
    with (folder / f"{name}.jsonl").open("a") as out:
        load = Load(engine, name, out)
        out.write(json.dumps({"node": name, "kind": "started", "ended": time.monotonic()}) + "\n")
        threads = [threading.Thread(target=load.run, args=(number,), daemon=True) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
