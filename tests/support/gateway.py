"""A gateway over real servers for tests, and clients that talk to it."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp_types import CallToolResult
from pydantic import FileUrl

from prowess.calling.caller import Caller
from prowess.calling.mcp.upstreams import Upstreams
from prowess.config import CallsConfig, EvolutionConfig, GatewayConfig, LearningConfig
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.gateway.gateway import Gateway
from prowess.gateway.server import build
from prowess.sources.mcp.source import McpSource
from prowess.sources.source import Source
from prowess.store.opening import open_database
from prowess.testing import word_embedder
from prowess.types import JournalEntry, Trust
from tests.support.places import SERVERS as SERVERS
from tests.support.ports import free_port as free_port

OWNER = """
profiles:
  owner:
    agents: [default]
    additional_tools: ["*"]
"""


def workshop(way: str = "", name: str = "shop", **more: Any) -> McpSource:
    return McpSource(
        name=name, command=sys.executable, args=("-S", str(SERVERS / "workshop.py"), way), **more
    )


def shelf(folder: Path, name: str, **offered: Any) -> McpSource:
    """A server that offers this; `put` changes it."""
    put(folder, name, **offered)
    args = ("-S", str(SERVERS / "shelf.py"), str(folder / f"{name}.json"))
    return McpSource(name=name, command=sys.executable, args=args)


def put(folder: Path, name: str, **offered: Any) -> None:
    (folder / f"{name}.json").write_text(json.dumps({"name": name, **offered}))


def library() -> McpSource:
    return McpSource(name="library", command=sys.executable, args=(str(SERVERS / "library.py"),))


@dataclass
class World:
    """A gateway that runs, and the engine in it."""

    gateway: Gateway
    engine: Engine

    @asynccontextmanager
    async def client(self, agent: str = "default", mode: str = "auto", **more: Any) -> AsyncIterator[Client]:
        trusted = self.gateway.config.approvals == "client"
        server = build(self.gateway, lambda context: Caller(agent), may_answer=trusted)
        async with Client(server, mode=mode, cache=None, **more) as client:
            yield client

    def journal(self, type: str, agent: str = "default") -> tuple[JournalEntry, ...]:
        return self.engine.journal.latest(1000, agent, type)


def make_engine(
    folder: Path,
    sources: Sequence[Source],
    policy: str,
    trust: Trust = "full",
    embedder: Any = word_embedder,
    store: str = "",
    patience: float = 30.0,
    calls: CallsConfig = CallsConfig(),  # noqa: B008 - frozen
    environment: Mapping[str, str] | None = None,
    learning: LearningConfig = LearningConfig(),  # noqa: B008 - frozen
    evolution: EvolutionConfig = EvolutionConfig(),  # noqa: B008 - frozen
    in_memory: int = 100_000,
) -> Engine:
    file = folder / "policy.yaml"
    file.write_text(policy)
    trusted = {source.name: trust for source in sources}
    environment = {"SHOP_KEY": "sesame-open-1234"} if environment is None else environment
    options = EngineOptions(
        policy_files=(file,), embedder=embedder, trust=trusted, calls=calls, learning=learning,
        evolution=evolution, in_memory=in_memory,
    )  # fmt: skip
    database = open_database(store or f"sqlite:{folder / 'store.db'}", folder, patience)
    return Engine(database, sources, lambda: datetime.now(UTC), environment, options)


@asynccontextmanager
async def world(
    folder: Path,
    *sources: Source,
    policy: str = OWNER,
    wait: bool = True,
    trust: Trust = "full",
    embedder: Any = word_embedder,
    store: str = "",
    patience: float = 30.0,
    environment: Mapping[str, str] | None = None,
    learning: LearningConfig = LearningConfig(),  # noqa: B008 - frozen
    evolution: EvolutionConfig = EvolutionConfig(),  # noqa: B008 - frozen
    in_memory: int = 100_000,
    **config: Any,
) -> AsyncIterator[World]:
    of_calls = set(CallsConfig.__struct_fields__)
    limits = CallsConfig(**{key: value for key, value in config.items() if key in of_calls})
    # These worlds are small and stand for large ones: what is found there is found by searching.
    config = {"tools": "pinned", **config}
    settings = GatewayConfig(**{key: value for key, value in config.items() if key not in of_calls})
    upstreams = Upstreams(sources, limits)
    environment = {"SHOP_KEY": "sesame-open-1234"} if environment is None else environment
    engine = make_engine(
        folder, upstreams.sources, policy, trust, embedder, store, patience, limits, environment, learning,
        evolution, in_memory,
    )  # fmt: skip
    try:
        gateway = Gateway(engine, upstreams, environment, settings)
        async with gateway.running():
            if wait:
                await gateway.synced(60)
            yield World(gateway, engine)
    finally:
        engine.close()


async def call(client: Client, id: str, with_effects: bool = False, **arguments: Any) -> CallToolResult:
    tool = "call_with_effects" if with_effects else "call_read_only"
    return await client.call_tool(tool, {"id": id, "arguments": arguments})


async def ask(client: Client, tool: str, **arguments: Any) -> Any:
    """What one of the meta-tools says, as data."""
    return json.loads(text_of(await client.call_tool(tool, arguments)))


def text_of(result: CallToolResult) -> str:
    return "\n".join(getattr(block, "text", "") for block in result.content)


async def until(condition: Any, seconds: float = 20) -> None:
    with anyio.fail_after(seconds):
        while not await condition():
            await anyio.sleep(0.02)


def write_config(folder: Path, policy: str, *sources: McpSource, gateway: str = "") -> Path:
    """A prowess.toml for a gateway in a process of its own; `gateway` is what [gateway] says."""
    (folder / "policy.yaml").write_text(policy)
    lines = ['store = "sqlite:store.db"', "[policy]", 'files = ["policy.yaml"]']
    lines += ["[gateway]", 'tools = "pinned"', gateway]
    for source in sources:
        lines += ["[[source]]", 'type = "mcp"', f'name = "{source.name}"', 'trust = "full"']
        lines += [f"command = {json.dumps(source.command)}", f"args = {json.dumps(list(source.args))}"]
    file = folder / "prowess.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


def served(file: Path, *options: str) -> list[str]:
    """The command line that a client starts."""
    return [sys.executable, str(SERVERS / "gateway.py"), "--config", str(file), "serve", "mcp", *options]


@asynccontextmanager
async def listening_server(script: str, port: int, *more: str) -> AsyncIterator[None]:
    """One of our servers on a port."""
    process = subprocess.Popen(
        [sys.executable, str(SERVERS / script), str(port), *more],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    async def answers() -> bool:
        with suppress(OSError):
            async with await anyio.connect_tcp("127.0.0.1", port):
                return True
        return False

    try:
        await until(answers, 20)
        yield
    finally:
        process.kill()
        process.wait(10)


class Person:
    """Somebody at a client with a name, a model and a folder; remembers what they were asked."""

    def __init__(self, name: str = "Ada", action: str = "accept") -> None:
        self.name = name
        self.action = action
        self.asked: list[str] = []
        self.came = anyio.Event()
        self.may_answer = anyio.Event()
        self.may_answer.set()

    async def elicit(self, context: ClientRequestContext, params: types.ElicitRequestParams) -> Any:
        self.asked.append(params.message)
        self.came.set()
        await self.may_answer.wait()
        content = {"name": self.name} if self.action == "accept" else None
        return types.ElicitResult(action=self.action, content=content)  # type: ignore[arg-type]

    async def sample(self, context: ClientRequestContext, params: types.CreateMessageRequestParams) -> Any:
        said = types.TextContent(type="text", text="four")
        return types.CreateMessageResult(role="assistant", content=said, model="abacus")

    async def roots(self, context: ClientRequestContext) -> Any:
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl("file:///home/ada"))])

    @property
    def abilities(self) -> dict[str, Any]:
        return {
            "elicitation_callback": self.elicit,
            "sampling_callback": self.sample,
            "list_roots_callback": self.roots,
        }
