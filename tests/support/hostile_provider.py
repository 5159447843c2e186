"""An identity provider that does what none should, and what prowess.toml says of one."""

import json
import threading
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.support.ports import LOOKS

API = "https://api.example/prowess"
SECTION = """
[web.oidc]
issuer = "{issuer}"
client_id = "prowess"
secret = "OIDC_SECRET"
url = "{address}"
name = "Example ID"
audience = "{api}"
"""
GROUP = """
[[web.oidc.group]]
group = "{group}"
role = "{role}"
workspace = "{workspace}"
"""


def section(issuer: str, address: str, *groups: tuple[str, str, str]) -> str:
    """[web.oidc], with what each group may do: its name, role and workspace."""
    given = [GROUP.format(group=name, role=role, workspace=where) for name, role, where in groups]
    return SECTION.format(issuer=issuer, address=address, api=API) + "".join(given)


@dataclass
class HostileProvider:
    """Signs in whoever comes, and says what a test wants it to."""

    issuer: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    """What the ID token says otherwise; None leaves a claim out."""
    token: Any = None
    """Instead of the ID token: made of the claims by this."""
    userinfo: dict[str, Any] = field(default_factory=lambda: {"sub": "1"})
    key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))
    kid: str = "first"
    asked: dict[str, str] = field(default_factory=dict)
    """What the browser came with."""

    def id_token(self) -> str:
        now = int(time.time())
        good = {"iss": self.issuer, "aud": "prowess", "sub": "1", "email": "ada@example.com", "iat": now,
                "exp": now + 60, "nonce": self.asked.get("nonce"), "groups": ["staff"]}  # fmt: skip
        claims = {name: value for name, value in {**good, **self.claims}.items() if value is not None}
        return str(self.token(claims) if self.token else self.signed(claims))

    def signed(self, claims: dict[str, Any]) -> str:
        return jwt.encode(claims, self.key, algorithm="RS256", headers={"kid": self.kid})

    def answer(self, path: str, query: str) -> tuple[int, Any]:
        base = self.issuer
        if path == "/.well-known/openid-configuration":
            named = ("authorization", "token", "userinfo", "end_session")
            ends = {f"{name}_endpoint": f"{base}/{name}" for name in named}
            return 200, {"issuer": base, "jwks_uri": f"{base}/jwks", **ends}
        if path == "/jwks":
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
            return 200, {"keys": [{**public, "kid": self.kid, "use": "sig"}]}
        if path == "/authorization":
            self.asked = {name: values[0] for name, values in parse_qs(query).items()}
            return 303, f"{self.asked['redirect_uri']}?code=once&state={self.asked['state']}"
        if path == "/token":
            return 200, {"access_token": "opaque", "token_type": "Bearer", "id_token": self.id_token()}
        return (200, self.userinfo) if path == "/userinfo" else (404, {})


def unsigned(claims: dict[str, Any]) -> str:
    parts = [{"alg": "none", "kid": "first"}, claims]
    return ".".join(urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


@contextmanager
def hostile_provider() -> Iterator[HostileProvider]:
    provider = HostileProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            self.rfile.read(int(self.headers.get("content-length", 0)))
            status, said = provider.answer(parts.path, parts.query)
            body = b"" if status == 303 else json.dumps(said).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.send_header("content-type", "application/json")
            if status == 303:
                self.send_header("location", said)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """It says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(LOOKS,))
    thread.start()
    provider.issuer = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join(10)
        server.server_close()
