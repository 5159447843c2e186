"""prowess, through `engine.find`: as shipped, and with threshold and abstention off."""

import atexit
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.peers.shelf import K, Search, Shelf
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.opening import now
from prowess.sources.names import display_name
from prowess.store.opening import open_database
from prowess.testing import StaticSource

PACKAGE = "prowess"
EVERYTHING = 'profiles: {bench: {agents: [default], additional_tools: ["*"]}}\n'


def build(shelf: Shelf) -> Search:
    """The hits of `find`, with the threshold of .3 and ten hits instead of five."""
    engine = _engine(shelf)

    def search(request: str) -> Sequence[str]:
        return [hit.id for hit in engine.find(request, tier1_top_k=K)]

    return search


def build_without_threshold(shelf: Shelf) -> Search:
    engine = _engine(shelf)
    return lambda request: engine.rank(request, depth=K)


def _engine(shelf: Shelf) -> Engine:
    folder = tempfile.TemporaryDirectory(prefix="prowess-peers-")
    atexit.register(folder.cleanup)  # the engine is used until the process ends
    place = Path(folder.name)
    policy = place / "policy.yaml"
    policy.write_text(EVERYTHING, encoding="utf-8")
    # As a server's tools are read: their names in words too.
    tools = [replace(each, display_name=display_name(each.name)) for each in shelf.capabilities]
    source = StaticSource("bench", capabilities=tools, details=dict(shelf.details))
    options = EngineOptions(policy_files=(policy,), embedder=lambda: ("bench", shelf.embed))
    engine = Engine(open_database("store.db", place), (source,), now, {}, options)
    engine.sync()
    return engine
