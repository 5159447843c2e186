"""The API: what it answers, to whom, and what it leaves behind."""

from pathlib import Path
from threading import Thread
from typing import Any

import msgspec
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from prowess.config import DiscoveryConfig
from prowess.engine import Engine
from prowess.engine.namespaces.catalogue import CatalogueLookup
from prowess.testing import StaticSource, capability
from prowess.types import Detail, Outcome
from prowess.web.dispatch import ROOT
from prowess.web.operations import everything
from prowess.web.stream import Streams
from tests.support.clock import SteppingClock
from tests.support.stores import OpenEngine
from tests.support.web import HERE, app_of, as_agent, signed_in, with_a_past, world


@pytest.fixture
def engine(tmp_path: Path, store_url: str, clock: SteppingClock) -> Any:
    with world(tmp_path, store_url, clock) as engine:
        yield engine


@pytest.fixture
def app(engine: Engine) -> Starlette:
    return app_of(engine, Streams(seconds=0.05))


@pytest.fixture
def ann(app: Starlette) -> TestClient:
    return signed_in(app)


def api(path: str) -> str:
    return f"{ROOT}{path}"


# --- lists, caches, problems ---------------------------------------------------------------------


def test_pages_show_everything_once_and_in_order(ann: TestClient, engine: Engine) -> None:
    seen, cursor = [], ""
    while True:
        page = ann.get(api("/capabilities"), params={"limit": 2, "cursor": cursor}).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next"]
        if not cursor:
            break
    assert seen == [capability.id for capability in engine.catalogue.list()]


def test_a_cursor_nobody_gave_is_not_found(ann: TestClient) -> None:
    for cursor in ("nonsense", "!!", "W10"):
        assert ann.get(api("/capabilities"), params={"cursor": cursor}).status_code == 404
        assert ann.get(api("/journal"), params={"cursor": cursor}).status_code == 404


def test_filters_narrow_a_list(ann: TestClient) -> None:
    def ids(**filters: str) -> list[str]:
        return [item["id"] for item in ann.get(api("/capabilities"), params=filters).json()["items"]]

    assert ids(provider="files") == ["tool:read"]
    assert ids(text="MAIL") == ["tool:mail/send"]
    assert ids(agent="ada") == ["tool:mail/send", "tool:read"]
    assert ids(kind="skill") == []  # it is held back


def test_an_id_with_a_slash_has_an_address(ann: TestClient) -> None:
    found = ann.get(api("/capabilities/tool%3Amail%2Fsend")).json()
    assert found["id"] == "tool:mail/send" and found["available"] is True


def test_what_did_not_change_is_not_sent_again(ann: TestClient, engine: Engine) -> None:
    first = ann.get(api("/capabilities"))
    again = ann.get(api("/capabilities"), headers={"If-None-Match": f'"x", {first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    engine.providers.deactivate("mail")
    changed = ann.get(api("/capabilities"), headers={"If-None-Match": first.headers["etag"]})
    assert changed.status_code == 200


def test_a_problem_says_what_happened_and_what_to_do(ann: TestClient) -> None:
    refused = ann.get(api("/capabilities/tool:rad"))
    assert refused.headers["content-type"] == "application/problem+json"
    said = refused.json()
    assert (said["status"], said["type"]) == (404, "urn:prowess:not-found")
    assert "tool:rad" in said["detail"] and "tool:read" in said["remedy"]


def test_an_unforeseen_failure_tells_nothing(
    open_engine: OpenEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = signed_in(app_of(open_engine()))
    monkeypatch.setattr(CatalogueLookup, "stats", lambda _: {"password": "hunter2"})
    failed = client.get(api("/stats"))
    assert failed.status_code == 500
    assert "hunter2" not in failed.text and "password" not in failed.text


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/agents/default/find", '{"request": "a\\u0000b"}'),
        ("/journal/verify", '{"heads": [{"chain": "a\\u0000", "count": 1, "hash": "x"}]}'),
    ],
)
def test_text_that_no_database_keeps_is_refused(ann: TestClient, path: str, body: str) -> None:
    refused = ann.post(api(path), content=body, headers={"Content-Type": "application/json"})
    assert refused.status_code == 422
    assert ann.get(api("/why?agent=a%00&id=b")).status_code == 422
    assert ann.get(api("/capabilities/a%00b")).status_code == 404


def test_an_unknown_word_in_a_query_or_a_body_is_refused(ann: TestClient) -> None:
    assert ann.get(api("/capabilities?knid=tool")).status_code == 422
    assert ann.get(api("/capabilities?kind=tool&kind=skill")).status_code == 422
    assert ann.post(api("/sync"), json={"source": ["static"]}).status_code == 422
    assert (
        ann.post(api("/sync"), content=b"{", headers={"Content-Type": "application/json"}).status_code == 400
    )
    assert ann.post(api("/sync"), content=b"{}").status_code == 415


def test_a_method_that_is_not_for_an_address_is_told_which_are(ann: TestClient) -> None:
    refused = ann.delete(api("/agents"))
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, POST")


# --- writes --------------------------------------------------------------------------------------


def test_a_write_that_is_sent_twice_is_done_once(ann: TestClient, engine: Engine) -> None:
    key = {"Idempotency-Key": "turn-1"}
    first = ann.post(api("/agents/default/offer"), json={"request": "read a file"}, headers=key)
    second = ann.post(api("/agents/default/offer"), json={"request": "read a file"}, headers=key)
    assert first.status_code == 200
    assert second.content == first.content
    assert len(engine.journal.latest(10, "default", "offer")) == 1


def test_a_key_that_is_used_for_something_else_is_refused(ann: TestClient) -> None:
    key = {"Idempotency-Key": "turn-1"}
    ann.post(api("/agents/default/offer"), json={"request": "read a file"}, headers=key)
    refused = ann.post(api("/agents/default/offer"), json={"request": "send a mail"}, headers=key)
    assert refused.status_code == 409
    ann.post(api("/evolution/evaluate?agent=ada"), json={}, headers={"Idempotency-Key": "e"})
    other = ann.post(api("/evolution/evaluate?agent=bob"), json={}, headers={"Idempotency-Key": "e"})
    assert other.status_code == 409


def test_an_answer_is_remembered_over_a_restart(ann: TestClient, engine: Engine) -> None:
    said = {"capability": "tool:read", "ok": True, "offer": "x"}
    key = {"Idempotency-Key": "outcome-1"}
    first = ann.post(api("/agents/default/outcomes"), json=said, headers=key)
    restarted = signed_in(app_of(engine))
    second = restarted.post(api("/agents/default/outcomes"), json=said, headers=key)
    assert (first.status_code, second.status_code) == (201, 201)
    assert len(engine.journal.latest(10, "default", "outcome")) == 1


def test_a_refusal_is_remembered_too(ann: TestClient, engine: Engine) -> None:
    key = {"Idempotency-Key": "check-1"}
    use = {"capability": "tool:zebra-vault"}
    first = ann.post(api("/agents/ada/check"), json=use, headers=key)
    second = ann.post(api("/agents/ada/check"), json=use, headers=key)
    assert (first.status_code, first.content) == (403, second.content)
    assert second.headers["content-type"] == "application/problem+json"
    assert len(engine.journal.latest(10, "ada", "decision")) == 1


def test_a_write_that_was_begun_and_never_ended_is_not_done_again(ann: TestClient, engine: Engine) -> None:
    said = {"on": False}
    key = {"Idempotency-Key": "off-1"}
    ann.put(api("/providers/mail"), json=said, headers=key)
    with engine.internals.database.writing() as transaction:  # as a server leaves it that dies in between
        transaction.run("UPDATE answered_write SET state = 'begun', body = ''")
    assert ann.put(api("/providers/mail"), json=said, headers=key).status_code == 409


def test_one_persons_keys_are_not_anothers(app: Starlette) -> None:
    key = {"Idempotency-Key": "same"}
    ids = [
        signed_in(app, "operator", name).post(
            api("/agents/default/offer"), json={"request": "x"}, headers=key
        )
        for name in ("ann", "bob")
    ]
    assert ids[0].json()["id"] != ids[1].json()["id"]


def test_a_secret_that_is_shown_once_is_not_kept_for_a_repetition(ann: TestClient) -> None:
    refused = ann.post(api("/tokens"), json={"name": "bob"}, headers={"Idempotency-Key": "t"})
    assert refused.status_code == 400


def test_remembered_answers_do_not_pile_up(
    ann: TestClient, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prowess.web.idempotency.MOST_KEPT", 3)
    for number in range(6):
        ann.post(api("/cards/resume"), headers={"Idempotency-Key": f"k{number}"})
    with engine.internals.database.reading() as transaction:
        kept = [row[0] for row in transaction.all("SELECT key FROM answered_write ORDER BY key")]
    assert kept == ["k3", "k4", "k5"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/providers/mail", {"on": False}),
        ("POST", "/sync", {}),
        ("POST", "/agents", {"name": "eve", "profile": "careful"}),
        ("POST", "/agents/default/offer", {"request": "read"}),
        ("POST", "/quarantine/skill:summary/approve", {}),
        ("PUT", "/evolution/params", {"alpha": 0.2}),
        ("POST", "/tokens", {"name": "eve"}),
        ("POST", "/lessons", {"method": "tool:read", "spans": ["read"]}),
        ("POST", "/cards/resume", None),
        ("POST", "/policy/grants/base/review", {}),
    ],
)
def test_the_journal_says_who_wrote(
    ann: TestClient, engine: Engine, method: str, path: str, body: dict[str, Any] | None
) -> None:
    before = engine.journal.heads()
    answer = ann.request(method, api(path), json=body)
    assert answer.status_code < 300, answer.text
    assert any(entry.data.get("by") == "ann" for entry in engine.journal.after(before))


def test_no_write_is_open_to_whoever_may_only_look() -> None:
    assert [o.id for o in everything().operations if o.writes and o.role == "viewer"] == []


# --- agents --------------------------------------------------------------------------------------


def test_an_agent_may_ask_only_for_itself(app: Starlette) -> None:
    ada = as_agent(app, "ada")
    assert ada.get(api("/agents/ada/capabilities")).status_code == 200
    for path in (
        "/agents/bob/capabilities",
        "/capabilities",
        "/journal",
        "/why?agent=ada&id=tool:read",
        "/me",
    ):
        assert ada.get(api(path)).status_code == 403, path


AGENT_BODIES: dict[str, Any] = {
    "agent.find": {"request": "open the vault of zebras", "min_relevance": 0.0, "top": 50},
    "agent.offer": {"request": "open the vault of zebras", "min_relevance": 0.0, "top": 50},
    "agent.tools": {"request": "open the vault of zebras", "min_relevance": 0.0, "top": 50},
    "agent.discover": {"query": "open the vault of zebras"},
    "agent.inject": {"request": "open the vault of zebras"},
    "agent.call": {"name": "discover_capabilities", "arguments": {"query": "open the vault of zebras"}},
    "agent.check": {"capability": "tool:read"},
    "agent.record": {"offer": "x", "capability": "tool:read", "ok": True},
}


def test_nothing_that_an_agent_can_ask_names_what_it_is_denied(app: Starlette) -> None:
    ada = as_agent(app, "ada")
    own = [operation for operation in everything().operations if operation.agents]
    assert len(own) >= 10
    for operation in own:
        path = operation.path.replace("{agent}", "ada").replace("{id}", "tool:read")
        answer = ada.request(operation.method, api(path), json=AGENT_BODIES.get(operation.id))
        assert answer.status_code < 300, (operation.id, answer.text)
        said = answer.text.replace("open the vault of zebras", "")
        assert "zebra" not in said, operation.id


def test_what_is_denied_and_what_does_not_exist_are_answered_alike(app: Starlette) -> None:
    ada = as_agent(app, "ada")
    ids = ("tool:zebra-vault", "tool:nothing-here")
    called, absent = (ada.post(api("/agents/ada/call"), json={"name": id}).json() for id in ids)
    assert called["ending"] == absent["ending"] == "denied"
    said = [str(one["content"]) + one["capability"] for one in (called, absent)]
    assert said[0].replace("zebra-vault", "nothing-here") == said[1]
    denied, absent = (ada.get(api(f"/agents/ada/capabilities/{id}")) for id in ids)
    assert denied.status_code == absent.status_code == 404
    assert denied.text.replace("zebra-vault", "nothing-here") == absent.text
    answers = [
        ada.post(api("/agents/ada/check"), json={"capability": id}).text
        for id in ("tool:zebra-vault", "tool:nothing-here")
    ]
    assert answers[0].replace("zebra-vault", "nothing-here") == answers[1]
    assert "grant" not in answers[0] and "profile" not in answers[0]


def test_people_see_what_was_left_out_and_agents_do_not(app: Starlette, ann: TestClient) -> None:
    asked = {"request": "open the vault of zebras"}
    for_people = ann.post(api("/agents/ada/offer"), json=asked).json()
    for_the_agent = as_agent(app, "ada").post(api("/agents/ada/offer"), json=asked).json()
    assert "tool:zebra-vault" in repr(for_people["left_out"])
    assert for_the_agent["left_out"] == {"counts": {}, "nearest": []}


def test_a_question_is_asked_answered_and_then_allows_the_use(app: Starlette, ann: TestClient) -> None:
    ada = as_agent(app, "ada")
    asked = ada.post(api("/agents/ada/check"), json={"capability": "tool:mail/send"})
    assert asked.status_code == 403
    approval = asked.json()["approval"]
    assert "careful" not in asked.text, "which profile asks is not for the agent"
    assert [one["id"] for one in ann.get(api("/approvals")).json()] == [approval]
    answered = ann.post(api(f"/approvals/{approval}/answer"), json={"yes": True})
    assert answered.json()["answered_by"] == "ann"
    assert ada.post(api("/agents/ada/check"), json={"capability": "tool:mail/send"}).status_code == 200


KEY = "sk-proj-aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zZqLkJh"


def test_a_credential_that_somebody_left_in_a_text_is_shown_only_by_its_kind(
    open_engine: OpenEngine,
) -> None:
    left = capability("tool:left", f"Call it with {KEY}, it is fine", provider="files")
    engine = open_engine(StaticSource(capabilities=[left], details={left.id: Detail(content=f"key: {KEY}")}))
    engine.sync()
    engine.offer(f"my key is {KEY}, read a file")
    client = signed_in(app_of(engine, Streams(seconds=0.05)))
    for path in ("/capabilities", "/capabilities/tool:left", "/capabilities/tool:left/versions", "/journal",
                 "/agents/default/capabilities/tool:left", "/journal/stream?since=start"):  # fmt: skip
        said = client.get(api(path))
        assert said.status_code == 200 and KEY not in said.text, path
        assert "[an OpenAI or Anthropic key]" in said.text, path


# --- the rest of a life --------------------------------------------------------------------------


def test_what_was_held_back_is_shown_compared_and_let_go(ann: TestClient, engine: Engine) -> None:
    held = ann.get(api("/quarantine")).json()
    assert [one["id"] for one in held] == ["skill:summary"]
    lines = ann.get(api("/quarantine/skill:summary")).json()["difference"]
    assert any(line.startswith("+") and "something else" in line for line in lines)
    wrong = ann.post(api("/quarantine/skill:summary/approve"), json={"digest": "another"})
    assert wrong.status_code in (404, 409)
    right = ann.post(api("/quarantine/skill:summary/approve"), json={"digest": held[0]["digest"]})
    assert right.status_code == 200
    assert engine.quarantine.list() == ()


def test_an_agent_is_evaluated_rolled_back_and_resumed(ann: TestClient) -> None:
    good = {"cognitive": 0.8, "behavioral": 0.8, "safety": 0.9, "autonomy": "L3", "meta_learning": 0.7}
    params = {"agent": "bob"}
    first = ann.post(api("/evolution/evaluate"), params=params, json={"scores": good}).json()
    assert (first["status"], first["generation"]) == ("success", 1)
    assert first["events"][0]["type"] == "EvolutionGeneration"
    broken = {**good, "safety": 0.1}
    ann.post(api("/evolution/evaluate"), params=params, json={"scores": broken})
    status = ann.get(api("/evolution/status"), params=params).json()
    assert status["agent"] == "bob" and status["autonomy_level"] in ("L3", "L0")
    generations = ann.get(api("/evolution/generations"), params=params).json()
    assert ann.get(api("/evolution/generations/1"), params=params).json() == generations[0]
    assert ann.get(api("/evolution/generations/99"), params=params).status_code == 404
    assert ann.get(api("/evolution/generations/x"), params=params).status_code == 404
    assert len(ann.get(api("/evolution/fitness"), params=params).json()) == 2
    back = ann.post(api("/evolution/rollback"), params=params, json={"generation": 1})
    assert back.status_code == 200
    assert ann.get(api("/evolution/rollbacks"), params=params).json()
    bad = ann.put(api("/evolution/params"), json={"weights": {"safety": 0.9}})
    assert bad.status_code == 409 and "add up" in bad.json()["detail"]


def test_a_dry_run_over_the_api_says_what_would_happen_and_does_nothing(
    ann: TestClient, engine: Engine
) -> None:
    good = {"cognitive": 0.8, "behavioral": 0.8, "safety": 0.9, "autonomy": "L3", "meta_learning": 0.7}
    params = {"agent": "bob"}
    ann.post(api("/evolution/evaluate"), params=params, json={"scores": good})
    provider, *_ = engine.evolution.history("bob")[0].snapshot.active_providers
    before = ann.get(api("/evolution/status"), params=params).json()
    entries = len(engine.journal.latest(1000, "bob"))
    breach = {"trigger": "SafetyBreach", "reason": "it leaked", "provider": provider, "dry_run": True}
    would = ann.post(api("/evolution/trigger"), params=params, json=breach)
    assert would.status_code == 200 and would.json()["off"] == [provider]
    back = {"generation": 1, "dry_run": True}
    again = ann.post(api("/evolution/rollback"), params=params, json=back)
    assert again.status_code == 200 and again.json()["generation"] == 2
    nobody = ann.post(api("/evolution/trigger"), params=params, json={**breach, "agent": "stranger"})
    assert nobody.status_code == 403 and "stranger" in nobody.json()["detail"]
    assert ann.get(api("/evolution/status"), params=params).json() == before
    assert len(engine.journal.latest(1000, "bob")) == entries
    assert engine.journal.latest(10, "stranger") == ()


def test_a_child_is_given_a_profile_of_its_own(ann: TestClient, engine: Engine) -> None:
    lead = "{agents: [eve], capabilities: {spawn_agents: true}, additional_tools: ['tool:*']}"
    engine.policy.files[0].write_text(f"profiles:\n  lead: {lead}\n")
    own = {"name": "kid", "parent": "eve", "profile": {"additional_tools": ["tool:read"]}}
    made = ann.post(api("/agents"), json=own)
    assert made.status_code == 201 and made.json()["definition"] == own["profile"]
    seen = ann.get(api("/capabilities"), params={"agent": "kid"}).json()["items"]
    assert [item["id"] for item in seen] == ["tool:read"]
    more = {"name": "two", "profile": {"additional_tools": ["WebFetch"]}}
    beyond = ann.post(api("/agents"), json={**own, **more})
    assert beyond.status_code == 403 and "exceeds the parent" in beyond.text
    alone = ann.post(api("/agents"), json={**own, "parent": ""})
    assert alone.status_code == 409 and "has no parent" in alone.json()["detail"]


def test_a_skill_is_proposed_gated_and_not_promoted_before_it_passes(ann: TestClient) -> None:
    made = ann.post(api("/lessons"), json={"method": "tool:read", "spans": ["look into the file"]}).json()
    assert (made["status"], made["promotable"]) == ("proposed", False)
    early = ann.post(api(f"/lessons/{made['id']}/promote"))
    assert early.status_code == 409 and "gate" in early.json()["remedy"]
    gated = ann.post(api("/lessons/gate"), json={"lessons": [made["id"]]}).json()
    assert gated[0]["lesson"] == made["id"]
    assert len(ann.get(api(f"/lessons/{made['id']}")).json()["results"]) == 2


def test_cards_and_their_past_can_be_read(ann: TestClient) -> None:
    for path in ("/cards", "/cards/selections", "/cards/report", "/cards/rollout"):
        assert ann.get(api(path)).status_code == 200, path
    assert ann.post(api("/cards/fit")).status_code == 409


# --- the journal ---------------------------------------------------------------------------------


def test_the_journal_is_read_backwards_page_by_page(ann: TestClient, engine: Engine) -> None:
    with_a_past(engine)
    seen, cursor = [], ""
    while True:
        page = ann.get(api("/journal"), params={"limit": 3, "cursor": cursor}).json()
        seen += [(item["chain"], item["number"]) for item in page["items"]]
        cursor = page["next"]
        if not cursor:
            break
    assert seen == [(entry.chain, entry.number) for entry in reversed(engine.journal.latest(1000))]


def test_the_whole_journal_is_exported_and_can_be_verified(ann: TestClient, engine: Engine) -> None:
    with_a_past(engine)
    lines = [msgspec.json.decode(line) for line in ann.get(api("/journal/export")).text.splitlines()]
    heads = ann.get(api("/journal/heads")).json()
    assert len(lines) == sum(head["count"] for head in heads)
    assert ann.post(api("/journal/verify"), json={"heads": heads}).json()["intact"] is True
    with engine.internals.database.writing() as transaction:
        transaction.run("UPDATE journal SET data = '{}' WHERE chain = 'default' AND number = 1")
    broken = ann.post(api("/journal/verify"), json={}).json()
    assert broken["intact"] is False and "edited" in broken["problem"]


def events_of(answer: Any) -> tuple[list[tuple[str, int]], str]:
    """The entries of a stream, and the last id it gave."""
    entries, last = [], ""
    for line in answer.text.splitlines():
        name, _, value = line.partition(": ")
        if name == "data":
            entry = msgspec.json.decode(value)
            entries.append((entry["chain"], entry["number"]))
        if name == "id":
            last = value
    return entries, last


def test_a_stream_goes_on_where_its_reader_stopped(ann: TestClient, engine: Engine) -> None:
    with_a_past(engine)
    everything_so_far, place = events_of(ann.get(api("/journal/stream"), params={"since": "start"}))
    assert sorted(everything_so_far) == sorted((e.chain, e.number) for e in engine.journal.latest(1000))
    engine.record(Outcome(offer="x", capability="tool:read", ok=True, agent="new"))
    engine.record(Outcome(offer="x", capability="tool:read", ok=True))
    more, _ = events_of(ann.get(api("/journal/stream"), headers={"Last-Event-ID": place}))
    known = {(e.chain, e.number) for e in engine.journal.latest(1000)}
    assert set(more) == known - set(everything_so_far) and len(more) == 2


def test_a_stream_without_a_place_begins_now_and_passes_only_what_is_wanted(
    ann: TestClient, engine: Engine
) -> None:
    with_a_past(engine)
    nothing, place = events_of(ann.get(api("/journal/stream")))
    assert nothing == [] and place
    engine.record(Outcome(offer="x", capability="tool:read", ok=True, agent="bob"))
    engine.record(Outcome(offer="x", capability="tool:read", ok=True, agent="ada"))
    answer = ann.get(api("/journal/stream"), params={"agent": "ada", "type": "out*"},
                     headers={"Last-Event-ID": place})  # fmt: skip
    assert [chain for chain, _ in events_of(answer)[0]] == ["ada"]
    assert ann.get(api("/journal/stream"), headers={"Last-Event-ID": "nonsense"}).status_code == 404


def test_no_entry_is_lost_while_many_write_and_the_reader_comes_and_goes(engine: Engine) -> None:
    client = signed_in(app_of(engine, Streams(seconds=0.02)))
    agents = ("ada", "bob", "default", "eve")
    seen, place = events_of(client.get(api("/journal/stream"), params={"since": "start"}))

    def write(agent: str) -> None:
        for _ in range(25):
            engine.record(Outcome(offer="x", capability="tool:read", ok=True, agent=agent))

    writers = [Thread(target=write, args=(agent,)) for agent in agents]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        more, place = events_of(client.get(api("/journal/stream"), headers={"Last-Event-ID": place}))
        seen += more
    more, _ = events_of(client.get(api("/journal/stream"), headers={"Last-Event-ID": place}))
    written = [(entry.chain, entry.number) for entry in engine.journal.latest(1000)]
    assert sorted(seen + more) == sorted(written)
    assert len(written) >= 100


def test_too_many_streams_are_refused(engine: Engine) -> None:
    client = signed_in(app_of(engine, Streams(most=0)))
    assert client.get(api("/journal/stream")).status_code == 429


# --- the document --------------------------------------------------------------------------------


def test_the_document_is_served_to_anybody_and_names_every_operation(app: Starlette) -> None:
    nobody = TestClient(app, base_url=HERE)
    found = nobody.get(api("/openapi.json"))
    paths = found.json()["paths"]
    named = {entry["operationId"] for methods in paths.values() for entry in methods.values()}
    assert found.json()["openapi"] == "3.1.0"
    assert named == {operation.id for operation in everything().operations}
    again = nobody.get(api("/openapi.json"), headers={"If-None-Match": found.headers["etag"]})
    assert again.status_code == 304


def test_a_search_keeps_to_the_configuration_where_nothing_says_otherwise(
    ann: TestClient, engine: Engine
) -> None:
    asked = {"request": "open the vault of zebras"}
    engine.internals.discovery = DiscoveryConfig(kind="skill")
    assert ann.post(api("/agents/default/find"), json=asked).json() == []
    found = ann.post(api("/agents/default/find"), json={**asked, "kind": "any"}).json()
    assert found[0]["id"] == "tool:zebra-vault"
