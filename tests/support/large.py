"""An engine whose catalogue is held in memory, or looked up because it is larger than it may be."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.store.opening import open_database
from prowess.testing import StaticSource, word_embedder
from tests.support.clock import SteppingClock

POLICY = """
profiles:
  clerk: {agents: [ada], additional_tools: ["tool:office/*"], disallowed_tools: ["tool:office/delete_*"]}
  searcher: {agents: [few], additional_tools: ["tool:office/search_*"]}
  owner: {agents: [default], additional_tools: ["*"]}
"""
HELD, LOOKED_UP = 1000, 10
"""For `in_memory`: more than the catalogue of a test has, and fewer."""


@contextmanager
def opened(
    url: str, folder: Path, source: StaticSource, in_memory: int = LOOKED_UP, **options: Any
) -> Iterator[Engine]:
    """An engine that has synced this source, under a policy that ada is bound to."""
    folder.mkdir(exist_ok=True)
    if not (folder / "policy.yaml").exists():
        (folder / "policy.yaml").write_text(POLICY)
    usual = {"embedder": word_embedder, "policy_files": (folder / "policy.yaml",), "in_memory": in_memory}
    chosen = EngineOptions(**{**usual, **options})
    with Engine(open_database(url, folder), (source,), SteppingClock(), {}, chosen) as engine:
        engine.sync()
        yield engine
