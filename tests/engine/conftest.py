"""Engines over a PostgreSQL of a test's own, which may go away and come back."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder

POLICY = """
profiles:
  owner: {agents: [ada, bob], additional_tools: ["*"]}
  guest: {}
"""
OpenNode = Callable[..., Engine]


@pytest.fixture
def open_node(tmp_path: Path) -> Iterator[OpenNode]:
    """Open one node of a store: an engine that shares nothing with the others but its URL."""
    engines: list[Engine] = []
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY)

    def open_one(
        url: str, stale_for: float = 30.0, replica: str = "", in_memory: int = 1000, **more: Any
    ) -> Engine:
        tools = [capability("tool:mail", "Send a mail"), capability("tool:room", "Book a room")]
        sources = (StaticSource("office", capabilities=tools),)
        options = EngineOptions(
            embedder=word_embedder, policy_files=(policy,), stale_for=stale_for, in_memory=in_memory, **more
        )
        database = open_database(url, tmp_path, replica=replica)
        engines.append(Engine(database, sources, lambda: datetime.now(UTC), {}, options))
        engines[-1].sync()
        return engines[-1]

    yield open_one
    for engine in engines:
        engine.close()
