"""A program that calls things, for tests: functions, events, skills and what only the host can do."""

import asyncio
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import prowess
from prowess import Engine
from prowess.config import CallsConfig
from prowess.engine.options import EngineOptions
from prowess.sources.python.events import Events
from prowess.sources.python.functions import Functions
from prowess.sources.source import Source
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder

POLICY = """
profiles:
  owner: {agents: [default], additional_tools: ["*"]}
  some: {agents: [ada], additional_tools: ["tool:add"]}
"""


@dataclass
class Workshop:
    """Functions that remember what was done with them."""

    done: list[str] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)

    @property
    def functions(self) -> tuple[Any, ...]:
        @prowess.tool(side_effects=False)
        def add(a: int, b: int = 2) -> int:
            """Add two numbers.

            a: the first number
            b: the second number
            """
            self.done.append(f"add {a} {b}")
            return a + b

        @prowess.tool
        def send_mail(to: str, subject: str = "") -> dict[str, Any]:
            """Send a mail to somebody."""
            self.done.append(f"mail {to}")
            return {"id": len(self.done), "to": {"name": to, "box": "in"}, "items": [{"a": 1, "b": 2}]}

        @prowess.tool(side_effects=False)
        async def later(text: str) -> str:
            """Say something a moment later."""
            await asyncio.sleep(0)
            self.done.append(f"later {text} {threading.current_thread().name}")
            return text

        @prowess.tool
        def fails(why: str) -> None:
            """Fail, and say why."""
            raise ValueError(why)

        @prowess.tool(side_effects=False)
        def hangs() -> str:
            """Never end by itself."""
            self.release.wait(60)
            return "released"

        @prowess.tool(side_effects=False)
        def huge(megabytes: int) -> str:
            """Return a text that is very long."""
            return "x" * (megabytes * 1024 * 1024)

        return (add, send_mail, later, fails, hangs, huge)

    @property
    def handlers(self) -> tuple[Any, ...]:
        @prowess.event_handler("note:file")
        def file_note(payload: dict[str, Any]) -> str:
            self.done.append(f"filed {payload['text']}")
            return "filed"

        @prowess.event_handler("note:move")
        def move_note(title: str, folder: str = "inbox") -> str:
            self.done.append(f"moved {title} to {folder}")
            return f"in {folder}"

        return (file_note, move_note)


HOSTS = StaticSource(
    name="host",
    capabilities=[
        capability("channel:discord", "Talk on Discord."),
        capability("extension:canvas", "Draw on a canvas."),
    ],
)


@contextmanager
def program(
    folder: Path,
    store_url: str = "sqlite::memory:",
    sources: Sequence[Source] = (),
    policy: str = POLICY,
    workshop: Workshop | None = None,
    environment: Mapping[str, str] | None = None,
    patience: float = 30.0,
    **calls: Any,
) -> Iterator[Engine]:
    """An engine over a workshop and more, synced."""
    file = folder / "policy.yaml"
    file.write_text(policy)
    made = workshop or Workshop()
    own: tuple[Source, ...] = (
        Functions(name="own", functions=made.functions),
        Events(name="events", handlers=made.handlers),
        HOSTS,
    )
    options = EngineOptions(
        policy_files=(file,), embedder=word_embedder, calls=CallsConfig(**calls),
        trust={source.name: "full" for source in sources},
    )  # fmt: skip
    database = open_database(store_url, folder, patience)
    with Engine(database, (*own, *sources), lambda: datetime.now(UTC), environment or {}, options) as engine:
        engine.sync(vectors=False)
        yield engine
        made.release.set()


def kinds(engine: Engine, agent: str = "default") -> list[str]:
    """What the journal says happened, in order."""
    return [entry.type for entry in engine.journal.latest(1000, agent)]
