"""A small office with tools, agents who use them, and an engine that learns from it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prowess.config import LearningConfig
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Message, Outcome, Turn
from tests.support.clock import SteppingClock

POLICY = """
profiles:
  owner:
    agents: [default, ada, bob, eve]
    additional_tools: ["*"]
  clerk:
    agents: [cy]
    additional_tools: ["tool:invoices", "skill:*"]
  guest:
    agents: [gus]
    additional_tools: ["tool:calendar"]
"""

TOOLS = [
    capability("tool:mail", "Send electronic mail to a colleague."),
    capability("tool:calendar", "Look at the calendar of meetings."),
    capability("tool:wiper", "Erase the disk of a computer."),
    capability("tool:invoices", "Ledger accounting documents."),
    capability("tool:archive", "Store documents for years."),
    *(capability(f"tool:other-{n}", f"Handles subject number {n} of widgets.") for n in range(8)),
]


@contextmanager
def office(
    url: str, folder: Path, clock: SteppingClock, policy: str = POLICY, **learning: object
) -> Iterator[Engine]:
    file = folder / "policy.yaml"
    file.write_text(policy)
    config = LearningConfig(**{"mode": "accumulate", **learning})  # type: ignore[arg-type]
    options = EngineOptions(policy_files=(file,), embedder=word_embedder, learning=config)
    with Engine(
        open_database(url, folder), (StaticSource(capabilities=TOOLS),), clock, {}, options
    ) as engine:
        engine.sync()
        yield engine


def use(engine: Engine, request: str, *used: str, agent: str = "ada", ok: bool = True, key: str = "") -> str:
    """Ask for something, use these capabilities for it one after the other; returns the offer's id."""
    offer = engine.offer(Turn(messages=(Message("user", request),), agent=agent))
    for id in used:
        engine.record(Outcome(offer=offer.id, capability=id, ok=ok, agent=agent, key=key))
    return offer.id
