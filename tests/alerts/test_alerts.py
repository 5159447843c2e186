"""People are told of what is wrong: once, signed, again until it has arrived, and not at night."""

import hashlib
import hmac
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from prowess import config
from prowess.alerts.service import AlertService
from prowess.alerts.watch import watching
from prowess.config_alerts import KINDS, AlertsConfig, MailConfig, WebhookConfig
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.errors import ApprovalNeeded, ConfigError
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Outcome, Provider
from tests.support.evolution import AB, FAIR, exhaust
from tests.support.receivers import Hook, Post, hook, post
from tests.support.web import app_of, browser

POLICY = """
profiles:
  owner: {agents: [default, ada], additional_tools: ["*"], ask: ["tool:crm/pay"]}
"""
SECRET = "a-secret-of-the-hook"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9" * 2


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now

    def later(self, **passed: float) -> None:
        self.now += timedelta(**passed)


Open = Callable[..., Engine]


@pytest.fixture
def now() -> Clock:
    return Clock()


@pytest.fixture
def crm() -> StaticSource:
    return StaticSource(
        "crm", kind="mcp",
        capabilities=[
            capability("tool:crm/find", "Find a customer", provider="crm"),
            capability("tool:crm/pay", "Pay an invoice", provider="crm", has_side_effects=True),
        ],
        providers=[Provider(name="crm", source="crm")],
    )  # fmt: skip


@pytest.fixture
def open_with(store_url: str, tmp_path: Path, now: Clock, crm: StaticSource) -> Iterator[Open]:
    """An engine over a customer register, with some [alerts]."""
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY)
    with ExitStack() as opened:

        def one(**alerts: object) -> Engine:
            environment = {"HOOK_SECRET": SECRET, "MAIL_PASSWORD": "sesame"}
            options = EngineOptions(
                policy_files=(file,),
                embedder=word_embedder,
                trust={"crm": "pinned"},
                alerts=AlertsConfig(**alerts),  # type: ignore[arg-type]
            )
            database = open_database(store_url, tmp_path)
            engine = opened.enter_context(Engine(database, (crm,), now, environment, options))
            engine.sync()
            return engine

        yield one


@pytest.fixture
def heard() -> Iterator[Hook]:
    with hook() as opened:
        yield opened


@pytest.fixture
def office() -> Iterator[Post]:
    with post("sesame") as opened:
        yield opened


def hooked(heard: Hook, **more: object) -> dict[str, object]:
    return {"webhook": [WebhookConfig(url=heard.url, secret="HOOK_SECRET")], **more}


def tell(engine: Engine) -> int:
    service = AlertService(engine.internals)
    service.look()
    return service.deliver()


def go_down(engine: Engine, crm: StaticSource, why: str = "nobody answers") -> None:
    crm.providers[0] = replace(crm.providers[0], down=why)
    engine.sync()


def test_a_server_that_is_down_is_told_once_and_its_receiver_can_check_who_says_so(
    open_with: Open, crm: StaticSource, heard: Hook, now: Clock
) -> None:
    engine = open_with(**hooked(heard, address="https://prowess.example.com/"))
    assert tell(engine) == 0
    go_down(engine, crm, f"nobody answers to {TOKEN}")
    assert tell(engine) == 1
    assert tell(engine) == 0
    (body,), (headers,) = heard.bodies, heard.headers
    (alert,) = json.loads(body)["alerts"]
    assert (alert["kind"], alert["subject"]) == ("server_down", "crm")
    assert alert["text"].startswith("crm is down: nobody answers to ")
    assert TOKEN not in body.decode()
    assert alert["link"] == "https://prowess.example.com/server?name=crm"
    seconds, signed = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", headers["X-Prowess-Signature"]).groups()  # type: ignore[union-attr]
    assert signed == hmac.new(SECRET.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    assert abs(int(seconds) - now.now.timestamp()) < 5
    raised, *_ = engine.journal.latest(type="alert.raised")
    assert raised.data["subject"] == "crm"


def test_each_thing_that_can_go_wrong_is_told(open_with: Open, crm: StaticSource, heard: Hook) -> None:
    engine = open_with(**hooked(heard, error_rate=0.5, error_calls=4, tokens_per_day=1))
    for ok in (True, False, False, False):
        offer = engine.offer("find a customer")
        engine.record(Outcome(offer=offer.id, capability="tool:crm/find", ok=ok))
        engine.call("tool:crm/find")
    with pytest.raises(ApprovalNeeded):
        engine.check("ada", "tool:crm/pay", arguments={"invoice": 7})
    crm.capabilities[0] = replace(crm.capabilities[0], description="Find a customer, and send them a mail")
    engine.sync()
    engine.evolution.evaluate("ada", FAIR, AB)
    exhaust(partial(engine.evolution.evaluate, "ada"))
    go_down(engine, crm)
    tell(engine)
    kinds = {one["kind"] for body in heard.bodies for one in json.loads(body)["alerts"]}
    assert kinds == set(KINDS)


def test_what_does_not_arrive_is_kept_and_tried_again_after_longer_and_longer_times(
    open_with: Open, crm: StaticSource, heard: Hook, now: Clock
) -> None:
    engine = open_with(**hooked(heard))
    heard.status = 503
    go_down(engine, crm)
    waits = []
    for _ in range(4):
        before = len(heard.bodies)
        waited = 0
        while len(heard.bodies) == before:
            tell(engine)
            now.later(seconds=10)
            waited += 10
        waits.append(waited)
    assert waits == [10, 30, 60, 120]
    (alert,) = AlertService(engine.internals).list()
    assert alert.deliveries[0].problem == "webhook 1: it answered HTTP 503"
    heard.status = 200
    now.later(hours=1)
    assert tell(engine) == 1
    (alert,) = AlertService(engine.internals).list()
    assert (alert.deliveries[0].state, alert.deliveries[0].attempts) == ("sent", 5)
    now.later(hours=2)
    assert tell(engine) == 0
    assert len(heard.bodies) == 5


def test_a_clock_that_was_ahead_and_is_set_right_puts_nothing_off(
    open_with: Open, crm: StaticSource, heard: Hook, now: Clock
) -> None:
    engine = open_with(**hooked(heard))
    heard.status = 503
    now.later(minutes=50)
    go_down(engine, crm)
    tell(engine)
    now.later(minutes=-50)
    heard.status = 200
    assert tell(engine) == 1
    now.later(minutes=50)
    go_down(engine, crm, "")
    tell(engine)
    now.later(minutes=-50)
    go_down(engine, crm)
    assert tell(engine) == 1, "what is wrong again after it was over is told"


def test_of_several_processes_that_look_at_once_one_tells(
    open_with: Open, crm: StaticSource, heard: Hook
) -> None:
    engines = [open_with(**hooked(heard)) for _ in range(3)]
    go_down(engines[0], crm)
    together = threading.Barrier(3)

    def look(engine: Engine) -> None:
        together.wait()
        tell(engine)
        tell(engine)

    threads = [threading.Thread(target=look, args=(engine,)) for engine in engines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard.told == [["crm is down: nobody answers"]]
    assert len(AlertService(engines[0].internals).list()) == 1


def test_mail_arrives_in_plain_words_with_the_way_to_what_is_wrong(
    open_with: Open, crm: StaticSource, office: Post
) -> None:
    mail = MailConfig(
        server="127.0.0.1", port=office.port, security="none", sender="prowess@example.com",
        to=["ann@example.com", "bob@example.com"], user="prowess", password="MAIL_PASSWORD",
    )  # fmt: skip
    engine = open_with(mail=mail, address="https://prowess.example.com")
    go_down(engine, crm)
    assert tell(engine) == 1
    (letter,) = office.letters
    assert letter["Subject"] == "[prowess] crm is down: nobody answers"
    assert office.recipients == [["ann@example.com", "bob@example.com"]]
    assert office.logins == ["prowess"]
    text = letter.get_content()
    assert "A server is down: crm is down: nobody answers" in text
    assert "https://prowess.example.com/server?name=crm" in text


def test_at_night_nobody_is_told_and_in_the_morning_everything_comes_together(
    open_with: Open, crm: StaticSource, heard: Hook, now: Clock
) -> None:
    engine = open_with(**hooked(heard, quiet="22:00-07:00", timezone="Europe/Berlin"))
    now.now = datetime(2026, 3, 2, 21, 30, tzinfo=UTC)  # half past ten at night in Berlin
    go_down(engine, crm)
    assert tell(engine) == 0
    with pytest.raises(ApprovalNeeded):
        engine.check("ada", "tool:crm/pay", arguments={"invoice": 7})
    assert tell(engine) == 0
    now.now = datetime(2026, 3, 3, 6, 1, tzinfo=UTC)  # a minute past seven
    assert tell(engine) >= 1
    assert len(heard.bodies) == 1
    assert "crm is down: nobody answers" in heard.told[0]


def test_what_is_over_is_no_alert_any_more_and_what_comes_back_at_once_is_not_told_again(
    open_with: Open, crm: StaticSource, heard: Hook, now: Clock
) -> None:
    engine = open_with(**hooked(heard))
    go_down(engine, crm)
    tell(engine)
    go_down(engine, crm, "")
    tell(engine)
    assert AlertService(engine.internals).list()[0].ended_at
    now.later(minutes=2)
    go_down(engine, crm)
    tell(engine)
    assert len(heard.bodies) == 1
    go_down(engine, crm, "")
    tell(engine)
    now.later(hours=3)
    go_down(engine, crm)
    tell(engine)
    assert len(heard.bodies) == 2


def test_the_dashboard_shows_what_is_wrong_who_was_told_and_sends_a_test(
    open_with: Open, crm: StaticSource, heard: Hook, office: Post
) -> None:
    mail = MailConfig(server="127.0.0.1", port=office.port, security="none", sender="p@example.com",
                      to=["ann@example.com"], user="p", password="NOT_THERE")  # fmt: skip
    engine = open_with(**hooked(heard, mail=mail))
    ann = browser(app_of(engine))
    assert "Nothing is wrong" in ann.get("/alerts").text
    go_down(engine, crm)
    tell(engine)
    page = ann.get("/alerts").text
    assert "crm is down: nobody answers" in page
    assert "webhook 1: told" in page
    assert "secret NOT_THERE is not set" in page
    assert re.search(r'Alerts <span class="waiting">1', page)
    csrf = re.search(r'name="csrf" value="([^"]+)"', page)
    assert csrf
    tested = ann.post("/alerts/test", data={"csrf": csrf[1]}).text
    assert "arrived" in tested and "did not arrive" in tested
    assert heard.told[-1] == ["this is only a test"]
    id = AlertService(engine.internals).list()[0].id
    seen = ann.post("/alerts/seen", data={"csrf": csrf[1], "id": id}).text
    assert "Marked as seen" in seen
    assert not re.search(r'Alerts <span class="waiting">', seen)
    assert "test_alerts" not in seen


def test_a_server_of_prowess_tells_by_itself(open_with: Open, crm: StaticSource, heard: Hook) -> None:
    engine = open_with(**hooked(heard, every_seconds=1.0))
    go_down(engine, crm)
    with watching(engine):
        assert heard.came(1)
    assert heard.told == [["crm is down: nobody answers"]]


@pytest.mark.parametrize("store_url", ["postgres"], indirect=True)
def test_a_question_that_another_process_asks_is_told_at_once(
    open_with: Open, crm: StaticSource, heard: Hook
) -> None:
    server, other = (open_with(**hooked(heard, every_seconds=3600.0)) for _ in range(2))
    go_down(server, crm)
    with watching(server):
        assert heard.came(1)
        with pytest.raises(ApprovalNeeded):
            other.check("ada", "tool:crm/pay", arguments={})
        assert heard.came(2)
    assert "ada" in heard.told[-1][0]


def test_a_section_that_cannot_be_is_refused_with_its_place() -> None:
    with pytest.raises(ConfigError, match="quiet"):
        config.parse('[alerts]\nquiet = "at night"\n')
    with pytest.raises(ConfigError, match=r"did you mean 'error_rate'"):
        config.parse("[alerts]\neror_rate = 0.5\n")
