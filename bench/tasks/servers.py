"""The twelve servers of the tasks: real ones where they install, stand-ins where they want an account.

    npm install --prefix DIR/node @modelcontextprotocol/server-filesystem \\
        @modelcontextprotocol/server-memory @playwright/mcp
    python -m venv DIR/venv; DIR/venv/bin/pip install mcp-server-git mcp-server-time mcp-server-fetch
    python -m venv DIR/sql; DIR/sql/bin/pip install "mcp<1.20" "pydantic<2.12" mcp-server-sqlite
"""

import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.support.chromium import chromium

STAND_INS = ("mail", "calendar", "tickets", "chat", "monitoring")
ROOT = Path(__file__).parents[2]
PAGE = b"<html><head><title>Tea</title></head><body><h1>Tea</h1><p>Green, black and white.</p></body></html>"


@dataclass(frozen=True, slots=True)
class Server:
    """How one is started."""

    command: str
    args: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)


def servers(installed: Path, folder: Path) -> dict[str, Server]:
    """By name, all twelve.

    installed: where they were installed.
    folder: where they work; `prepare` made it.
    """
    node, venv = installed / "node" / "node_modules" / ".bin", installed / "venv" / "bin"
    browser = ("--headless", "--isolated", "--no-sandbox", "--executable-path", chromium())
    memory = {"MEMORY_FILE_PATH": str(folder.parent / "memory.jsonl")}
    real = {
        "files": Server(str(node / "mcp-server-filesystem"), (str(folder),)),
        "git": Server(str(venv / "mcp-server-git"), ("--repository", str(folder))),
        "memory": Server(str(node / "mcp-server-memory"), (), memory),
        "time": Server(str(venv / "mcp-server-time"), ("--local-timezone", "Europe/Berlin")),
        "fetch": Server(str(venv / "mcp-server-fetch"), ("--ignore-robots-txt",)),
        "database": Server(
            str(installed / "sql/bin/mcp-server-sqlite"), ("--db-path", str(folder.parent / "shop.db"))
        ),
        "browser": Server(str(node / "playwright-mcp"), (*browser, "--output-dir", str(folder))),
    }
    script = ("-m", "bench.tasks.stand_in")
    return real | {
        name: Server(sys.executable, (*script, name), {"PYTHONPATH": str(ROOT)}) for name in STAND_INS
    }


def prepare(folder: Path) -> None:
    """A folder with notes, a repository with a change, and a database of customers."""
    folder.mkdir(parents=True)
    (folder / "meeting.md").write_text("# Meeting\nWe agreed on Friday.\n")
    (folder / "todo.txt").write_text("tea\n")
    git = ("git", "-C", str(folder), "-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "Begin")):
        subprocess.run([*git, *arguments], check=True)
    for key, value in (("user.name", "Ada"), ("user.email", "ada@example.org")):
        subprocess.run([*git, "config", key, value], check=True)
    (folder / "todo.txt").write_text("tea\nmilk\n")
    with sqlite3.connect(folder.parent / "shop.db") as database:
        database.execute("CREATE TABLE customers (id INTEGER, name TEXT)")
        database.execute("CREATE TABLE orders (id INTEGER, customer INTEGER, total REAL)")


def write_config(folder: Path, started: dict[str, Server], **discovery: int) -> Path:
    """A prowess.toml with all of them behind it."""
    (folder / "policy.yaml").write_text(
        "profiles:\n  owner:\n    agents: [default]\n    additional_tools: ['*']\n"
    )
    lines = ['store = "sqlite:store.db"', "[policy]", 'files = ["policy.yaml"]']
    for name, server in started.items():
        lines += ["[[source]]", 'type = "mcp"', f'name = "{name}"', 'trust = "full"']
        lines += [f"command = {json.dumps(server.command)}", f"args = {json.dumps(list(server.args))}"]
        pairs = ", ".join(f"{key} = {json.dumps(value)}" for key, value in server.env.items())
        lines += [f"env = {{ {pairs} }}"] if pairs else []
    file = folder / "prowess.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        """Nothing: what is fetched is counted elsewhere."""


@contextmanager
def site() -> Iterator[str]:
    """The address of a page on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/tea.html"
    finally:
        server.shutdown()
        server.server_close()
