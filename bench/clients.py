"""Applications of others use the gateway: what each sees of it, and whether its model can find and call.

    python -m bench.clients

Claude Code and the inspector come from npm, into a folder that is removed again; the model of Claude Code is
a script on this machine. The SDKs and FastMCP's client are in tests/gateway/test_clients.py.
"""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from examples.claude_api import OFFLINE, scripted
from tests.support.gateway import OWNER, library, served, write_config
from tests.support.npm import node, npm

RESULTS = Path(__file__).parent / "results" / "clients.md"
PACKAGES = {"@anthropic-ai/claude-code": "2.1.328", "@modelcontextprotocol/inspector": "2.12.0"}
PREFIX = "mcp__prowess__"
BOOK: dict[str, Any] = {"id": "tool:library/find_book", "arguments": {"title": "Emma", "year": 1815}}
SECONDS = 240


def configured(folder: Path, entry: dict[str, Any]) -> Path:
    """The file in which a client has its servers."""
    config = folder / "servers.json"
    config.write_text(json.dumps({"mcpServers": {"prowess": entry}}))
    return config


def claude_code(modules: Path, folder: Path, entry: dict[str, Any]) -> tuple[list[str], str]:
    """The gateway's tools that its first request has, and what its model was answered."""
    config = configured(folder, entry)
    steps: list[tuple[str, dict[str, Any]]] = [
        (f"{PREFIX}discover_capabilities", {"query": "find a book by its title"}),
        (f"{PREFIX}call_read_only", BOOK),
    ]
    with scripted(steps, "Emma is of 1815.") as (url, requests):
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            **OFFLINE,
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        }
        command = [
            str(modules / ".bin" / "claude"),
            "-p",
            "Of which year is Emma?",
            "--mcp-config",
            str(config),
        ]
        options = ["--strict-mcp-config", "--allowedTools", f"{PREFIX}*", *(name for name, _ in steps)]
        done = subprocess.run(
            [*command, *options], env=environment, cwd=folder, capture_output=True, text=True,
            timeout=SECONDS, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    with_tools = [request for request in requests if request.get("tools")]
    names = [tool["name"] for tool in with_tools[0]["tools"]] if with_tools else []
    said = json.dumps(with_tools[-1]["messages"]) if with_tools else done.stderr
    answer = "Emma (1815)" if "Emma (1815)" in said else said[-300:]
    return [name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX)], answer


def inspector(modules: Path, folder: Path, entry: dict[str, Any]) -> tuple[list[str], str]:
    """The tools that the inspector's command line lists, and what a call answers."""
    config = str(configured(folder, entry))
    command = [str(modules / ".bin" / "mcp-inspector"), "--cli", "--config", config, "--server", "prowess"]
    environment = {"PATH": f"{Path(node()).parent}:/usr/bin:/bin", "HOME": str(folder)}

    def asked(*more: str) -> Any:
        done = subprocess.run(
            [*command, *more], env=environment, capture_output=True, text=True, timeout=SECONDS,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        try:
            return json.loads(done.stdout)
        except ValueError:
            return {"tools": [], "content": [{"text": (done.stdout + done.stderr)[-300:]}]}

    given = ["--tool-arg", f"id={BOOK['id']}", f"arguments={json.dumps(BOOK['arguments'])}"]
    listed = asked("--method", "tools/list")
    called = asked("--method", "tools/call", "--tool-name", "call_read_only", *given)
    return [tool["name"] for tool in listed["tools"]], str(called["content"][0].get("text"))


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        wanted = [f"{name}@{version}" for name, version in PACKAGES.items()]
        npm("install", "--no-audit", "--no-fund", "--silent", "--prefix", place, *wanted)
        file = write_config(folder, OWNER, library())
        program, *arguments = served(file)
        entry: dict[str, Any] = {"command": program, "args": arguments}
        modules = folder / "node_modules"
        loaded = {**entry, "alwaysLoad": True}
        uses: tuple[tuple[str, Callable[[], tuple[list[str], str]]], ...] = (
            ("Claude Code, no hint in its entry", partial(claude_code, modules, folder, entry)),
            ("Claude Code, as prowess connect writes it", partial(claude_code, modules, folder, loaded)),
            ("MCP inspector, command line", partial(inspector, modules, folder, entry)),
        )
        for name, use in uses:
            began = time.monotonic()
            tools, answer = use()
            took = time.monotonic() - began
            rows.append(f"| {name} | {', '.join(tools) or 'none'} | {answer} | {took:.0f} |")
            print(rows[-1], flush=True)
    versions = ", ".join(f"{name} {version}" for name, version in PACKAGES.items())
    head = (
        "| client | tools that its model sees at once | answer to the call | seconds |\n|---|---|---|---|\n"
    )
    RESULTS.write_text(
        f"# Applications that use the gateway\n\n{versions}. `python -m bench.clients`\n\n{head}"
        + "\n".join(rows)
        + "\n"
    )


if __name__ == "__main__":
    main()
