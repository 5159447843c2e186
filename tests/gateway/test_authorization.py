"""The gateway behind an identity provider: who has a token of it is the agent that its claims stand for."""

import json
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from prowess.config import parse
from prowess.errors import ConfigError
from prowess.gateway.access_tokens import AccessTokens
from tests.support.gateway import SERVERS, call, free_port, library, served, text_of, write_config
from tests.support.hostile_provider import hostile_provider
from tests.support.npm import locked_modules, node
from tests.support.wire import eventually, listens

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

POLICY = """
profiles:
  librarian:
    agents: [librarian]
    additional_tools: ["tool:library/*"]
  nobody:
    agents: [default]
"""
BOOK: dict[str, Any] = {"title": "Emma", "year": 1815}


def section(issuer: str, resource: str) -> str:
    return f"""
[gateway.authorization]
issuer = "{issuer}"
resource = "{resource}"
scopes = ["books"]
[[gateway.authorization.agent]]
agent = "librarian"
claims = {{ "realm.roles" = "librarians" }}
"""


@dataclass(frozen=True)
class Behind:
    issuer: str
    resource: str
    file: Path

    def token(self, program: str, scope: str = "books", resource: str = "") -> str:
        """An access token as the provider gives it to a program."""
        form = {"grant_type": "client_credentials", "resource": resource or self.resource, "scope": scope}
        known = b64encode(f"{program}:{program}-keeps-this".encode()).decode()
        request = urllib.request.Request(
            f"{self.issuer}/token",
            urllib.parse.urlencode(form).encode(),
            {"Authorization": f"Basic {known}"},
        )
        with urllib.request.urlopen(request, timeout=20) as response:
            return str(json.load(response)["access_token"])

    def knock(self, token: str = "") -> tuple[int, str]:
        """The status of a request and what its answer says of tokens."""
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        headers |= {"authorization": f"Bearer {token}"} if token else {}
        try:
            request = urllib.request.Request(self.resource, b"{}", headers)
            with urllib.request.urlopen(request, timeout=20) as response:
                return int(response.status), ""
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers.get("WWW-Authenticate", "")


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Behind]:
    folder = tmp_path_factory.mktemp("authorization")
    ports = free_port(), free_port()
    issuer, resource = f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}/mcp"
    file = write_config(folder, POLICY, library())
    file.write_text(file.read_text() + section(issuer, resource))
    script = str(SERVERS / "identity.mjs")
    provider = subprocess.Popen(
        [node(), script, str(locked_modules()), str(ports[0]), resource],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    gateway = subprocess.Popen(served(file, "--http", f"127.0.0.1:{ports[1]}"), stderr=subprocess.DEVNULL)
    try:
        for port in ports:
            eventually(lambda port=port: listens(port), 60)  # type: ignore[misc]
        yield Behind(issuer, resource, file)
    finally:
        for process in (gateway, provider):
            process.terminate()
            process.wait(20)


class Kept:
    """Where a client keeps its tokens."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@pytest.mark.anyio
async def test_a_client_that_knows_only_the_address_finds_the_provider_and_is_its_agent(
    behind: Behind,
) -> None:
    """From the first refusal to a call: the official SDK looks everything up by itself."""
    auth = ClientCredentialsOAuthProvider(
        behind.resource, Kept(), "ada", "ada-keeps-this", scope="books", issuer=behind.issuer
    )
    async with httpx2.AsyncClient(auth=auth, timeout=30) as http:
        transport = streamable_http_client(behind.resource, http_client=http)
        async with Client(transport, cache=None) as client:
            assert text_of(await call(client, "tool:library/find_book", **BOOK)) == "Emma (1815)"


def test_a_refusal_says_where_tokens_are_to_be_had(behind: Behind) -> None:
    status, said = behind.knock()
    assert status == 401
    parts = urllib.parse.urlsplit(behind.resource)
    place = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-protected-resource/mcp"
    assert said == f'Bearer scope="books", resource_metadata="{place}"'
    with urllib.request.urlopen(place, timeout=20) as response:
        assert json.load(response) == {
            "resource": behind.resource,
            "resource_name": "prowess",
            "authorization_servers": [behind.issuer],
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["books"],
        }


def test_only_a_token_for_this_gateway_with_its_scope_and_an_agent_is_let_in(behind: Behind) -> None:
    assert behind.knock(behind.token("ada"))[0] == 400  # let in; the request itself is none
    assert behind.knock(behind.token("eve"))[0] == 403  # its claims stand for nobody
    status, said = behind.knock(behind.token("ada", scope="other"))
    assert status == 403 and 'error="insufficient_scope"' in said
    status, said = behind.knock(behind.token("ada", resource="https://elsewhere.example/mcp"))
    assert status == 401 and 'error="invalid_token"' in said


def forged(token: str, behind: Behind) -> Iterator[str]:
    head, body, signature = token.split(".")
    claims = json.loads(urlsafe_b64decode(body + "=="))
    known = json.loads(urlsafe_b64decode(head + "=="))
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def part(value: Any) -> str:
        return urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    yield f"{head}.{part(claims | {'sub': 'root'})}.{signature}"
    yield f"{part(known | {'alg': 'none'})}.{body}."
    yield jwt.encode(claims, key, algorithm="RS256", headers={"kid": known["kid"]})
    yield jwt.encode(claims, key, algorithm="RS256", headers={"kid": "another"})
    yield jwt.encode(claims, "a" * 64, algorithm="HS256", headers={"kid": known["kid"]})
    yield "not.a.token"
    yield "prowess_AAAA_BBBB"
    yield token[:-8]


def test_what_the_provider_did_not_sign_is_refused(behind: Behind) -> None:
    token = behind.token("ada")
    for one in forged(token, behind):
        status, said = behind.knock(one)
        assert status == 401 and 'error="invalid_token"' in said, one
    assert behind.knock(token)[0] == 400


@pytest.mark.anyio
async def test_a_token_that_has_run_out_or_is_not_yet_valid_is_refused() -> None:
    """Signed by the right key, and judged by the clock."""
    with hostile_provider() as provider:
        resource = "https://gateway.example/mcp"
        config = parse(section(provider.issuer, resource)).gateway.authorization
        assert config is not None
        tokens = AccessTokens(config)
        now = int(time.time())
        good = {"iss": provider.issuer, "aud": [resource, "another"], "exp": now + 60, "sub": "ada"}
        for change, taken in (
            ({}, True),
            ({"exp": now - 60}, False),
            ({"nbf": now + 300}, False),
            ({"iss": "https://evil.example"}, False),
            ({"aud": "another"}, False),
            ({"exp": None}, False),
        ):
            claims = {name: value for name, value in {**good, **change}.items() if value is not None}
            assert (await tokens.claims(provider.signed(claims)) is not None) is taken, change


def test_an_agent_is_named_by_a_claim_where_the_configuration_says_so() -> None:
    text = """
[gateway.authorization]
issuer = "https://id.example"
resource = "https://gateway.example/mcp"
claim = "preferred_username"
[[gateway.authorization.agent]]
agent = "night"
claims = { groups = "night", email = "ada@example.com" }
"""
    config = parse(text).gateway.authorization
    assert config is not None
    tokens = AccessTokens(config)

    def agent(**claims: Any) -> str:
        found = tokens.caller(claims)
        return found.agent if found else ""

    assert agent(preferred_username="ada") == "ada"
    assert agent(preferred_username="ada", groups=["day", "night"], email="ada@example.com") == "night"
    assert agent(preferred_username="ada", groups=["night"], email="eve@example.com") == "ada"
    assert agent(groups=["night"]) == agent(preferred_username=["ada"]) == ""


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (('issuer = "https://id.example"', 'issuer = "http://id.example"'), "issuer is no https address"),
        (('claim = "sub"', ""), "no token stands for any agent"),
    ],
)
def test_a_provider_that_could_let_anybody_in_is_an_error(change: tuple[str, str], what: str) -> None:
    text = """
[gateway.authorization]
issuer = "https://id.example"
resource = "https://gateway.example/mcp"
claim = "sub"
"""
    config = parse(text.replace(*change)).gateway.authorization
    assert config is not None
    with pytest.raises(ConfigError, match=what):
        AccessTokens(config)
