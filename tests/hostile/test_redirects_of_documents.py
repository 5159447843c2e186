"""Whoever serves a document cannot send prowess to an address of their choice."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.sources.openapi.source import OpenApiSource
from prowess.sources.remote_cards import RemoteCardSource
from prowess.sources.source import Source
from prowess.store.opening import open_database
from prowess.testing import word_embedder
from tests.support.clock import SteppingClock
from tests.support.ports import LOOKS

CARD = """---
id: inside
description: From inside
triggers:
  keywords: [inside]
---
# Inside

What stands inside.
"""
API = json.dumps(
    {
        "openapi": "3.0.0",
        "info": {"title": "Inside", "version": "1"},
        "servers": [{"url": "https://api.example"}],
        "paths": {"/inside": {"get": {"operationId": "inside", "summary": "INSIDE", "responses": {}}}},
    }
)


class Site:
    """A web server that redirects /to/... as it is told, and counts who came for /document."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.target = ""
        self.document = ""
        self.url = ""

    @contextmanager
    def open(self) -> Iterator["Site"]:
        site = self

        class Page(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                redirected = urlsplit(self.path).path == "/start" and site.target
                self.send_response(302 if redirected else 200)
                if redirected:
                    self.send_header("Location", site.target)
                body = b"" if redirected else site.document.encode()
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        thread = threading.Thread(target=server.serve_forever, args=(LOOKS,), daemon=True)
        thread.start()
        self.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()


@pytest.fixture
def stranger() -> Iterator[Site]:
    with Site().open() as site:
        yield site


@pytest.fixture
def inside() -> Iterator[Site]:
    with Site().open() as site:
        yield site


def source(kind: str, url: str) -> Source:
    if kind == "openapi":
        return OpenApiSource(name="web", location=url, timeout=5)
    return RemoteCardSource(name="web", url=url, digest=hashlib.sha256(CARD.encode()).hexdigest(), timeout=5)


def synced(store_url: str, place: Path, kind: str, url: str) -> tuple[list[str], str]:
    """What a sync takes in from a URL, and what it says of it."""
    options = EngineOptions(embedder=word_embedder)
    engine = Engine(open_database(store_url, place), (source(kind, url),), SteppingClock(), {}, options)
    try:
        engine.sync()
        ids = [one.id for one in engine.catalogue.list()]
        return ids, " ".join(f"{p.what} {p.remedy}" for p in engine.diagnose() if p.source == "web")
    finally:
        engine.close()


@pytest.mark.parametrize("kind", ["openapi", "cards"])
def test_a_document_is_not_fetched_from_where_its_host_redirects_to(
    store_url: str, tmp_path: Path, stranger: Site, inside: Site, kind: str
) -> None:
    inside.document = API if kind == "openapi" else CARD
    stranger.target = f"{inside.url.replace('//', '//me:hidden@')}/document?key=hidden"
    ids, told = synced(store_url, tmp_path, kind, f"{stranger.url}/start")
    assert inside.asked == [] and ids == []
    assert "redirected to another host" in told and inside.url in told and "hidden" not in told


@pytest.mark.parametrize("kind", ["openapi", "cards"])
@pytest.mark.parametrize(
    "target",
    [
        "file:///etc/hosts", "ftp://127.0.0.1/x", "data:,x", "gopher://127.0.0.1/x", "//169.254.169.254/x",
        "http://169.254.169.254/x", "http://[::1]:1/", "http://localhost:1/", "https://127.0.0.1:1/",
        "http://127.0.0.1@169.254.169.254/", "http://[",
    ],
)  # fmt: skip
def test_no_redirect_leads_to_a_file_or_to_an_address_inside(
    store_url: str, tmp_path: Path, stranger: Site, kind: str, target: str
) -> None:
    stranger.target = target
    ids, told = synced(store_url, tmp_path, kind, f"{stranger.url}/start")
    assert ids == [] and stranger.asked == ["/start"] and told


@pytest.mark.parametrize("kind", ["openapi", "cards"])
def test_a_redirect_on_the_same_host_is_followed(
    store_url: str, tmp_path: Path, stranger: Site, kind: str
) -> None:
    stranger.document = API if kind == "openapi" else CARD
    stranger.target = "/document"
    ids, _ = synced(store_url, tmp_path, kind, f"{stranger.url}/start")
    assert stranger.asked == ["/start", "/document"] and len(ids) == 1


def test_redirects_in_a_circle_end(store_url: str, tmp_path: Path, stranger: Site) -> None:
    stranger.target = "/start"
    ids, told = synced(store_url, tmp_path, "openapi", f"{stranger.url}/start")
    assert ids == [] and len(stranger.asked) < 20 and told
