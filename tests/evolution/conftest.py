"""Engines whose agents change."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.store.opening import open_database
from prowess.testing import word_embedder
from tests.evolution.evaluator import source
from tests.support.clock import SteppingClock
from tests.support.evolution import OpenEvolving
from tests.support.stores import OWNER


@pytest.fixture
def open_evolving(store_url: str, tmp_path: Path, clock: SteppingClock) -> Iterator[OpenEvolving]:
    opened: list[Engine] = []

    def open_one() -> Engine:
        file = tmp_path / "policy.yaml"
        file.write_text(OWNER)
        options = EngineOptions(policy_files=(file,), embedder=word_embedder)
        opened.append(Engine(open_database(store_url, tmp_path), (source(),), clock, {}, options))
        return opened[-1]

    yield open_one
    for engine in opened:
        engine.close()
