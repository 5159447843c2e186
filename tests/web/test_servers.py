"""Servers and tools in a browser: seen, switched, read again, and tried."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from prowess.engine import Engine
from prowess.sources.python.functions import Functions
from prowess.testing import StaticSource, capability
from prowess.types import Outcome, Provider
from tests.support.browser import look
from tests.support.stores import OpenEngine
from tests.support.web import app_of, signed_in
from tests.web.dashboard import POLICY, dashboard, office, post

if TYPE_CHECKING:
    from tests.support.browser import Visit

pytestmark = pytest.mark.slow


def pay(invoice: str, amount: int, urgent: bool = False) -> str:
    """Pay an invoice.

    invoice: its number.
    amount: how much, in whole euros.
    """
    if amount > 100:
        raise ValueError("the account has only 100")
    return f"paid {amount} for {invoice}{' at once' if urgent else ''}"


def with_a_past(engine: Engine) -> None:
    for ok, took in ((True, 20.0), (True, 40.0), (False, 3000.0)):
        offer = engine.offer("pay an invoice")
        detail = "" if ok else "the bank did not answer"
        engine.record(Outcome(offer=offer.id, capability="tool:pay", ok=ok, milliseconds=took, detail=detail))


def servers() -> StaticSource:
    source = office()
    source.capabilities.append(
        capability("tool:chart", "Draw a chart", provider="plots", required_secrets=("PLOTS_TOKEN",))
    )
    source.providers += [
        Provider(name="phone", source="static", down="nobody answers"),
        Provider(name="plots", source="static"),
    ]
    return source


def test_each_server_says_whether_it_works_what_it_lacks_and_how_it_is_used(
    tmp_path: Path, visit: "Visit"
) -> None:
    with dashboard(tmp_path, servers()) as engine:
        with_a_past(engine)
        page = visit(engine, role="viewer")
        page.goto("/")
        page.get_by_role("link", name="Servers 1 down").click()
        rows = page.locator("tbody tr")
        phone, shop, plots = (rows.filter(has_text=name).first for name in ("phone", "shop", "plots"))
        expect(phone).to_contain_text("nobody answers")
        expect(plots).to_contain_text("PLOTS_TOKEN is not set")
        expect(shop).not_to_contain_text("PLOTS_TOKEN")
        expect(shop.locator("td[data-label=Calls]")).to_have_text("3")
        expect(shop.locator("td[data-label=Errors]")).to_contain_text("33%")
        expect(shop.locator("td[data-label=Median]")).to_contain_text("40 ms")
        expect(shop).to_contain_text("the bank did not answer")
        look(page, "servers")
        shop.get_by_role("link", name="shop", exact=True).click()
        pay_row = page.locator("section", has_text="What it brings").locator("tbody tr").first
        expect(pay_row).to_contain_text("tool:pay")
        expect(page.get_by_role("region", name="Calls, the newest first")).to_contain_text("failed")
        expect(page.get_by_role("button", name="Read again")).to_have_count(0)
        look(page, "server")
        assert post(page, "/servers/switch", name="shop", on="no").status == 403


def test_a_person_switches_a_server_off_and_on_and_reads_it_again_and_the_journal_names_them(
    tmp_path: Path, visit: "Visit"
) -> None:
    source = servers()
    with dashboard(tmp_path, source) as engine:
        page = visit(engine, role="operator")
        page.goto("/server?name=shop")
        page.get_by_text("Switch off", exact=True).click()
        page.get_by_label("Why, for whoever asks").fill("It charges twice")
        page.get_by_role("button", name="Switch it off for everybody").click()
        expect(page.locator(".notice.good")).to_contain_text("shop is off")
        expect(page.locator(".notice.warn")).to_contain_text("It charges twice")
        assert "tool:pay" not in engine.catalogue.view().active("")
        page.get_by_role("button", name="Switch on").click()
        expect(page.locator(".notice.good")).to_contain_text("shop is on again")
        assert "tool:pay" in engine.catalogue.view().active("")
        source.capabilities.append(capability("tool:invoice", "Write an invoice", provider="shop"))
        page.get_by_role("button", name="Read again").click()
        expect(page.locator(".notice.good")).to_contain_text("1 new, 0 changed, 0 gone")
        expect(page.get_by_role("link", name="tool:invoice", exact=True)).to_be_visible()
        asked = [(e.data["by"], e.data["operation"]) for e in engine.journal.latest(type="web.asked")]
        assert asked == [("Ada", "providers.switch"), ("Ada", "providers.switch"), ("Ada", "sync")]


def test_a_tool_is_tried_with_a_form_made_from_its_schema_as_policy_allows(
    tmp_path: Path, visit: "Visit"
) -> None:
    policy = 'profiles: {owner: {agents: [default], additional_tools: ["*"]}, none: {agents: [gus]}}'
    functions = Functions(name="bank", functions=(pay,))
    with dashboard(tmp_path, functions, policy=policy) as engine:  # type: ignore[arg-type]
        page = visit(engine, role="operator")
        page.goto("/capability?id=tool:pay")
        page.get_by_role("link", name="Try it").click()
        page.get_by_label("invoice").fill("A-7")
        page.get_by_label("amount").fill("50")
        page.get_by_label("urgent").select_option("true")
        look(page, "try")
        page.get_by_role("button", name="Call it").click()
        expect(page.get_by_role("status")).to_contain_text("It worked")
        expect(page.get_by_label("Answer")).to_have_text("paid 50 for A-7 at once")
        expect(page.get_by_label("invoice")).to_have_value("A-7")
        page.get_by_label("amount").fill("500")
        page.get_by_role("button", name="Call it").click()
        expect(page.get_by_label("Answer")).to_contain_text("the account has only 100")
        page.get_by_label("amount").fill("much")
        page.get_by_role("button", name="Call it").click()
        expect(page.get_by_role("status")).to_contain_text("The arguments do not fit")
        page.get_by_label("As agent").select_option("gus")
        page.get_by_role("button", name="Call it").click()
        expect(page.get_by_role("status")).to_contain_text("Policy does not allow it")
        endings = [entry.data["outcome"] for entry in engine.journal.latest(type="call")]
        assert endings == ["ok", "failed", "misfit", "denied"]
        (first, *_) = engine.journal.latest(type="web.asked")
        assert first.data == {
            "by": "Ada", "role": "operator", "operation": "agent.call", "of": {"agent": "default"}
        }  # fmt: skip


def test_a_program_asks_how_a_server_is_doing(open_engine: OpenEngine) -> None:
    engine = open_engine(servers(), policy=POLICY)
    engine.sync()
    with_a_past(engine)
    client = signed_in(app_of(engine), "viewer")
    found = {one["name"]: one for one in client.get("/api/v1/servers").json()}
    assert (found["phone"]["state"], found["phone"]["why"]) == ("down", "nobody answers")
    assert (found["plots"]["state"], found["plots"]["missing_secrets"]) == ("partly", ["PLOTS_TOKEN"])
    use = found["shop"]["use"]
    assert (use["calls"], use["failed"], use["median"], use["slow"]) == (3, 1, 40.0, 3000.0)
    assert use["last_problem"]["detail"] == "the bank did not answer"
    detail = client.get("/api/v1/servers/shop").json()
    assert [one["capability"]["id"] for one in detail["tools"]] == ["tool:pay", "tool:refund"]
    assert client.get("/api/v1/servers/shep").json()["remedy"].startswith("did you mean 'shop'")
