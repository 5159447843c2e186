"""A server that wants OAuth, the configuration that names it, and those who log in there."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import httpx2
from anyio import to_thread
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.support.gateway import OWNER, call, free_port, listening_server, served, text_of

# A browser of a person who agrees to everything: it goes wherever it is sent.
BROWSER = f"{quote(sys.executable)} -c 'import sys, urllib.request as u; u.urlopen(sys.argv[1]).read()' %s"


class Vault:
    """A server that wants OAuth, the configuration that names it, and a person's home."""

    def __init__(self, folder: Path, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "BROWSER": BROWSER}
        self.environment["LOUD"] = "1"
        (folder / "policy.yaml").write_text(OWNER)
        self.config = folder / "prowess.toml"
        self.config.write_text(
            'store = "sqlite:store.db"\n[policy]\nfiles = ["policy.yaml"]\n'
            f'[[source]]\ntype = "mcp"\nname = "vault"\nurl = "{self.url}/mcp"\ntrust = "full"\n'
        )
        self.logins = folder / "state" / "prowess" / "logins"
        self.log = folder / "log"

    async def prowess(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [
            sys.executable,
            "-m",
            "tests.support.servers.gateway",
            "--config",
            str(self.config),
            *arguments,
        ]
        return await to_thread.run_sync(
            lambda: subprocess.run(
                command, env=self.environment, capture_output=True, text=True, timeout=40, check=False
            )
        )

    @asynccontextmanager
    async def gateway(self, *options: str) -> AsyncIterator[Client]:
        command, *args = served(self.config, *options)
        # Through a shell, to keep what the gateway logs.
        script = f'exec "$0" "$@" 2>>{quote(str(self.log))}'
        parameters = StdioServerParameters(
            command="sh", args=["-c", script, command, *args], env=self.environment
        )
        async with Client(parameters, cache=None) as client:
            yield client

    def tokens(self) -> dict[str, str]:
        (file,) = self.logins.iterdir()
        found: dict[str, str] = json.loads(file.read_text())["tokens"]
        return found

    async def revoke(self, what: str = "revoke") -> None:
        post = urllib.request.Request(f"{self.url}/{what}", method="POST")
        await to_thread.run_sync(lambda: urllib.request.urlopen(post).close())


@asynccontextmanager
async def vault(folder: Path, seconds: int = 3600) -> AsyncIterator[Vault]:
    port = free_port()
    async with listening_server("vault.py", port, str(seconds)):
        yield Vault(folder, port)


MANY = """
profiles:
  owner:
    agents: [default, ann, bea, cay]
    additional_tools: ["*"]
"""


@dataclass(frozen=True, slots=True)
class Served:
    """`prowess serve` over the vault: the gateway, the dashboard and the API on one port."""

    port: int
    link: str
    tokens: Mapping[str, str]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def connected(self, agent: str) -> AsyncIterator[Client]:
        """A client of the gateway, with this agent's token where it has one."""
        token = self.tokens.get(agent)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with httpx2.AsyncClient(headers=headers, timeout=20) as http:
            transport = streamable_http_client(f"{self.address}/mcp", http_client=http)
            async with Client(transport, cache=None) as client:
                yield client


@asynccontextmanager
async def over_http(here: Vault) -> AsyncIterator[Served]:
    here.config.with_name("policy.yaml").write_text(MANY)
    tokens = {}
    for agent in ("ann", "bea", "cay"):
        added = await here.prowess("agent", "access-token", "add", agent)
        tokens[agent] = added.stdout.strip()
        assert tokens[agent], added.stderr
    async with everything(here, tokens) as house:
        yield house


@asynccontextmanager
async def everything(here: Vault, tokens: Mapping[str, str]) -> AsyncIterator[Served]:
    """`prowess serve`; without a token in use, who comes from this machine is the agent `default`."""
    port = free_port()
    command = [*served(here.config)[:-1], "--port", str(port)]
    with subprocess.Popen(
        command, env=here.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            link = await to_thread.run_sync(process.stdout.readline)
            yield Served(port, link.strip(), tokens)
        finally:
            process.terminate()


async def who_calls(client: Client) -> str:
    return text_of(await call(client, "tool:vault/who", with_effects=True))
