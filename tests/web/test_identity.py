"""Who gets in, as what, and what keeps everybody else out."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from click.testing import CliRunner
from starlette.applications import Starlette
from starlette.testclient import TestClient

from prowess.cli.main import prowess
from prowess.config import WebConfig
from prowess.engine import Engine
from prowess.errors import ConfigError
from prowess.listen import Bind, is_among
from prowess.web.app import create_app
from prowess.web.protection import RequestLimits
from prowess.web.serving import limits_of, refuse_strangers
from prowess.web.users import Users
from tests.support.clock import SteppingClock
from tests.support.stores import OpenEngine
from tests.support.web import HERE, app_of, as_agent, browser, everything_source, signed_in


@pytest.fixture
def engine(open_engine: OpenEngine) -> Engine:
    engine = open_engine(everything_source())
    engine.sync()
    return engine


@pytest.fixture
def app(engine: Engine) -> Starlette:
    return app_of(engine)


@pytest.fixture
def nobody(app: Starlette) -> TestClient:
    return TestClient(app, base_url=HERE)


@pytest.fixture
def people(engine: Engine, clock: SteppingClock) -> Users:
    return Users(engine.internals.database, engine.internals.journal, clock)


# --- passes --------------------------------------------------------------------------------------


def test_a_token_is_kept_only_as_a_hash_and_never_journalled(people: Users, engine: Engine) -> None:
    secret = people.issue("ann", "viewer").text.split("_", 3)[3]
    with engine.internals.database.reading() as transaction:
        rows = repr(transaction.all("SELECT * FROM person_pass"))
    assert secret not in rows
    assert secret not in repr(engine.journal.latest(100))


def test_a_token_proves_its_owner_until_it_is_revoked(people: Users) -> None:
    issued = people.issue("ann", "operator")
    held = people.person(issued.text, "token")
    assert held is not None and (held.name, held.role) == ("ann", "operator")
    people.end(issued.person_pass.id, "bob")
    assert people.person(issued.text, "token") is None


def test_a_token_expires(people: Users, clock: SteppingClock) -> None:
    issued = people.issue("ann", "viewer", lasts=timedelta(days=1))
    clock.now += timedelta(days=2)
    assert people.person(issued.text, "token") is None


def test_a_token_whose_secret_is_another_proves_nobody(people: Users) -> None:
    first, second = people.issue("ann", "viewer").text, people.issue("bob", "admin").text
    mixed = f"{second.rpartition('_')[0]}_{first.rpartition('_')[2]}"
    assert people.person(mixed, "token") is None


def test_a_link_signs_in_once(app: Starlette, nobody: TestClient) -> None:
    link = app.state.people.issue("ann", "admin", "link").text
    assert nobody.get("/login", params={"link": link}, follow_redirects=False).status_code == 303
    other = TestClient(app, base_url=HERE)
    assert other.get("/login", params={"link": link}).status_code == 403


def test_a_link_is_neither_a_token_nor_a_session(app: Starlette, nobody: TestClient) -> None:
    link = app.state.people.issue("ann", "admin", "link").text
    refused = nobody.get("/api/v1/me", headers={"Authorization": f"Bearer {link}"})
    assert refused.status_code == 401


def test_revoking_a_token_ends_the_sessions_that_were_opened_with_it(app: Starlette) -> None:
    issued = app.state.people.issue("ann", "viewer")
    client = TestClient(app, base_url=HERE)
    client.post("/login", data={"token": issued.text}, follow_redirects=False)
    assert client.get("/api/v1/me").json() == {"name": "ann", "role": "viewer"}
    app.state.people.end(issued.person_pass.id, "bob")
    assert client.get("/api/v1/me").status_code == 401


def test_who_was_let_in_and_who_ended_it_is_in_the_journal(people: Users, engine: Engine) -> None:
    issued = people.issue("ann", "operator", by="bob")
    people.end(issued.person_pass.id, "eve")
    said = [(e.type, e.data["name"], e.data["by"]) for e in engine.journal.latest(10, type="person.*")]
    assert said == [("person.admitted", "ann", "bob"), ("person.ended", "ann", "eve")]


# --- roles ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "expected"),
    [("viewer", (200, 403, 403)), ("operator", (200, 200, 403)), ("admin", (200, 200, 200))],
)
def test_each_role_may_do_what_it_is_for_and_no_more(
    app: Starlette, role: str, expected: tuple[int, int, int]
) -> None:
    client = signed_in(app, role)  # type: ignore[arg-type]
    looked = client.get("/api/v1/capabilities")
    acted = client.put("/api/v1/providers/mail", json={"on": False})
    decided = client.put("/api/v1/evolution/params", json={"alpha": 0.2})
    assert (looked.status_code, acted.status_code, decided.status_code) == expected


def test_nobody_gets_a_page_or_an_answer_without_a_pass(nobody: TestClient) -> None:
    page = nobody.get("/", follow_redirects=False)
    assert (page.status_code, page.headers["location"]) == (303, "/login?next=/")
    refused = nobody.get("/api/v1/capabilities")
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == "Bearer"


def test_an_agent_gets_no_page(app: Starlette) -> None:
    assert as_agent(app, "ada").get("/").status_code == 403


# --- browsers ------------------------------------------------------------------------------------


def test_the_cookie_of_a_session_is_out_of_reach_of_scripts_and_other_sites(app: Starlette) -> None:
    client = TestClient(app, base_url=HERE)
    link = app.state.people.issue("ann", "admin", "link").text
    cookie = client.get("/login", params={"link": link}, follow_redirects=False).headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "Path=/" in cookie


def test_beyond_this_machine_the_cookie_travels_only_over_tls(engine: Engine) -> None:
    app = create_app(engine, RequestLimits(("prowess.example",)), secure=True)
    client = TestClient(app, base_url="https://prowess.example")
    link = app.state.people.issue("ann", "admin", "link").text
    cookie = client.get("/login", params={"link": link}, follow_redirects=False).headers["set-cookie"]
    assert cookie.startswith("__Host-prowess_session=") and "Secure" in cookie
    assert client.get("/api/v1/me").status_code == 200


def csrf_of(app: Starlette, client: TestClient) -> str:
    from starlette.requests import Request

    from prowess.web import identity

    session = client.cookies[identity.COOKIE]
    caller = identity.recognise(app.state.people, app.state.engine, "", session)
    return identity.csrf(Request({"type": "http", "headers": [], identity.CALLER: caller}))


def test_a_form_without_the_sessions_own_csrf_is_refused(app: Starlette) -> None:
    client, other = browser(app), browser(app)
    for said in ({}, {"csrf": "nonsense"}, {"csrf": csrf_of(app, other)}):
        assert client.post("/logout", data=said).status_code == 403
    assert client.get("/api/v1/me").status_code == 200
    assert (
        client.post("/logout", data={"csrf": csrf_of(app, client)}, follow_redirects=False).status_code == 303
    )
    assert client.get("/api/v1/me").status_code == 401


def test_a_script_of_our_pages_proves_itself_by_a_header(app: Starlette) -> None:
    client = browser(app)
    assert client.post("/api/v1/cards/resume").status_code == 403
    headers = {"X-CSRF-Token": csrf_of(app, client)}
    assert client.post("/api/v1/cards/resume", headers=headers).status_code == 200


def test_the_csrf_of_a_page_is_masked_anew_each_time(app: Starlette) -> None:
    client = browser(app)
    assert csrf_of(app, client) != csrf_of(app, client)


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://127.0.0.1.evil.example:8800", "http://localhost:3000",
     "http://127.0.0.1:8801"],
)  # fmt: skip
def test_a_write_from_another_site_is_refused(app: Starlette, origin: str) -> None:
    client = signed_in(app)
    refused = client.post("/api/v1/cards/resume", headers={"Origin": origin})
    assert refused.status_code == 403
    assert client.post("/api/v1/cards/resume", headers={"Origin": HERE}).status_code == 200


def test_behind_a_proxy_the_name_in_the_configuration_is_ours_too(engine: Engine) -> None:
    bind = Bind("127.0.0.1", 8800)
    app = create_app(engine, limits_of(WebConfig(hosts=["prowess.example"]), bind))
    ours = signed_in(app).post("/api/v1/cards/resume", headers={"Origin": "https://prowess.example"})
    assert ours.status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", ""])
def test_a_name_that_was_bound_to_this_machine_by_somebody_else_is_not_answered(
    app: Starlette, host: str
) -> None:
    assert signed_in(app).get("/api/v1/me", headers={"Host": host}).status_code == 421


def test_hosts_are_compared_whole_and_without_regard_to_case() -> None:
    allowed = ("127.0.0.1:*", "Prowess.example")
    assert is_among("127.0.0.1:80", allowed) and is_among("127.0.0.1", allowed)
    assert is_among("prowess.EXAMPLE", allowed)
    assert not is_among("prowess.example:80", allowed)
    assert not is_among("x127.0.0.1:80", allowed)


@pytest.mark.parametrize("goal", ["https://evil.example/", "//evil.example", "/\\evil.example", "evil"])
def test_signing_in_leads_nowhere_else(app: Starlette, nobody: TestClient, goal: str) -> None:
    token = app.state.people.issue("ann", "viewer").text
    answer = nobody.post("/login", data={"token": token, "next": goal}, follow_redirects=False)
    assert answer.headers["location"] == "/"


def test_every_answer_forbids_inline_scripts_framing_and_sniffing(app: Starlette) -> None:
    for answer in (
        browser(app).get("/login"),
        signed_in(app).get("/api/v1/me"),
        signed_in(app).get("/nowhere"),
    ):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'self'" in policy and "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


# --- limits --------------------------------------------------------------------------------------


def test_a_body_that_is_too_large_is_refused_whether_or_not_it_says_so(engine: Engine) -> None:
    app = create_app(engine, RequestLimits(("127.0.0.1:*",), body=1000))
    assert signed_in(app).post("/api/v1/sync", content=b" " * 2000).status_code == 413
    assert anyio.run(status_of_an_endless_body, app) == 413


async def status_of_an_endless_body(app: Starlette) -> int:
    headers = [(b"host", b"127.0.0.1:8800"), (b"transfer-encoding", b"chunked")]
    scope = {"type": "http", "method": "POST", "path": "/api/v1/sync", "raw_path": b"/api/v1/sync",
             "query_string": b"", "headers": headers, "client": ("127.0.0.1", 1)}  # fmt: skip
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b" " * 500, "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    with anyio.fail_after(5):
        await app(scope, receive, send)
    return int(sent[0]["status"])


def test_whoever_asks_too_often_is_told_to_slow_down(engine: Engine) -> None:
    client = signed_in(app_of(engine, rate=5))
    statuses = [client.get("/api/v1/me").status_code for _ in range(8)]
    assert statuses[:5] == [200] * 5 and statuses[-1] == 429


def test_a_host_that_others_reach_is_not_served_before_somebody_has_a_token(people: Users) -> None:
    refuse_strangers(people, Bind("127.0.0.1", 8800))
    with pytest.raises(ConfigError, match="prowess access-token add"):
        refuse_strangers(people, Bind("0.0.0.0", 8800))
    people.issue("ann", "admin", "link")
    with pytest.raises(ConfigError):
        refuse_strangers(people, Bind("192.0.2.1", 8800))
    people.issue("ann", "admin")
    refuse_strangers(people, Bind("0.0.0.0", 8800))


def test_the_configuration_names_further_hosts_and_limits() -> None:
    limits = limits_of(WebConfig(hosts=["prowess.example"], rate=7, max_body_bytes=9), Bind("0.0.0.0", 80))
    assert "prowess.example" in limits.hosts and "0.0.0.0" not in limits.hosts
    assert (limits.rate, limits.body) == (7, 9)


# --- the command ---------------------------------------------------------------------------------


def test_prowess_token_prints_a_token_once_lists_it_and_revokes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    added = CliRunner().invoke(prowess, ["access-token", "add", "ann", "--role", "operator"])
    assert added.exit_code == 0, added.output
    token = added.stdout.strip()
    assert token.startswith("prowess_token_")
    listed = CliRunner().invoke(prowess, ["access-token", "list"]).stdout
    assert "operator" in listed and token not in listed
    id = token.split("_")[2]
    assert CliRunner().invoke(prowess, ["access-token", "revoke", id]).exit_code == 0
    revoked = CliRunner().invoke(prowess, ["access-token", "list", "--json"]).stdout
    assert '"ended_at": ""' not in revoked
    assert CliRunner().invoke(prowess, ["access-token", "revoke", "nothing"]).exit_code == 1
