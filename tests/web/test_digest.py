"""Use over time, a week in short, and the way from a new install to a first offer."""

import re
import shlex
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

import prowess
from prowess.cli.main import prowess as command
from prowess.config_alerts import AlertsConfig, MailConfig
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.opening import make_writable
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Message, Outcome, Provider, Turn
from tests.support.places import ROOT
from tests.support.receivers import post
from tests.support.web import app_of, browser, signed_in

LIBRARY = ROOT / "tests" / "support" / "servers" / "library.py"
POLICY = """
profiles:
  owner: {agents: [default, ada], additional_tools: ["*"], disallowed_tools: ["tool:crm/drop"]}
"""
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 9, 12, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def crm() -> StaticSource:
    return StaticSource(
        "crm",
        capabilities=[
            capability("tool:crm/find", "Find a customer", provider="crm"),
            capability("tool:crm/drop", "Drop a customer", provider="crm", has_side_effects=True),
        ],
        providers=[Provider(name="crm", source="crm")],
    )


def a_week(engine: Engine, clock: Clock) -> None:
    """Three calls of which one failed, three days ago; four now, one of them denied."""
    now = clock.now
    clock.now = now - timedelta(days=3)
    for ok, took in ((True, 5.0), (True, 20.0), (False, 4000.0)):
        offer = engine.offer("find a customer")
        detail = "" if ok else f"the register refused {TOKEN}"
        engine.record(
            Outcome(offer=offer.id, capability="tool:crm/find", ok=ok, milliseconds=took, detail=detail)
        )
    engine.offer(Turn(messages=(Message("user", "fly to the moon"),), agent="gus"))
    clock.now = now
    for took in (6.0, 7.0, 8.0):
        engine.record(Outcome(offer="", capability="tool:crm/find", ok=True, milliseconds=took, agent="ada"))
    engine.call("tool:crm/drop", agent="ada")


@pytest.fixture
def engine(store_url: str, tmp_path: Path) -> "object":
    (tmp_path / "policy.yaml").write_text(POLICY)
    clock = Clock()
    options = EngineOptions(policy_files=(tmp_path / "policy.yaml",), embedder=word_embedder)
    database = open_database(store_url, tmp_path)
    with Engine(database, (crm(),), clock, {}, options) as opened:
        opened.sync()
        a_week(opened, clock)
        yield opened


def test_calls_errors_and_times_are_counted_by_step_for_all_for_a_server_and_for_an_agent(
    engine: Engine,
) -> None:
    client = signed_in(app_of(engine), "viewer")
    week = client.get("/api/v1/usage").json()
    assert (sum(week["calls"]), sum(week["failed"]), sum(week["denied"])) == (6, 1, 1)
    assert len(week["times"]) == 28
    assert (week["calls"][-1], week["denied"][-1]) == (3, 1)
    assert [(bar["below"], bar["calls"]) for bar in week["latency"] if bar["calls"]] == [
        (10, 4), (30, 1), (10_000, 1)
    ]  # fmt: skip
    day = client.get("/api/v1/usage", params={"window": "day", "agent": "default"}).json()
    assert sum(day["calls"]) == 0
    assert sum(client.get("/api/v1/usage", params={"server": "crm"}).json()["calls"]) == 6
    assert sum(client.get("/api/v1/usage", params={"server": "web"}).json()["calls"]) == 0
    for path in ("/agent?name=ada", "/server?name=crm"):
        page = browser(app_of(engine)).get(path).text
        assert "How long calls take" in page and "(so far)" in page and "less than 10 ms" in page


def test_a_week_is_read_as_a_page_and_sent_by_mail(engine: Engine) -> None:
    with post() as office:
        mail = MailConfig(server="127.0.0.1", port=office.port, security="none", sender="p@example.com",
                          to=["ann@example.com"])  # fmt: skip
        ann = browser(app_of(engine))
        page = ann.get("/digest").text
        for said in ("fly to the moon", "ada", "tool:crm/find", "1 denied", "name a mail server"):
            assert said in page, said
        options = engine.internals.options
        object.__setattr__(options, "alerts", AlertsConfig(mail=mail, address="https://prowess.example.com"))
        page = ann.get("/digest").text
        csrf = re.search(r'name="csrf" value="([^"]+)"', page)
        assert csrf
        sent = ann.post("/digest/send", data={"csrf": csrf[1]}).text
        assert "on its way" in sent
    (letter,) = office.letters
    assert letter["Subject"] == "[prowess] 2026-03-02 to 2026-03-09: 6 calls"
    text = letter.get_content()
    assert "tool:crm/find: 6 calls, 1 failed" in text
    assert "ada: 0 offers, 0 tokens, 3 calls" in text
    assert "https://prowess.example.com/digest" in text
    assert TOKEN not in text


@pytest.mark.slow
def test_a_new_install_comes_to_its_first_offer_in_a_browser_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(command, ["init"]).exit_code == 0
    file = tmp_path / "prowess.toml"
    with prowess.open(config=str(file)) as engine:
        make_writable(engine, file)
        ann = browser(app_of(engine))
        assert 'href="/welcome"' in ann.get("/").text
        welcome = ann.get("/welcome").text
        assert 'href="/servers/add"' in welcome and welcome.count("to do") >= 3
        csrf = re.search(r'name="csrf" value="([^"]+)"', welcome)
        assert csrf
        fields = {"csrf": csrf[1], "name": "library", "command": shlex.join((sys.executable, str(LIBRARY)))}
        looked = ann.post("/servers/look", data=fields).text
        digest = re.search(r'name="digest" value="([^"]+)"', looked)
        assert digest
        added = ann.post("/servers/add", data={**fields, "digest": digest[1]}).text
        assert "Added and read: library" in added
        welcome = ann.get("/welcome").text
        asked = re.search(r'href="(/ask\?request=[^"]+)"', welcome)
        assert asked, welcome
        answer = ann.get(asked[1].replace("&amp;", "&")).text
        assert "library" in answer[answer.find("<main") :]
        engine.offer("find a book")
        assert ann.get("/welcome").text.count(">done<") == 5
