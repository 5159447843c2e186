"""What capabilities share and need is the same whether their catalogue is held in memory or looked up."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from prowess.engine import Engine
from prowess.testing import StaticSource, capability
from prowess.types import Capability
from tests.support.large import HELD, opened

SUBJECTS = ("invoice", "ticket", "contract", "flight", "report", "room", "mail", "city")
VERBS = ("create", "search", "delete", "export")
PRESETS = {"billing": ["office/create_invoice", "send_letter"], "vain": ["nothing_is_called_so", "tool:wait"]}


def made(number: int, verb: str, subject: str) -> Capability:
    server = ("office", "home")[number % 2]
    one = capability(f"tool:{server}/{verb}_{subject}", f"{verb.title()} one {subject}.")
    tags = (subject, verb, "common") if number % 3 else (subject, "quick")
    return replace(one, provider=server, tags=tags, category=f"c{number % 9}")


def shop() -> StaticSource:
    """Tags that many share, small and large categories, and needs by id, by name and in rows."""
    things = [made(n, v, s) for n, (v, s) in enumerate((v, s) for v in VERBS for s in SUBJECTS)]
    common = [
        capability(
            f"tool:bulk/filler_{n}", f"Filler {n} of the shop.", tags=("common", "filler"), category="big"
        )
        for n in range(80)
    ]
    others = [
        capability("tool:post/send_letter", "Sends a letter.", provider="post", name="send_letter"),
        capability("tool:mail/send_letter", "Carries a letter.", provider="mail", name="send_letter"),
        capability("tool:wait", "Waits for a while."),
        capability(
            "skill:dunning", "Reminds a debtor.", required_tools=("send_letter", "office/search_invoice")
        ),
        capability("skill:collect", "Collects what is owed.", required_tools=("skill:dunning", "wait")),
        capability("skill:lost", "Needs what is nowhere.", required_tools=("no_such_tool",)),
    ]
    return StaticSource("tools", capabilities=[*things, *common, *others])


class Both(NamedTuple):
    held: Engine
    stored: Engine


@pytest.fixture
def both(store_url: str, tmp_path: Path) -> Iterator[Both]:
    with (
        opened("held.db", tmp_path / "held", shop(), HELD, presets=PRESETS) as held,
        opened(store_url, tmp_path / "stored", shop(), presets=PRESETS) as stored,
    ):
        assert stored.catalogue.view().is_stored and not held.catalogue.view().is_stored
        yield Both(held, stored)


REQUESTS = (
    "create an invoice",
    "search the invoice and export the report",
    "remind a debtor of the invoice",
    "collect what is owed",
    "send a letter",
    "filler 7 of the shop",
    "delete a room",
)


def test_what_is_related_lifts_and_brings_along_the_same(both: Both) -> None:
    lifted = 0
    for agent in ("default", "ada"):
        for request in REQUESTS:
            one, other = both.held.find(request, agent), both.stored.find(request, agent)
            assert [(hit.id, hit.reasons, hit.brought_by) for hit in other] == [
                (hit.id, hit.reasons, hit.brought_by) for hit in one
            ]
            assert [hit.score for hit in other] == pytest.approx([hit.score for hit in one], abs=0.02)
            said = " ".join(reason for hit in one for reason in hit.reasons)
            lifted += any(
                word in said for word in ("shares tags", "same category", "needed by", "used together")
            )
    assert lifted >= 6


def test_each_capability_has_the_relations_it_has_in_memory(both: Both) -> None:
    kinds = set()
    for id in both.held.catalogue.view().capabilities:
        related = both.held.catalogue.related(id)
        kinds |= {edge.type for edge in related}
        assert both.stored.catalogue.related(id) == related
        assert both.stored.catalogue.dependents(id) == both.held.catalogue.dependents(id)
    assert kinds == {"DEPENDS_ON", "COMPOSED_WITH", "TAGGED_WITH", "SAME_CATEGORY"}
    some = [id for id in both.held.catalogue.view().capabilities if "invoice" in id or "skill" in id]
    assert both.stored.catalogue.relations(some) == both.held.catalogue.relations(some)


def test_what_is_needed_by_name_alone_is_there_and_what_is_nowhere_is_said_to_be_missing(both: Both) -> None:
    for engine in both:
        assert engine.catalogue.get("skill:dunning").available
        assert engine.catalogue.get("skill:collect").available
        assert "no_such_tool" in engine.catalogue.get("skill:lost").unavailable[0]
        problems = [problem for problem in engine.diagnose() if problem.source == "discovery"]
        assert [problem.place for problem in problems] == ["preset vain"]


def test_a_tag_that_is_taken_away_relates_no_longer(store_url: str, tmp_path: Path) -> None:
    source = shop()
    with opened(store_url, tmp_path, source) as engine:
        invoices = "tool:office/create_invoice", "tool:office/delete_invoice"
        assert invoices[1] not in [edge.target for edge in engine.catalogue.related(invoices[0])]
        source.capabilities = [
            replace(one, tags=("paper", "money")) if one.id in invoices else one
            for one in source.capabilities
        ]
        engine.sync()
        found = {edge.target: edge.type for edge in engine.catalogue.related(invoices[0])}
        assert found[invoices[1]] == "TAGGED_WITH"
        source.capabilities = [replace(one, tags=()) for one in source.capabilities]
        engine.sync()
        assert all(edge.type != "TAGGED_WITH" for edge in engine.catalogue.related(invoices[0]))
