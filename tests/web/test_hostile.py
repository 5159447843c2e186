"""What hostile requests and hostile texts come to: an answer that says what is wrong, and nothing more."""

import base64
import zlib
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from click.testing import CliRunner
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from prowess.cli.main import prowess
from prowess.engine import Engine
from prowess.journal import Raw
from prowess.testing import StaticSource, capability
from prowess.types import Provider
from prowess.web.app import create_app
from prowess.web.page import Files
from prowess.web.pages.ask import pieces
from prowess.web.protection import RequestLimits
from prowess.web.stream import Streams
from tests.support.clock import SteppingClock
from tests.support.stores import OpenEngine
from tests.support.web import HERE, app_of, as_agent, browser, signed_in, world

KEY = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
UNSEEN = "\u202e"


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


def packed(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


# --- what is sent --------------------------------------------------------------------------------


def test_a_body_that_is_nested_without_end_is_refused(ann: TestClient) -> None:
    body = '{"request":' + "[" * 100_000
    answer = ann.post("/api/v1/agents/ada/find", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert "nested too deep" in answer.json()["detail"]


@pytest.mark.parametrize("key", ["9" * 30, str(2**63), "-1"])
def test_a_cursor_beyond_all_numbers_is_not_found(ann: TestClient, key: str) -> None:
    assert ann.get("/api/v1/lessons", params={"cursor": packed(key)}).status_code == 404
    for path in ("/api/v1/journal", "/api/v1/cards/selections"):
        assert ann.get(path, params={"cursor": packed(f'["2026","ada",{key}]')}).status_code == 404


def test_a_cursor_with_text_that_no_database_keeps_is_not_found(ann: TestClient) -> None:
    for key in ('["\\u0000","ada",1]', '["2026","\\u0000",1]'):
        assert ann.get("/api/v1/journal", params={"cursor": packed(key)}).status_code == 404


def test_a_stream_from_a_place_before_the_beginning_begins_there(ann: TestClient, engine: Engine) -> None:
    counts = msgspec.json.encode({"": -(10**30)})
    place = base64.urlsafe_b64encode(zlib.compress(counts)).decode()
    answer = ann.get("/api/v1/journal/stream", headers={"Last-Event-ID": place})
    assert answer.text.count("event: entry") == len(engine.journal.latest(1000))


@pytest.mark.parametrize(
    "address", ["/journal?agent=%00", "/capability?id=%00", "/injections?before=%00 1 x"]
)
def test_an_address_with_text_that_no_database_keeps_is_refused(ann: TestClient, address: str) -> None:
    answer = ann.get(address)
    assert answer.status_code == 422
    assert "NUL" in answer.text


def test_a_form_with_text_that_no_database_keeps_is_refused(ann: TestClient) -> None:
    answer = ann.post("/evolution/resume", data={"agent": "a\0b"})
    assert answer.status_code == 422


def test_a_body_that_breaks_off_is_not_acted_on(app: Starlette) -> None:
    token = app.state.people.issue("ann", "admin").text
    answers: list[Any] = []

    arriving: list[Any] = [
        {"type": "http.request", "body": b'{"name":"half","role":"admin"}', "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Any:
        return arriving.pop(0)

    async def send(message: Any) -> None:
        answers.append(message)

    headers = {"host": "127.0.0.1:8800", "authorization": f"Bearer {token}",
               "content-type": "application/json", "content-length": "500"}  # fmt: skip
    path = "/api/v1/tokens"
    scope = {"type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
             "headers": [(k.encode(), v.encode()) for k, v in headers.items()], "client": None}  # fmt: skip
    anyio.run(app, scope, receive, send)
    assert answers[0]["status"] == 400
    assert "half" not in [one.name for one in app.state.people.tokens()]


def test_what_others_put_into_the_cookies_does_not_sign_anybody_out(app: Starlette) -> None:
    session = browser(app).cookies["prowess_session"]
    cookies = f'other={{"a": [1]}}; {{; prowess_session={session}'
    answer = TestClient(app, base_url=HERE).get("/", headers={"Cookie": cookies}, follow_redirects=False)
    assert answer.status_code == 200


# --- who asks ------------------------------------------------------------------------------------


def test_leaving_with_a_token_does_not_revoke_it(app: Starlette, ann: TestClient) -> None:
    assert ann.post("/logout", follow_redirects=False).status_code == 303
    assert ann.get("/api/v1/me").status_code == 200


def test_a_page_that_refuses_an_agent_tells_nothing_of_what_waits_for_people(app: Starlette) -> None:
    answer = as_agent(app, "ada").get("/")
    assert answer.status_code == 403
    assert "waiting" not in answer.text and "/quarantine" not in answer.text


def test_behind_a_proxy_on_this_machine_the_cookie_travels_only_over_tls(engine: Engine) -> None:
    app = create_app(engine, RequestLimits(("127.0.0.1:*", "tools.example.com")))
    link = app.state.people.issue("ann", "admin", "link").text
    outside = TestClient(app, base_url="https://tools.example.com")
    cookie = outside.get("/login", params={"link": link}, follow_redirects=False).headers["set-cookie"]
    assert cookie.startswith("__Host-prowess_session=") and "Secure" in cookie
    assert outside.get("/").status_code == 200


def test_whoever_signs_in_comes_to_the_whole_address_they_asked_for(app: Starlette) -> None:
    asked = TestClient(app, base_url=HERE).get("/capability?id=tool:read", follow_redirects=False)
    form = TestClient(app, base_url=HERE).get(asked.headers["location"])
    assert 'name="next" value="/capability?id=tool:read"' in form.text


def test_an_export_is_not_shown_to_those_who_may_not_have_it(app: Starlette, ann: TestClient) -> None:
    assert "/api/v1/journal/export" in ann.get("/journal").text
    assert "/api/v1/journal/export" not in signed_in(app, "viewer").get("/journal").text


def test_a_token_lasts_ten_years_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(prowess, ["access-token", "add", "ann", "--days", "99999999999"])
    assert refused.exit_code == 2
    assert "range" in refused.stderr


# --- what is shown -------------------------------------------------------------------------------


def test_a_page_that_fails_is_as_protected_as_any_other(app: Starlette) -> None:
    ann = TestClient(app, base_url=HERE, cookies=browser(app).cookies, raise_server_exceptions=False)
    app.state.clock = None
    answer = ann.get("/")
    assert answer.status_code == 500
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-frame-options"] == "DENY"


def test_the_words_of_somebody_elses_link_are_not_said_as_ours(app: Starlette) -> None:
    ann = browser(app)
    address = "/learning?done=learnt&what=Paste+your+token+at+example.com"
    assert "example.com" in ann.get(address, headers={"Sec-Fetch-Site": "same-origin"}).text
    assert "example.com" not in ann.get(address, headers={"Sec-Fetch-Site": "cross-site"}).text


def test_asking_as_somebody_who_may_use_nothing_shows_that_there_is_no_text(ann: TestClient) -> None:
    answer = ann.get("/ask", params={"request": "read a file", "a_who": "agent:nobody"})
    assert answer.status_code == 200
    assert "No text at all." in answer.text
    assert pieces("") == ()


def test_what_a_provider_says_is_shown_without_credentials_and_with_everything_in_sight(
    open_engine: OpenEngine,
) -> None:
    said = f"cannot reach it with {KEY}{UNSEEN}"
    engine = open_engine(
        StaticSource(
            capabilities=[capability("tool:read", "Read", provider=f"p{UNSEEN}", category=f"c{UNSEEN}")],
            providers=[Provider(name=f"p{UNSEEN}", source="static", down=said, description=said)],
        )
    )
    engine.sync()
    engine.internals.journal.record(Raw("odd", {f"k{UNSEEN}": [said, {"x": said}]}))
    ann = signed_in(app_of(engine), "viewer")
    for path in ("/", "/capability?id=tool:read", "/journal", "/overview/problems"):
        page = ann.get(path).text
        assert KEY not in page, path
        assert UNSEEN not in page, path
    for path in ("/providers", "/why?agent=default&id=tool:read", "/doctor"):
        assert KEY not in ann.get(f"/api/v1{path}").text, path


def test_a_folder_of_scripts_that_the_build_left_out_is_empty(tmp_path: Path) -> None:
    app = Starlette(routes=[Mount("/static/vendor", Files(directory=tmp_path / "none", check_dir=False))])
    assert TestClient(app).get("/static/vendor/htmx.min.js").status_code == 404
