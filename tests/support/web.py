"""What tests of the web face share: an engine with something of everything, and clients that are somebody."""

from dataclasses import replace
from pathlib import Path

from starlette.applications import Starlette
from starlette.testclient import TestClient

from prowess.config import LearningConfig
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.engine.project_file import ProjectFile
from prowess.journal import Clock
from prowess.listen import LOOPBACK
from prowess.opening import now
from prowess.operations.person import Role
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Detail, Outcome, Provider
from prowess.web.app import create_app
from prowess.web.protection import RequestLimits
from prowess.web.stream import Streams

HERE = "http://127.0.0.1:8800"
POLICY = """
profiles:
  owner:
    agents: [default, bob]
    additional_tools: ["*"]
  careful:
    agents: [ada]
    additional_tools: ["tool:read", "tool:mail/send"]
    ask: ["tool:mail/send"]
"""


def everything_source() -> StaticSource:
    return StaticSource(
        capabilities=[
            capability("tool:read", "Read a file from the disk", provider="files", tags=("file", "disk")),
            capability("tool:mail/send", "Send a mail to somebody", provider="mail", has_side_effects=True),
            capability("tool:zebra-vault", "Open the vault of zebras", provider="mail"),
            capability("skill:summary", "Summarise a long text", required_tools=("read",)),
            capability("tool:<script>", "Is called like a tag <script>alert(1)</script>"),
        ],
        details={"tool:read": Detail(input_schema={"type": "object", "properties": {}})},
        providers=[
            Provider(name="files", source="static"),
            Provider(name="mail", source="static", faculties=("Mail",)),
        ],
    )


def world(place: Path, url: str = "store.db", clock: Clock = now) -> Engine:
    """An engine with capabilities, agents, a past, something held back and somebody to be asked."""
    file = place / "policy.yaml"
    file.write_text(POLICY)
    options = EngineOptions(
        policy_files=(file,), embedder=word_embedder, learning=LearningConfig(mode="accumulate"),
        trust={"static": "pinned"},
    )  # fmt: skip
    source = everything_source()
    engine = Engine(open_database(url, place), (source,), clock, {}, options)
    engine.sync()
    source.capabilities[3] = replace(source.capabilities[3], description="Now it says something else")
    engine.sync()
    return engine


def with_a_past(engine: Engine) -> None:
    offer = engine.offer("read a file from the disk")
    engine.record(Outcome(offer=offer.id, capability="tool:read", ok=True))
    engine.evolution.evaluate("default")
    engine.learning.learn()


def with_a_project(engine: Engine, folder: Path) -> None:
    """A prowess.toml that may be written, and was; what it names stays unread."""
    file = folder / "prowess.toml"
    server = '[[source]]\ntype = "mcp"\nname = "files"\ncommand = "true"\n'
    file.write_text(server)
    inner = engine.internals
    project = ProjectFile(file, inner.database, inner.journal, inner.options.ids, lambda: None)
    project.change(project.propose(f"# mine\n{server}", "adds a comment"), "ann")
    inner.project = project


def app_of(engine: Engine, streams: Streams | None = None, rate: int = 0) -> Starlette:
    return create_app(engine, RequestLimits((*LOOPBACK, "testserver"), rate=rate), streams=streams)


def signed_in(app: Starlette, role: Role = "admin", name: str = "ann") -> TestClient:
    """A program with a person's token."""
    token = app.state.people.issue(name, role).text
    return TestClient(app, base_url=HERE, headers={"Authorization": f"Bearer {token}"})


def as_agent(app: Starlette, agent: str) -> TestClient:
    """A program with an agent's own token."""
    token = app.state.engine.tokens.issue(agent).text
    return TestClient(app, base_url=HERE, headers={"Authorization": f"Bearer {token}"})


def browser(app: Starlette, role: Role = "admin", name: str = "ann") -> TestClient:
    """A browser that was signed in by a one-time link."""
    client = TestClient(app, base_url=HERE)
    link = app.state.people.issue(name, role, "link").text
    answer = client.get("/login", params={"link": link}, follow_redirects=False)
    assert answer.status_code == 303
    return client
