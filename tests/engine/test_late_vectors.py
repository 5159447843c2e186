"""Vectors are made beside whoever searches; what comes meanwhile gets its own."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from tests.support.clock import SteppingClock
from tests.support.wire import eventually

POLICY = 'profiles: {p: {agents: [default], additional_tools: ["*"]}}\n'


def test_what_comes_while_vectors_are_made_is_not_left_without(store_url: str, tmp_path: Path) -> None:
    words, asked, may_go_on = word_embedder()[1], threading.Event(), threading.Event()

    def embed(texts: Sequence[str]) -> Any:
        if any("first" in text for text in texts):
            asked.set()
            assert may_go_on.wait(30)
        return words(texts)

    (tmp_path / "policy.yaml").write_text(POLICY)
    options = EngineOptions(policy_files=(tmp_path / "policy.yaml",), embedder=lambda: ("watched", embed))
    source = StaticSource(capabilities=[capability("tool:a", "The first of all.")])
    with Engine(open_database(store_url, tmp_path), (source,), SteppingClock(), {}, options) as engine:
        engine.sync(vectors=False)
        assert engine.find("something else entirely") == ()
        assert asked.wait(30), "its vector is being made"
        source.capabilities.append(capability("tool:b", "Send a letter by post."))
        engine.sync(vectors=False)
        engine.find("something else entirely")
        assert "2 of 2 are still being read" in str(engine.discover("write to my grandmother"))
        may_go_on.set()

        def everything_is_read() -> bool:
            return "still being read" not in str(engine.discover("write to my grandmother"))

        eventually(everything_is_read)
