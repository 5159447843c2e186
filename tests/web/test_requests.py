"""One request on one page, from what was asked to what came of it, and what waits for a person."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import prowess
from prowess.config import JournalConfig, LearningConfig
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.sources.python.functions import Functions
from prowess.store.opening import open_database
from prowess.testing import word_embedder
from tests.support.clock import SteppingClock
from tests.support.web import app_of, browser

POLICY = """
profiles:
  owner: {agents: [default], additional_tools: ["*"], ask: ["tool:pay"], disallowed_tools: ["tool:refund"]}
"""
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2


@prowess.tool(side_effects=False)
def find_invoice(customer: str, token: str = "") -> str:
    """Find the invoice of a customer."""
    return f"invoice 7 of {customer}"


@prowess.tool
def pay(invoice: int) -> str:
    """Pay an invoice."""
    return f"paid {invoice}"


@prowess.tool
def refund(invoice: int) -> str:
    """Refund an invoice."""
    return "never"


@pytest.fixture
def engine(store_url: str, tmp_path: Path, clock: SteppingClock) -> Iterator[Engine]:
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    options = EngineOptions(
        policy_files=(file,), embedder=word_embedder, learning=LearningConfig(mode="accumulate"),
        journal=JournalConfig(keep_arguments=True, keep_results=True),
    )  # fmt: skip
    functions = Functions(name="bank", functions=(find_invoice, pay, refund))
    with Engine(open_database(store_url, tmp_path), (functions,), clock, {}, options) as engine:
        engine.sync()
        yield engine


def send(person: TestClient, path: str, **fields: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', person.get("/").text)
    assert found
    return person.post(path, data={"csrf": found[1], **fields}).text


def test_a_request_shows_its_offer_its_calls_with_arguments_what_policy_and_a_person_said_and_what_was_learnt(
    engine: Engine,
) -> None:
    offer = engine.offer("pay the invoice of Lovelace")
    found = engine.call("find_invoice", {"customer": "Lovelace", "token": SECRET}, offer=offer)
    assert found.ending == "ok"
    assert engine.call("pay", {"invoice": 7}, offer=offer).ending == "asked"
    ann = browser(app_of(engine))
    waiting = ann.get("/approvals").text
    assert f'href="/journal/trace?id={offer.id}">pay the invoice of Lovelace</a>' in waiting
    (question,) = engine.approvals.list()
    send(ann, "/approvals/answer", id=question.id, answer="yes", holds="1 hour",
         scope="as often as wanted, with these arguments", note="the usual")  # fmt: skip
    assert engine.call("pay", {"invoice": 7}, offer=offer).ending == "ok"
    assert engine.call("tool:refund", {"invoice": 7}, offer=offer).ending == "denied"
    for _ in range(3):
        engine.learning.learn()
    page = ann.get("/journal/trace", params={"id": offer.id}).text
    assert "pay the invoice of Lovelace" in page
    assert re.sub(r"\s+", " ", offer.text[:30]) in re.sub(r"\s+", " ", page)
    assert "&#34;customer&#34;:&#34;Lovelace&#34;" in page
    assert SECRET not in page
    assert "invoice 7 of Lovelace" in page
    assert "ann said yes for any number of uses with these arguments: the usual" in page
    assert "2 ok" in page and "1 asked" in page and "1 denied" in page
    order = [page.index(f"id={one}") for one in ("tool%3Afind_invoice", "tool%3Apay", "tool%3Arefund")]
    assert order == sorted(order)
    export = ann.get(f"/api/v1/requests/{offer.id}").json()
    endings = [(call["capability"], call["ending"]) for call in export["calls"]]
    assert endings == [
        ("tool:find_invoice", "ok"),
        ("tool:pay", "asked"),
        ("tool:pay", "ok"),
        ("tool:refund", "denied"),
    ]
    verdicts = [[step["verdict"] for step in call["decisions"]] for call in export["calls"]]
    assert verdicts == [["allow"], ["ask"], ["allow"], ["deny"]]
    assert export["calls"][2]["approvals"][0]["answered_by"] == "ann"
    assert {one["method"] for one in export["learnt"]} == {"tool:find_invoice", "tool:pay"}
    assert SECRET not in ann.get(f"/api/v1/requests/{offer.id}").text


def test_every_page_that_names_a_use_leads_to_its_request(engine: Engine) -> None:
    offer = engine.offer("find the invoice of Lovelace")
    engine.call("find_invoice", {"customer": "Lovelace"}, offer=offer)
    ann = browser(app_of(engine))
    link = f"/journal/trace?id={offer.id}"
    server = engine.catalogue.get("tool:find_invoice").provider
    for path in (
        "/",
        "/journal",
        "/agent?name=default",
        f"/server?name={server}",
        "/capability?id=tool:find_invoice",
    ):
        assert link in ann.get(path).text, path


def test_what_may_change_things_is_asked_about_before_what_was_asked_earlier_and_only_reads(
    engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "policy.yaml").write_text(
        'profiles: {owner: {agents: [default], additional_tools: ["*"], ask: ["*"]}}'
    )
    engine.call("find_invoice", {"customer": "Lovelace"})
    engine.call("pay", {"invoice": 7})
    waiting = browser(app_of(engine)).get("/approvals").text
    assert waiting.index("tool:pay") < waiting.index("tool:find_invoice")
    assert "may destroy" in waiting and "reads only" in waiting
    assert "no recorded call led to it" in waiting
