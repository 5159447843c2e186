"""prowess as a server of prowess: left out by import, refused by whoever would start or call it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

import pytest

from prowess.sources.imports.importers import read_config
from prowess.sources.mcp.source import McpSource
from tests.support.gateway import OWNER, free_port, make_engine, served, workshop, write_config
from tests.support.wire import Pipes, eventually, listens

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

SPELLINGS = {
    "by name": ["prowess", "serve", "mcp"],
    "by path": ["/opt/venv/bin/prowess", "--config", "/x/prowess.toml", "serve", "mcp"],
    "as a module": ["/usr/bin/python3", "-m", "prowess", "serve", "mcp"],
    "by its file": ["python", "/opt/lib/prowess/__main__.py", "serve", "mcp"],
    "by uvx": ["uvx", "prowess[gateway]@latest", "serve", "mcp"],
    "by uvx from elsewhere": ["uvx", "--from", "git+https://example.com/x.git", "prowess", "serve", "mcp"],
    "by uv": ["uv", "run", "--directory", "/x", "prowess", "serve", "mcp"],
    "by pipx": ["pipx", "run", "prowess==0.1.0", "serve", "mcp"],
    "by npx with env": ["env", "A=b", "npx", "-y", "prowess", "serve", "mcp"],
    "by a shell": ["sh", "-c", "cd /x && exec prowess serve mcp"],
    "by a shell with a path": ["/bin/bash", "-lc", "/opt/bin/prowess --agent a serve mcp"],
    "on Windows": ["cmd", "/c", "C:\\Tools\\prowess.exe serve mcp"],
    "by code": ["python", "-c", "from prowess.cli.main import main; main()", "serve", "mcp"],
}
OTHERS = {
    "a folder of that name": ["npx", "server-filesystem", "/home/me/prowess"],
    "a word of that name": ["notes", "--about", "prowess"],
    "another program": ["prowess-notes", "serve"],
}


def imported(folder: Path, *lines: list[str], **more: object) -> tuple[list[str], list[str]]:
    """The names that are taken over, and what is said of the others."""
    tables = {f"s{number}": {"command": line[0], "args": line[1:]} for number, line in enumerate(lines)}
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": tables | more}))
    found = read_config(str(file))
    return [server.name for server in found.servers], [error.what for error in found.skipped]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_import_leaves_prowess_itself_out_however_it_is_spelt(tmp_path: Path, spelling: str) -> None:
    assert imported(tmp_path, SPELLINGS[spelling], ["notes"]) == (["s1"], ["is prowess itself"])


def test_import_knows_itself_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "prowess").write_text("#!/bin/sh\n")
    link = tmp_path / "gateway"
    link.symlink_to(tmp_path / "bin" / "prowess")
    assert imported(tmp_path, [str(link), "serve", "mcp"]) == ([], ["is prowess itself"])


@pytest.mark.parametrize("other", OTHERS)
def test_import_takes_over_what_only_sounds_like_it(tmp_path: Path, other: str) -> None:
    assert imported(tmp_path, OTHERS[other]) == (["s0"], [])


@contextmanager
def listening(folder: Path) -> Iterator[str]:
    """A gateway over HTTP in a process of its own."""
    port = free_port()
    command = served(write_config(folder, OWNER, workshop()), "--http", f"127.0.0.1:{port}")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            eventually(lambda: listens(port))
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def test_a_gateway_that_listens_is_known_by_import_and_refused_by_sync(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.mkdir()
    outer.mkdir()
    with listening(inner) as url:
        assert imported(outer, ["notes"], web={"url": url}) == (["s0"], ["is prowess itself"])
        with make_engine(outer, [McpSource(name="chain", url=url)], OWNER) as engine:
            assert [problem.what for problem in engine.sync().problems] == [REFUSED]


REFUSED = "a gateway cannot stand behind another gateway"


@pytest.mark.parametrize("wrapped", [[], ["env", "-u", "PROWESS_GATEWAY"]])
def test_a_gateway_behind_a_gateway_is_refused_and_doctor_says_so(
    tmp_path: Path, store_url: str, wrapped: list[str]
) -> None:
    command, *args = [*wrapped, *served(write_config(tmp_path, OWNER, workshop()))]
    chain = McpSource(name="chain", command=command, args=tuple(args))
    with make_engine(tmp_path, [chain], OWNER, store=store_url) as engine:
        report = engine.sync()
        assert report.total == 0
        (problem,) = engine.diagnose()
        assert problem.what == REFUSED
        assert problem.remedy == "remove this source, and add the servers behind it instead"


def test_a_gateway_that_is_its_own_server_starts_no_other_without_end(tmp_path: Path) -> None:
    itself = tmp_path / "itself"
    serve = f"{quote(sys.executable)} -m prowess --config {tmp_path}/prowess.toml serve mcp"
    script = f"echo $$ >> {itself}; exec {serve}"
    file = write_config(
        tmp_path, OWNER, McpSource(name="chain", command="sh", args=("-c", script)), workshop()
    )
    with Pipes(served(file)) as here:
        here.begin()
        assert here.text(here.call("tool:shop/echo", {"text": "here"}), 30) == "here"
        eventually(lambda: itself.exists())
        given = {"name": "list_capabilities", "arguments": {}}
        said = here.text(here.ask("tools/call", **given))
        assert "tool:chain/" not in said
    # Each try of the first gateway starts one, and that one starts none.
    assert len(itself.read_text().split()) <= 3
