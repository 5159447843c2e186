"""The journal is kept for ever: nothing that a call was given stands in it, and nobody writes for others."""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from mcp_types import ElicitResult
from starlette.testclient import TestClient

from prowess.calling.error_redaction import fault_without_values, without_values
from prowess.errors import NotFound
from prowess.sources.python.functions import Functions
from prowess.testing import StaticSource, capability
from prowess.types import Outcome, SourceRef
from prowess.web.stream import Streams
from tests.support.gateway import call, shelf, text_of, world
from tests.support.stores import OpenEngine
from tests.support.web import HERE, app_of, as_agent, signed_in


def api(path: str) -> str:
    return f"/api/v1{path}"


SECRET = "hunter2-correct-horse"
SCHEMA = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "size": {"enum": ["s", "m"]}, "count": {"type": "integer"}},
    "required": ["to"],
    "additionalProperties": False,
}
TOOLS = [
    {"name": "send", "inputSchema": SCHEMA},
    {"name": "complain", "inputSchema": {"type": "object"}},
    {"name": "refuse", "inputSchema": {"type": "object"}},
]
OWNER = 'profiles: {o: {agents: [default], additional_tools: ["*"]}}'


def log_in(user: str, password: str) -> str:
    """Log in."""
    raise ValueError(f"{password!r} is not the password of {user.upper()}, it begins with {password[:9]}")


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.timeout(60)
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_no_value_that_a_call_was_given_stands_in_the_journal(
    tmp_path: Path, store_url: str, mode: str
) -> None:
    sources = (shelf(tmp_path, "mail", tools=TOOLS), Functions(name="own", functions=(log_in,)))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("tool:mail/send", {"to": {"password": SECRET}}),
        ("tool:mail/send", {"to": "x", "size": SECRET}),
        ("tool:mail/send", {"to": "x", "count": SECRET}),
        ("tool:mail/send", {"to": "x", SECRET: 1}),
        ("tool:mail/send", {}),
        ("tool:mail/complain", {"note": SECRET, "deep": [{"pin": "4928-0071-5536"}]}),
        ("tool:mail/refuse", {"note": SECRET, "deep": [{"pin": "4928-0071-5536"}]}),
        ("tool:log_in", {"user": "adalovelace", "password": SECRET}),
    ]
    async with (
        world(tmp_path, *sources, policy=OWNER, store=store_url) as here,
        here.client(mode=mode) as client,
    ):
        told = [text_of(await call(client, id, with_effects=True, **given)) for id, given in calls]
        details = [entry.data["detail"] for entry in here.journal("call")]
        everything = repr(here.engine.journal.latest(1000)).casefold()
    assert details[:5] == [
        "to: not a string",
        "size: not one of the values it may have",
        "count: not an integer",
        "unknown arguments",
        "to is missing",
    ]
    for value in ("hunter2", "correct", "horse", "4928-0071", "adalovelace"):
        assert value not in everything
    assert SECRET in told[0] and SECRET in told[5], "the client may see what it sent"
    assert "is not the password of" in details[7]


def test_an_error_keeps_its_words_and_loses_what_was_given() -> None:
    given = {"to": "bob@example.com", "n": 7, "deep": {"k": ["zebra-9"]}}
    said = without_values("no account Bob at EXAMPLE.com for ZEBRA-9, 7 of 70 tried", given)
    assert said == "no account […] at […] for […] of 70 tried"
    assert without_values("the disk is full", {}) == "the disk is full"
    answers = [ElicitResult(action="accept", content={"code": "s3same"}).model_dump(mode="json")]
    assert "s3same" not in without_values("wrong code s3same", {}, answers)
    assert fault_without_values("'x' is not of type 'object', 'null'", None) == "not an object or null"
    assert fault_without_values("'a' is too long", SCHEMA) == "does not fit"


# --- outcomes ------------------------------------------------------------------------------------


def test_an_outcome_for_another_agents_offer_is_refused(open_engine: OpenEngine) -> None:
    engine = open_engine(StaticSource(capabilities=[capability("tool:read", "Read a file")]))
    engine.sync()
    app = app_of(engine, Streams())
    offer = as_agent(app, "ada").post(api("/agents/ada/offer"), json={"request": "read a file"}).json()["id"]
    said = {"offer": offer, "capability": "tool:read", "ok": False}
    assert as_agent(app, "bob").post(api("/agents/bob/outcomes"), json=said).status_code == 404
    with pytest.raises(NotFound, match="no offer"):
        engine.record(Outcome(offer=offer, capability="tool:read", ok=False, agent="bob"))
    assert engine.journal.latest(9, "bob", "outcome") == ()
    assert as_agent(app, "ada").post(api("/agents/ada/outcomes"), json=said).status_code == 201
    assert len(engine.journal.latest(9, "ada", "outcome")) == 1


def test_an_agent_sees_neither_the_raw_metadata_nor_the_place_of_a_capability(
    open_engine: OpenEngine,
) -> None:
    kept = capability(
        "skill:sums",
        "Do sums",
        metadata={"requires": "zebra_vault", "uri": "note://x"},
        source_ref=SourceRef("skills", "/home/ann/skills/sums/SKILL.md", "sums"),
    )
    engine = open_engine(StaticSource(capabilities=[kept]))
    engine.sync()
    app = app_of(engine, Streams())
    for path in ("/agents/ada/capabilities", "/agents/ada/capabilities/skill:sums"):
        seen = as_agent(app, "ada").get(api(path)).text
        assert "skill:sums" in seen and "note://x" in seen
        assert "zebra_vault" not in seen and "/home/ann" not in seen
        assert "zebra_vault" in signed_in(app).get(api(path)).text


# --- streams -------------------------------------------------------------------------------------


def admitted(streams: Streams, reader: str, times: int) -> int:
    done = 0
    for _ in range(times):
        try:
            streams.admit(reader)
        except Exception as refusal:
            assert getattr(refusal, "status", 0) == 429
        else:
            done += 1
    return done


def test_a_stream_takes_its_place_when_it_is_let_in() -> None:
    clock = Ticking()
    streams = Streams(most=5, most_of_one=3, now=clock)
    assert admitted(streams, "ann", 10) == 3
    assert admitted(streams, "bea", 10) == 2
    clock.time += 11
    assert admitted(streams, "ann", 10) == 3, "who was let in and never began has left"


class Ticking:
    time = 0.0

    def __call__(self) -> float:
        return self.time


@pytest.mark.timeout(60)
def test_the_stream_of_a_token_that_is_revoked_ends(open_engine: OpenEngine) -> None:
    engine = open_engine(StaticSource(capabilities=[capability("tool:read")]))
    streams = Streams(seconds=40)
    app = app_of(engine, streams)
    issued = app.state.people.issue("vera", "viewer")
    client = TestClient(app, base_url=HERE, headers={"Authorization": f"Bearer {issued.text}"})
    reader = Thread(target=client.get, args=(api("/journal/stream"),), daemon=True)
    reader.start()
    until(lambda: streams.open == 1)
    app.state.people.end(issued.person_pass.id, "ann")
    until(lambda: streams.open == 0)
    reader.join(10)
    assert not reader.is_alive()


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 15
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)
