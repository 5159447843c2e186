"""Applications of others use the gateway: what each sees of it, and whether its model can find and call.

    python -m bench.clients

They come from npm, into a folder that is removed again; the models of Claude Code, Codex and Gemini are
scripts on this machine. The SDKs and FastMCP's client are in tests/gateway/test_clients.py.
"""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import prowess
from bench.scripted_models import ScriptedModel, offered, serving
from examples.claude_api import OFFLINE, scripted
from tests.support.gateway import OWNER, library, served, write_config
from tests.support.npm import node, npm

RESULTS = Path(__file__).parent / "results" / "clients.md"
PACKAGES = {
    "@anthropic-ai/claude-code": "2.1.328",
    "@openai/codex": "0.169.0",
    "@google/gemini-cli": "0.61.0",
    "@modelcontextprotocol/inspector": "2.12.0",
}
PREFIX = "mcp__prowess__"
BOOK: dict[str, Any] = {"id": "tool:library/find_book", "arguments": {"title": "Emma", "year": 1815}}
QUESTION = "Of which year is Emma?"
STEPS: list[tuple[str, dict[str, Any]]] = [
    ("discover_capabilities", {"query": "find a book by its title"}),
    ("call_read_only", BOOK),
]
SECONDS = 240
CODEX = """
model = "scripted"
model_provider = "loopback"
approval_policy = "never"
[model_providers.loopback]
name = "loopback"
base_url = "{url}/v1"
wire_api = "responses"
[mcp_servers.prowess]
command = {command}
args = {args}
required = true
startup_timeout_sec = 60
"""
"""Without `required` it asks its model before a server that takes more than a moment has listed its tools."""


def configured(folder: Path, entry: dict[str, Any]) -> Path:
    """The file in which a client has its servers."""
    config = folder / "servers.json"
    config.write_text(json.dumps({"mcpServers": {"prowess": entry}}))
    return config


def claude_code(modules: Path, folder: Path, entry: dict[str, Any]) -> tuple[list[str], str]:
    """The gateway's tools that its first request has, and what its model was answered."""
    config = configured(folder, entry)
    steps = [(f"{PREFIX}{name}", arguments) for name, arguments in STEPS]
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
            QUESTION,
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


def codex(modules: Path, folder: Path, entry: dict[str, Any]) -> tuple[list[str], str]:
    home = folder / "codex"
    home.mkdir()
    written = {"command": json.dumps(entry["command"]), "args": json.dumps(entry["args"])}
    options = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]

    def command(url: str) -> list[str]:
        (home / "config.toml").write_text(CODEX.format(url=url, **written))
        return [str(modules / ".bin" / "codex"), "exec", *options, QUESTION]

    return by_script(command, folder, lambda url: {"CODEX_HOME": str(home)})


def gemini(modules: Path, folder: Path, entry: dict[str, Any]) -> tuple[list[str], str]:
    settings = {
        "mcpServers": {"prowess": {**entry, "trust": True}},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
    }
    (folder / ".gemini").mkdir()
    (folder / ".gemini" / "settings.json").write_text(json.dumps(settings))
    command = [str(modules / ".bin" / "gemini"), "-m", "gemini-2.5-flash", "--approval-mode", "yolo"]
    own = {"GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return by_script(
        lambda url: [*command, "-p", QUESTION], folder, lambda url: {**own, "GOOGLE_GEMINI_BASE_URL": url}
    )


def by_script(
    command: Callable[[str], list[str]], folder: Path, own: Callable[[str], dict[str, str]]
) -> tuple[list[str], str]:
    """What an application has and is answered whose model is at the address that it is told."""
    model = ScriptedModel(STEPS, "Emma is of 1815.")
    with serving(model) as url:
        base = {"PATH": f"{Path(node()).parent}:/usr/bin:/bin", "HOME": str(folder), "NO_PROXY": "127.0.0.1"}
        done = subprocess.run(
            command(url), env={**base, **own(url)}, cwd=folder, capture_output=True, text=True,
            timeout=SECONDS, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    if not model.requests:
        return [], done.stderr[-300:]
    ours = [tool for tool in offered(model.requests[0]) if "prowess" in f"{tool.namespace}{tool.name}"]
    answered = "Emma (1815)" in json.dumps(model.requests[-1])
    return [tool.name.rpartition("prowess_")[2] for tool in ours], "Emma (1815)" if answered else done.stdout[
        -300:
    ]


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
        with prowess.open(config=str(file)) as engine:
            engine.sync()
        program, *arguments = served(file)
        entry: dict[str, Any] = {"command": program, "args": arguments}
        modules = folder / "node_modules"
        loaded = {**entry, "alwaysLoad": True}
        uses: tuple[tuple[str, Callable[[], tuple[list[str], str]]], ...] = (
            ("Claude Code, no hint in its entry", partial(claude_code, modules, folder, entry)),
            ("Claude Code, as prowess connect writes it", partial(claude_code, modules, folder, loaded)),
            ("Codex", partial(codex, modules, folder, entry)),
            ("Gemini CLI", partial(gemini, modules, folder, entry)),
            ("MCP inspector, command line", partial(inspector, modules, folder, entry)),
        )
        for name, use in uses:
            began = time.monotonic()
            tools, answer = use()
            took = time.monotonic() - began
            rows.append(f"| {name} | {', '.join(tools) or 'none'} | {answer} | {took:.0f} |")
            print(rows[-1], flush=True)
    versions = ", ".join(f"{name} {version}" for name, version in PACKAGES.items())
    head = "| client | tools that it has at once | answer to the call | seconds |\n|---|---|---|---|\n"
    RESULTS.write_text(
        f"# Applications that use the gateway\n\n{versions}. `python -m bench.clients`\n\n{head}"
        + "\n".join(rows)
        + "\n"
    )


if __name__ == "__main__":
    main()
