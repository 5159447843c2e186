"""A provider, a browser or somebody between them who does not keep to the rules gets nobody in."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from prowess.config import parse
from prowess.engine import Engine
from prowess.errors import ConfigError
from prowess.listen import LOOPBACK
from prowess.oidc.provider import SECONDS_BETWEEN_FETCHES, IdentityProvider
from prowess.opening import now
from prowess.web.app import create_app
from prowess.web.protection import RequestLimits
from prowess.web.provider import OnlyWorkspace, ProviderFace, provider_face
from prowess.web.users import Users
from tests.support.browser import serving
from tests.support.hostile_provider import HostileProvider, hostile_provider, section, unsigned
from tests.support.ports import free_port
from tests.support.stores import OpenEngine

ADDRESS = "http://127.0.0.1:8800"


@dataclass
class Behind:
    provider: HostileProvider
    engine: Engine
    browser: httpx2.Client

    def goes_in(self, path: str = "/login/provider", **query: str) -> httpx2.Response:
        """Up to where the browser is sent back to prowess, and what that then answers."""
        return self.comes_back(self.is_sent_back(path, **query))

    def is_sent_back(self, path: str = "/login/provider", **query: str) -> str:
        there = self.browser.get(path, params=query).headers["location"]
        return str(self.browser.get(there).headers["location"])

    def comes_back(self, back: str) -> httpx2.Response:
        parts = urlsplit(back)
        return self.browser.get(f"{parts.path}?{parts.query}")

    def who(self) -> int:
        return self.browser.get("/api/v1/me").status_code


def face_of(engine: Engine, issuer: str, address: str = ADDRESS) -> ProviderFace:
    config = parse(section(issuer, address, ("staff", "operator", ""))).web.oidc
    assert config is not None
    inner = engine.internals
    only = OnlyWorkspace("default", Users(inner.database, inner.journal, now))
    return provider_face(config, {"OIDC_SECRET": "shared"}, only, "default")


@pytest.fixture
def behind(open_engine: OpenEngine) -> Iterator[Behind]:
    engine = open_engine()
    with ExitStack() as stack:
        provider = stack.enter_context(hostile_provider())
        face = face_of(engine, provider.issuer)
        app = create_app(engine, RequestLimits(LOOPBACK, rate=0), provider=face)
        address = stack.enter_context(serving(app))
        yield Behind(provider, engine, stack.enter_context(httpx2.Client(base_url=address, timeout=30)))


def test_who_keeps_to_the_rules_gets_in(behind: Behind) -> None:
    answer = behind.goes_in(next="/catalogue?q=a")
    assert (answer.status_code, answer.headers["location"]) == (303, "/catalogue?q=a")
    assert behind.browser.get("/api/v1/me").json() == {"name": "ada@example.com", "role": "operator"}
    asked = behind.provider.asked
    assert asked["response_type"] == "code" and asked["code_challenge_method"] == "S256"
    admitted = behind.engine.journal.latest(1, type="person.admitted")[0].data
    assert admitted["by"] == f"{behind.provider.issuer} (subject 1)"


def other_key(claims: dict[str, Any]) -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return jwt.encode(claims, key, algorithm="RS256", headers={"kid": "first"})


def with_the_secret(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, "shared" * 8, algorithm="HS256", headers={"kid": "first"})


@pytest.mark.parametrize(
    ("claims", "token"),
    [
        ({"nonce": "another"}, None),
        ({"nonce": None}, None),
        ({"iss": "https://elsewhere.example"}, None),
        ({"aud": "another"}, None),
        ({"aud": ["prowess", "another"]}, None),  # without saying for whom it was made
        ({"aud": ["prowess", "another"], "azp": "another"}, None),
        ({"exp": 1_000_000}, None),
        ({"exp": None}, None),
        ({"iat": None}, None),
        ({"nbf": 4_000_000_000}, None),
        ({"at_hash": "of another access token"}, None),
        ({}, unsigned),
        ({}, other_key),
        ({}, with_the_secret),
        ({}, lambda claims: "no token"),
        ({}, lambda claims: ""),
    ],
)
def test_an_id_token_that_was_not_made_for_this_sign_in_proves_nobody(
    behind: Behind, claims: dict[str, Any], token: Any
) -> None:
    behind.provider.claims, behind.provider.token = claims, token
    answer = behind.goes_in()
    assert answer.status_code == 403 and "did not sign you in" in answer.text
    assert behind.who() == 401
    behind.provider.claims, behind.provider.token = {}, None
    assert behind.goes_in().status_code == 303 and behind.who() == 200


def test_clocks_may_differ_by_half_a_minute(behind: Behind) -> None:
    behind.provider.claims = {"exp": int(time.time()) - 20, "iat": int(time.time()) + 20}
    assert behind.goes_in().status_code == 303


@pytest.mark.parametrize("groups", [None, 7, True, {"staff": True}, [["staff"], 1, None], "staff,admins", []])
def test_groups_of_another_type_are_none(behind: Behind, groups: Any) -> None:
    behind.provider.claims = {"groups": groups}
    answer = behind.goes_in()
    assert answer.status_code == 403 and "ada@example.com" in answer.text
    assert "[[web.oidc.group]]" in answer.text
    assert behind.who() == 401


def test_groups_that_only_the_userinfo_has_count_for_the_same_person_alone(behind: Behind) -> None:
    behind.provider.claims = {"groups": None}
    behind.provider.userinfo = {"sub": "2", "groups": ["staff"]}
    assert behind.goes_in().status_code == 403
    behind.provider.userinfo = {"sub": "1", "groups": ["staff"]}
    assert behind.goes_in().status_code == 303 and behind.who() == 200


def test_what_somebody_is_called_at_the_provider_is_escaped_and_unconfirmed_addresses_name_nobody(
    behind: Behind,
) -> None:
    behind.provider.claims = {"email": "<script>alert(1)</script>", "groups": ["<b>guests</b>"]}
    assert "<script>alert" not in behind.goes_in().text
    behind.provider.claims = {"email": "root@example.com", "email_verified": False}
    assert behind.goes_in().status_code == 303
    assert behind.browser.get("/api/v1/me").json()["name"] == "1"


def test_a_way_back_counts_once_and_only_in_the_browser_that_began(behind: Behind) -> None:
    back = behind.is_sent_back()
    with httpx2.Client(base_url=behind.browser.base_url, timeout=30) as other:
        parts = urlsplit(back)
        refused = other.get(f"{parts.path}?{parts.query}")
        assert refused.status_code == 400 and "was not begun in this browser" in refused.text
        other.get("/login/provider")  # its own, whose state is another
        assert other.get(f"{parts.path}?{parts.query}").status_code == 400
        assert other.get("/api/v1/me").status_code == 401
    assert behind.comes_back(back).status_code == 303
    assert behind.comes_back(back).status_code == 400


@pytest.mark.parametrize(
    "change", [{"iss": "https://elsewhere.example"}, {"error": "access_denied"}, {"code": ""}]
)
def test_an_answer_of_another_provider_or_without_a_code_is_refused(
    behind: Behind, change: dict[str, str]
) -> None:
    parts = urlsplit(behind.is_sent_back())
    said = {name: values[0] for name, values in parse_qs(parts.query).items()} | change
    assert behind.browser.get(parts.path, params=said).status_code == 403
    assert behind.who() == 401


@pytest.mark.parametrize(
    "goal", ["https://evil.example/", "//evil.example", "/\\evil.example", "evil", "/\tb", "/" + "a" * 5000]
)
def test_signing_in_leads_nowhere_else(behind: Behind, goal: str) -> None:
    assert behind.goes_in(next=goal).headers["location"] == "/"


def test_a_new_key_of_the_provider_is_fetched_and_one_it_took_back_counts_no_longer() -> None:
    async def checked() -> None:
        with hostile_provider() as hostile:
            clock = [0.0]
            provider = IdentityProvider(hostile.issuer, lambda: clock[0])
            old = hostile.id_token()
            assert await provider.claims(old, "prowess")
            hostile.key, hostile.kid = rsa.generate_private_key(65537, 2048), "second"
            new = hostile.id_token()
            assert not await provider.claims(new, "prowess"), "who asks for keys by the second is not let"
            assert await provider.claims(old, "prowess"), "nobody has said yet that it is gone"
            clock[0] += SECONDS_BETWEEN_FETCHES
            assert await provider.claims(new, "prowess")
            assert not await provider.claims(old, "prowess")

    anyio.run(checked)


def test_a_description_of_another_issuer_brings_no_keys_and_a_provider_that_is_away_is_said_so(
    open_engine: OpenEngine,
) -> None:
    engine = open_engine()
    with hostile_provider() as hostile:
        for issuer in (f"http://127.0.0.1:{free_port()}", f"{hostile.issuer}/"):
            app = create_app(engine, RequestLimits(LOOPBACK), provider=face_of(engine, issuer))
            with serving(app) as address:
                answer = httpx2.get(f"{address}/login/provider", timeout=30)
            assert answer.status_code == 502 and "Example ID does not answer" in answer.text


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (("https://id.example", "http://id.example"), "issuer is no https address"),
        (("https://tools.example", "http://tools.example"), "url is no https address"),
        (("https://api.example/prowess", "prowess"), "would count as access tokens"),
        (("[[web.oidc.group]]", "[[preset]]"), "no group may do anything"),
        (('workspace = ""', 'workspace = "A B"'), "names no workspace"),
    ],
)
def test_a_configuration_that_could_let_anybody_in_is_an_error(change: tuple[str, str], what: str) -> None:
    text = section("https://id.example", "https://tools.example", ("staff", "viewer", ""))
    if "preset" in change[1]:
        text = text.partition("[[")[0]
    config = parse(text.replace(*change)).web.oidc
    assert config is not None
    with pytest.raises(ConfigError, match=what):
        only = "" if "workspace" in change[0] else "default"
        provider_face(config, {}, OnlyWorkspace("default", None), only)  # type: ignore[arg-type]
