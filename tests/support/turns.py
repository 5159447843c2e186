"""Turns whose offers are known to the byte: recorded once, compared ever after."""

import zlib
from datetime import UTC, datetime
from itertools import count
from math import isqrt
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from prowess.config import LearningConfig
from prowess.discovery.dense import Matrix
from prowess.discovery.ranking import Embed
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.sources.files.cards import CardFiles
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability
from prowess.types import Detail, Message, Provider, Turn
from tests.engine.test_offer import SEED
from tests.support.clock import SteppingClock
from tests.support.places import DATA

WORDS, REST, SIXTEENTHS = 64, 8, 16
RECORDED = DATA / "turn" / "offers.json"

POLICY = """
grants:
  browsing: {event_patterns: ["tool:web-*", "skill:summarizer", "card:*"]}
profiles:
  owner: {agents: [default], additional_tools: ["*"]}
  reader: {agents: [ada], capabilities: {browsing: true}}
  careful: {agents: [bob], additional_tools: ["*"], ask: ["tool:cli-executor"], pinned: ["tool:git"]}
"""

CARD = """---
id: searching
name: Searching
description: How the web is searched here
triggers: {keywords: [search, news], confidence_threshold: 0.1}
---
News is searched with the paid index first, and with the open web after it.
"""

FURTHER = [
    capability("tool:translate", "Translate a text", required_secrets=("TRANSLATE_KEY",), provider="words"),
    capability("tool:count-words", "Count the words of a text", provider="words", has_side_effects=False),
    *(capability(f"tool:sensor-{n}", f"Read sensor number {n} of the building") for n in range(40)),
]

REQUESTS = (
    "Search the web for AI news and summarize it",
    "list my open GitHub issues",
    "translate this text and count its words",
    "read sensor number 7",
    "tool:web-browser",
    "thanks, that's all",
    "",
)

TURNS: tuple[dict[str, Any], ...] = (
    {},
    {"agent": "ada"},
    {"agent": "bob"},
    {"agent": "nobody"},
    {"budget": 300},
    {"budget": 0, "agent": "bob"},
    {"authenticated": False},
)

SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"only_available": False, "tier1_top_k": 3},
    {"kind": "skill"},
    {"exclude": ["web-search"], "use_graph_reranking": False},
    {"category": "information", "tier2_top_k": 0},
)


def exact_embedder() -> tuple[str, Embed]:
    """Texts that share words are near, by cosines that are the same on every processor.

    Each number is a sixteenth so many times, and each text has length one: no sum of products is rounded,
    in whatever order it is made.
    """
    return "exact", lambda texts: np.array([exact_vector(text) for text in texts])


def exact_vector(text: str) -> Matrix:
    words = (word.strip(".,:;()") for word in text.lower().split())
    places = list(dict.fromkeys(zlib.crc32(word.encode()) % WORDS for word in words))
    weights = dict.fromkeys(range(WORDS, WORDS + REST), 0)
    left = SIXTEENTHS**2
    for number, place in enumerate((*places, *weights)):
        # The words share the length about evenly; the rest is no word's.
        weights[place] = isqrt(left // max(1, len(places) - number))
        left -= weights[place] ** 2
    vector = np.zeros(WORDS + REST, np.float32)
    vector[list(weights)] = np.array(list(weights.values())) / SIXTEENTHS
    return vector


def engine_of_turns(url: str, folder: Path, with_all: bool = True) -> Engine:
    """An engine over a small catalogue; with cards and learning, unless told otherwise."""
    (folder / "policy.yaml").write_text(POLICY)
    (folder / "searching.md").write_text(CARD)
    schema = {"type": "object", "properties": {"query": {"type": "string", "description": "What to find"}}}
    numbers = count(1)
    options = EngineOptions(
        policy_files=(folder / "policy.yaml",),
        embedder=exact_embedder,
        presets={"news": ["tool:news-search", "skill:summarizer"]},
        ids=lambda: f"turn-{next(numbers)}",
        learning=LearningConfig(mode="accumulate" if with_all else "off"),
    )
    source = StaticSource(
        capabilities=[*SEED, *FURTHER],
        details={"tool:web-search": Detail(input_schema=schema), "skill:github": Detail(content="Use `gh`.")},
        providers=[Provider(name="words", source="static")],
    )
    cards = CardFiles(name="cards", paths=(str(folder),))
    sources = (source, cards) if with_all else (source,)
    return Engine(open_database(url, folder), sources, SteppingClock(), {}, options)


def offers(engine: Engine) -> list[dict[str, Any]]:
    """Every turn with every setting, as plain values without what differs by itself."""
    engine.sync()
    found = []
    at = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
    for request in REQUESTS:
        for fields in TURNS:
            turn = Turn(messages=(Message("user", request),), at=at, **fields)
            varied = SETTINGS if fields.keys() <= {"agent"} else SETTINGS[:1]
            found += [plain(engine, turn, settings) for settings in varied]
    engine.providers.deactivate("words", "default", "a test")
    found += [plain(engine, Turn(messages=(Message("user", REQUESTS[2]),), at=at), {})]
    return found


def plain(engine: Engine, turn: Turn, settings: dict[str, Any]) -> dict[str, Any]:
    offer: dict[str, Any] = msgspec.to_builtins(engine.offer(turn, **settings), enc_hook=str)
    offer["hits"] = [{**hit, "score": round(hit["score"], 5)} for hit in offer["hits"]]
    offer.pop("policy_revision")
    offer["id"] = offer["id"].partition("~")[0]  # behind it stands whose the offer is
    read: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(offer))
    return read
