"""Servers that are told of in a file of their own: an entry of the MCP registry, or an MCPB bundle."""

import json
import stat
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from prowess.cli.main import prowess
from tests.support.places import SERVERS

Run = Callable[..., Result]

GITHUB: dict[str, Any] = {
    "name": "io.example/notes",
    "description": "Keeps notes.",
    "version": "1.2.3",
    "packages": [
        {
            "registryType": "mcpb",
            "identifier": "https://example.com/notes.mcpb",
            "transport": {"type": "stdio"},
        },
        {
            "registryType": "npm",
            "identifier": "@example/notes",
            "version": "1.2.3",
            "transport": {"type": "stdio"},
            "runtimeArguments": [{"type": "named", "name": "--no-warnings"}],
            "packageArguments": [
                {"type": "positional", "valueHint": "folder", "isRequired": True},
                {"type": "named", "name": "--level", "default": "info"},
                {"type": "positional", "valueHint": "second_folder"},
            ],
            "environmentVariables": [
                {"name": "NOTES_TOKEN", "isRequired": True, "isSecret": True},
                {"name": "NOTES_REGION", "default": "eu"},
                {"name": "NOTES_KEY", "isSecret": True, "default": "hunter2"},
                {"name": "NOTES_PROXY", "description": "A proxy to go through"},
            ],
        },
        {"registryType": "pypi", "identifier": "notes", "version": "1.2.3", "transport": {"type": "stdio"}},
    ],
    "remotes": [{"type": "sse", "url": "https://example.com/sse"}],
}
REMOTE: dict[str, Any] = {
    "name": "com.example/crm",
    "version": "2",
    "remotes": [
        {
            "type": "streamable-http",
            "url": "https://{tenant}.example.com/mcp",
            "variables": {"tenant": {"isRequired": True}},
            "headers": [
                {
                    "name": "Authorization",
                    "isSecret": True,
                    "value": "Bearer {token}",
                    "variables": {"token": {"isRequired": True, "default": "s3cret-default"}},
                }
            ],
        }
    ],
}
MANIFEST: dict[str, Any] = {
    "manifest_version": "0.3",
    "name": "shelf",
    "version": "1.0.0",
    "server": {
        "type": "python",
        "entry_point": "server/shelf.py",
        "mcp_config": {
            "command": sys.executable,
            "args": [
                "-S",
                "${__dirname}/server/shelf.py",
                "${__dirname}/shelf.json",
                "${user_config.folders}",
            ],
            "env": {
                "SHELF_TOKEN": "${user_config.token}",
                "SHELF_LEVEL": "${user_config.level}",
                "SHELF_PROXY": "${user_config.proxy}",
            },
        },
    },
    "user_config": {
        "token": {"type": "string", "title": "Token", "sensitive": True, "default": "hunter2"},
        "level": {"type": "string", "title": "Level", "default": "info"},
        "proxy": {"type": "string", "title": "Proxy"},
        "folders": {"type": "directory", "multiple": True, "default": ["${HOME}/a", "${DOCUMENTS}"]},
    },
    "prompts": [{"name": "tidy", "text": "Tidy up."}],
}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    for name in ("PROWESS_CONFIG", "PROWESS_STORE", "PROWESS_CAPABILITY_DIRS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SHELF_TOKEN", "x")
    return lambda *words: CliRunner().invoke(prowess, words)


def source(name: str) -> dict[str, Any]:
    found = tomllib.loads(Path("prowess.toml").read_text())["source"]
    one: dict[str, Any] = next(one for one in found if one.get("name") == name)
    return one


def bundled(
    manifest: dict[str, Any] | None = None, files: dict[str, str] | None = None, name: str = "shelf.mcpb"
) -> str:
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(manifest or MANIFEST))
        for place, text in (files or {}).items():
            archive.writestr(place, text)
    return name


# --- server.json -------------------------------------------------------------------------------


def test_the_first_package_that_starts_here_is_taken_over_and_the_rest_is_said(run: Run) -> None:
    Path("server.json").write_text(json.dumps(GITHUB))
    done = run("import", "server.json")
    assert done.exit_code == 0, done.output
    assert source("notes") == {
        "type": "mcp",
        "name": "notes",
        "command": "npx",
        "args": ["-y", "--no-warnings", "@example/notes@1.2.3", "${NOTES_FOLDER}", "--level", "info"],
        "env": {"NOTES_TOKEN": "${NOTES_TOKEN}", "NOTES_REGION": "eu", "NOTES_KEY": "${NOTES_KEY}"},
    }
    assert "hunter2" not in Path("prowess.toml").read_text() + done.output
    for said in (
        "it is also to be had as pypi:notes",
        "env NOTES_PROXY is left out, it is not required (A proxy to go through)",
        "argument second_folder is left out",
        "mcpb:https://example.com/notes.mcpb is of a kind that prowess does not start",
        "https://example.com/sse speaks sse, not streamable HTTP",
        "set NOTES_TOKEN",
        "set NOTES_FOLDER",
    ):
        assert said in done.stderr, said


def test_a_remote_is_taken_over_with_its_headers_by_reference(run: Run) -> None:
    Path("server.json").write_text(json.dumps({"server": REMOTE, "_meta": {}}))
    done = run("import", "server.json")
    assert done.exit_code == 0, done.output
    found = source("crm")
    assert found["url"] == "https://${CRM_TENANT}.example.com/mcp"
    assert found["headers"] == {"Authorization": "Bearer ${CRM_TOKEN}"}
    assert "s3cret-default" not in Path("prowess.toml").read_text()


@pytest.mark.parametrize(
    ("package", "command", "args"),
    [
        ({"registryType": "pypi", "identifier": "notes"}, "uvx", ["notes@1.2.3"]),
        ({"registryType": "npm", "identifier": "n", "runtimeHint": "bunx"}, "bunx", ["-y", "n@1.2.3"]),
        (
            {
                "registry_type": "oci",
                "identifier": "ghcr.io/example/notes:4",
                "environment_variables": [{"name": "TOKEN", "is_required": True}],
            },
            "docker",
            ["run", "-i", "--rm", "-e", "TOKEN", "ghcr.io/example/notes:4"],
        ),
        ({"registryType": "nuget", "identifier": "Notes"}, "dnx", ["Notes@1.2.3", "--yes"]),
    ],
)
def test_each_kind_of_package_is_started_with_its_own_program(
    package: dict[str, Any], command: str, args: list[str], run: Run
) -> None:
    Path("server.json").write_text(json.dumps({**GITHUB, "packages": [package], "remotes": []}))
    assert run("import", "server.json").exit_code == 0
    assert (source("notes")["command"], source("notes")["args"]) == (command, args)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"packages": [], "remotes": []}, "neither packages nor remotes"),
        ({"packages": [{"registryType": "cargo", "identifier": "n"}]}, "cargo:n is of a kind"),
        ({"packages": ["n"]}, "'packages' is not a list of tables"),
    ],
)
def test_an_entry_that_starts_nothing_here_says_why(entry: dict[str, Any], why: str, run: Run) -> None:
    Path("server.json").write_text(json.dumps({"name": "a/b", **entry}))
    done = run("import", "server.json")
    assert done.exit_code == 1 and why in done.stderr and not Path("prowess.toml").exists()


# --- bundles -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_bundle_is_unpacked_and_its_tools_are_there(run: Run, tmp_path: Path) -> None:
    dust = {"name": "dust", "description": "Dust it.", "inputSchema": {"type": "object"}}
    offered = {"name": "s", "tools": [dust]}
    files = {"server/shelf.py": (SERVERS / "shelf.py").read_text(), "shelf.json": json.dumps(offered)}
    file = bundled(files=files)
    tried = run("import", file, "--dry-run")
    assert "1 server would be added" in tried.stderr and not (tmp_path / ".prowess").exists()
    done = run("import", file)
    assert done.exit_code == 0, done.output
    (home,) = (tmp_path / ".prowess" / "bundles").iterdir()
    found = source("shelf")
    assert found["args"] == [
        "-S", f"{home}/server/shelf.py", f"{home}/shelf.json", "${HOME}/a", "${HOME}/Documents",
    ]  # fmt: skip
    assert found["env"] == {"SHELF_TOKEN": "${SHELF_TOKEN}", "SHELF_LEVEL": "info"}
    assert found["cwd"] == str(home) and stat.S_IMODE(home.stat().st_mode) == 0o700
    assert "hunter2" not in Path("prowess.toml").read_text() + done.output
    for said in ("env SHELF_PROXY is left out", "1 prompts of its manifest are not taken over"):
        assert said in done.stderr
    assert "+ tool:shelf/dust" in run("sync").stdout
    assert "0 servers added" in run("import", file).stderr


@pytest.mark.parametrize("name", ["../out.py", "/etc/out.py", "a/../../out.py", "a\\..\\out.py", "c:out.py"])
def test_nothing_is_written_outside_the_folder_of_a_bundle(name: str, run: Run, tmp_path: Path) -> None:
    done = run("import", bundled(files={name: "x"}))
    assert done.exit_code == 1 and "holds" in done.stderr
    assert not list(tmp_path.rglob("out.py")) and not (tmp_path / ".prowess").exists()


def test_a_bundle_with_a_link_or_too_much_in_it_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    file = bundled()
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    assert "which is a link or no file" in run("import", file).stderr
    monkeypatch.setattr("prowess.sources.imports.unpacking.MOST_FILES", 1)
    assert "holds more than 1 files" in run("import", bundled(files={"a": "a"})).stderr
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("prowess.sources.imports.unpacking.MOST_BYTES", 1000)
    assert "MB" in run("import", bundled(files={"a": "a" * 5000})).stderr
    assert not (tmp_path / ".prowess").exists()


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        ({**MANIFEST, "server": {}}, "does not say how it is started"),
        ({**MANIFEST, "compatibility": {"platforms": ["plan9"]}}, "is for plan9"),
    ],
)
def test_a_bundle_that_does_not_run_here_says_why(manifest: dict[str, Any], why: str, run: Run) -> None:
    done = run("import", bundled(manifest))
    assert done.exit_code == 1 and why in done.stderr


def test_what_is_no_bundle_says_so(run: Run) -> None:
    Path("a.mcpb").write_text("no zip")
    assert "is not a bundle that can be read" in run("import", "a.mcpb").stderr
    with zipfile.ZipFile("b.mcpb", "w") as archive:
        archive.writestr("readme", "x")
    assert "has no manifest.json" in run("import", "b.mcpb").stderr
    assert "does not exist" in run("import", "c.mcpb").stderr
