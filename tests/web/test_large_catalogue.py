"""The dashboard and the API of a catalogue beyond `in_memory` show what they show of one in memory."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from prowess.engine import Engine
from prowess.testing import StaticSource, capability
from prowess.types import Provider
from prowess.web.dispatch import ROOT
from tests.discovery.test_stored import tools
from tests.support.large import HELD, opened
from tests.support.web import app_of, browser, signed_in

PAGES = (
    "/",
    "/catalogue",
    "/catalogue?page=2",
    "/catalogue?q=create+invoice",
    "/catalogue?q=office",
    "/catalogue?provider=home&category=c1",
    "/catalogue?kind=skill",
    "/catalogue?state=available",
    "/catalogue?state=unavailable",
    "/catalogue?state=held",
    "/catalogue?state=off",
    "/capability?id=tool:office/create_invoice",
    "/capability?id=skill:dun",
    "/graph",
    "/graph/data",
    "/graph/data?around=skill:dun&hops=2",
    "/servers",
    "/server?name=office",
    "/server?name=safe",
    "/welcome",
)
CALLS = (
    "/capabilities?limit=200",
    "/capabilities?limit=7&kind=tool&provider=home",
    "/capabilities?limit=200&category=c3&available=true",
    "/capabilities?limit=200&agent=ada",
    "/capabilities?limit=200&text=invoice",
    "/stats",
    "/secrets",
    "/servers",
)


def catalogue() -> StaticSource:
    """Tools of four servers, of which one lacks a secret and one is switched off; skills that need them."""
    things = [
        replace(one, category=f"c{n % 5}", tags=("office", one.name.split("_")[1]))
        for n, one in enumerate(tools())
    ]
    safe = [
        capability(f"tool:safe/open_{n}", "Opens a safe.", provider="safe", required_secrets=("SAFE_KEY",))
        for n in range(3)
    ]
    off = [capability("tool:away/wave", "Waves from far away.", provider="away")]
    skills = [
        capability("skill:dun", "Reminds a debtor.", required_tools=("office/search_invoice",)),
        capability(
            "skill:rob", "Takes what is in a safe.", required_tools=("safe/open_1", "nothing_like_it")
        ),
    ]
    names = ("office", "home", "safe", "away")
    source = StaticSource("tools", capabilities=[*things, *safe, *off, *skills])
    source.providers = [Provider(name=name, source="tools", faculties=(name,)) for name in names]
    return source


@pytest.fixture
def pair(store_url: str, tmp_path: Path) -> Iterator[tuple[Engine, Engine]]:
    with (
        opened("held.db", tmp_path / "held", catalogue(), HELD) as held,
        opened(store_url, tmp_path / "stored", catalogue()) as stored,
    ):
        for engine in (held, stored):
            engine.providers.deactivate("away", reason="not today")
        yield held, stored


def said(client: TestClient, address: str) -> list[str]:
    """The lines of an answer, less what is of a store or of a moment."""
    answer = client.get(address)
    assert answer.status_code == 200, address
    lasting = re.sub(r'"graph_edges":\w+|nonce="[^"]*"|(value|content)="[\w=-]{20,}"', "", answer.text)
    return re.sub(r"\d\d:\d\d(:\d\d)?|2[0-9]{3}-[0-9-]+|[0-9a-f]{16,}", "", lasting).splitlines()


def differences(one: TestClient, other: TestClient, addresses: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [
        (address, *lines)
        for address in addresses
        for lines in zip_longest(said(one, address), said(other, address), fillvalue="")
        if lines[0] != lines[1]
    ]


def test_each_page_and_each_operation_shows_the_same(pair: tuple[Engine, Engine]) -> None:
    apps = [app_of(engine) for engine in pair]
    assert differences(browser(apps[0]), browser(apps[1]), PAGES) == []
    held, stored = map(signed_in, apps)
    assert differences(held, stored, tuple(f"{ROOT}{address}" for address in CALLS)) == []
    first = stored.get(f"{ROOT}/capabilities?limit=60").json()
    rest = stored.get(f"{ROOT}/capabilities?limit=60&cursor={first['next']}").json()
    ids = [one["id"] for one in (*first["items"], *rest["items"])]
    assert ids == sorted(set(ids)) == [one.id for one in pair[0].catalogue.list()]
    assert stored.get(f"{ROOT}/stats").json()["graph_edges"] is None


def test_an_evaluation_finds_the_same_to_be_usable_and_says_the_same_of_the_rest(
    pair: tuple[Engine, Engine],
) -> None:
    for switch in ("", "away"):
        for engine in pair:
            if switch:
                engine.providers.activate(switch)
            engine.evolution.evaluate("default", {"cognitive": 0.8})
        one, other = (engine.evolution.history("default")[-1] for engine in pair)
        assert other.snapshot == one.snapshot
        assert set(one.snapshot.active_providers) - {"tools"} == {"office", "home", *filter(None, [switch])}
    told = [[(e.type, e.data) for e in engine.journal.latest(50, type="Evolution*")] for engine in pair]
    assert told[1] == told[0]
    problems = [[p for p in engine.diagnose() if p.source != "store"] for engine in pair]
    assert problems[1] == problems[0]
