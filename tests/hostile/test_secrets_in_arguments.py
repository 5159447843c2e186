"""`import` copies no secret out of another program's arguments, and keeps what is none."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from prowess.cli.main import prowess
from prowess.sources.imports.importers import import_servers

SECRETS: list[tuple[list[str], str]] = [
    (["--env=PASS=S1"], "S1"),
    (["--env", "PASS=S1"], "S1"),
    (["-e", "TOK=S2"], "S2"),
    (["-eTOK=S2"], "S2"),
    (["-DTOKEN=S2"], "S2"),
    (["--build-arg", "NPM=S2"], "S2"),
    (["--set", "db.password=S2x"], "S2x"),
    (["--set", "anything=S2x"], "S2x"),
    (["-p", "S3pw"], "S3pw"),
    (["-pS3pw"], "S3pw"),
    (["-p=S3pw"], "S3pw"),
    (["-P", "hunter"], "hunter"),
    (["-a", "hunter"], "hunter"),
    (["-k", "hunter"], "hunter"),
    (["-u", "bob:S4"], "S4"),
    (["-ubob:S4"], "S4"),
    (["--user", "bob:S4"], "S4"),
    (["--user=bob:S4"], "S4"),
    (["--username", "bob"], "bob"),
    (["--login", "S5"], "S5"),
    (["--login=S5"], "S5"),
    (["--account", "hunter"], "hunter"),
    (["--pin", "492817"], "492817"),
    (["--pin=492817"], "492817"),
    (["--otp", "492817"], "492817"),
    (["--password", "123456"], "123456"),
    (["--passphrase", "open"], "open"),
    (["--config", '{"a":"S6"}'], "S6"),
    (['--config={"a":"S6"}'], "S6"),
    (['{"a":{"b":["S6"]}}'], "S6"),
    (["--config", '{"pin":492817}'], "492817"),
    (["--config", "{a: S6}"], "S6"),
    (["correct horse battery staple"], "horse"),
    (["--phrase", "correct horse battery staple"], "horse"),
    (["--phrase=correct horse battery staple"], "horse"),
    (["--unknown", "Xk3d9"], "Xk3d9"),
    (["--unknown=Xk3d9"], "Xk3d9"),
    (["-x", "Xk3d9"], "Xk3d9"),
    (["--seed", "wordy"], "wordy"),
    (["--license", "abc"], "abc"),
    (["--connection-string", "wordy"], "wordy"),
    (["-c", "server --password S3pw"], "S3pw"),
    (["-c", "TOKEN=S2 server"], "S2"),
    (["--auth", "wordy"], "wordy"),
    (["--session-code", "wordy"], "wordy"),
    (["https://bob:S4@h.example/x"], "S4"),
    (["--api-keys", "one,two"], "one"),
]
HARMLESS: list[list[str]] = [
    ["-y", "server-filesystem", "/data"],
    ["--port", "8080"],
    ["--port=8080"],
    ["-p", "8080:80"],
    ["-p8080:80"],
    ["-p", "127.0.0.1:8080:80"],
    ["-p", "@scope/package"],
    ["-p", "mcp-server"],
    ["-p", "package@1.2.3"],
    ["--host", "0.0.0.0"],
    ["--host", "localhost:3000"],
    ["--log-level", "debug"],
    ["--log-level=INFO"],
    ["--transport", "stdio"],
    ["--transport=streamable-http"],
    ["--region", "us-east-1"],
    ["--model", "claude-3-5-sonnet-20241022"],
    ["--timeout", "30s"],
    ["--max-tokens", "4096"],
    ["--session-timeout", "30"],
    ["--max-connections", "10"],
    ["--root", "."],
    ["--root", "~/Documents/My Notes"],
    ["/home/me/My Documents"],
    ["--directory", "/srv/app"],
    ["--config", "config.json"],
    ["--config", "./settings/dev.yaml"],
    ["--config", '{"readOnly":true,"depth":3}'],
    ["--config", '{"mode":"fast","root":"/srv"}'],
    ["--user-data-dir", "/tmp/profile"],
    ["--key-file", "/etc/ssl/server.pem"],
    ["-m", "mcp_server_git"],
    ["-u", "server.py"],
    ["-u", "1000:1000"],
    ["run", "-i", "--rm", "-it", "ghcr.io/org/image:latest"],
    ["-e", "GITHUB_PERSONAL_ACCESS_TOKEN"],
    ["--mount", "type=bind,src=/a,dst=/b"],
    ["-v", "/a:/b:ro"],
    ["--from", "git+https://github.com/org/repo@main", "tool"],
    ["--browser", "chromium", "--headless"],
    ["--viewport-size", "1280x720"],
    ["--name", "My Server"],
    ["-c", "npx -y mcp-server --port 80"],
    ["--tools=read,write"],
    ["--db-path", "data.db"],
    ["--read-only", "--verbose", "-vvv"],
    ["-Xmx512m", "-jar", "server.jar"],
    ["--encoding", "utf-8"],
    ["--python", "3.12"],
    ["--author", "ann"],
    ["https://mcp.example.com/sse"],
    ["--url", "https://mcp.example.com/v1/mcp"],
]


def kept(args: list[str]) -> list[str]:
    table = {"command": "x", "args": args}
    (server,) = import_servers("mcp.json", json.dumps({"mcpServers": {"notes": table}})).servers
    return list(server.args)


@pytest.mark.parametrize(("args", "secret"), SECRETS, ids=lambda value: str(value))
def test_a_secret_among_arguments_becomes_a_reference(args: list[str], secret: str) -> None:
    found = kept(args)
    assert "${" in " ".join(found) and secret not in " ".join(found)
    assert len(found) == len(args)


@pytest.mark.parametrize("args", HARMLESS, ids=lambda value: " ".join(value))
def test_an_argument_that_is_no_secret_stays_as_it_is(args: list[str]) -> None:
    assert kept(args) == args


def test_neither_the_configuration_nor_anything_printed_holds_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("PROWESS_STORE", "PROWESS_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    mark = "Zq7"
    marked = [[arg.replace(secret, mark) for arg in args] for args, secret in SECRETS]
    servers = {f"s{n}": {"command": "no-such-program", "args": args} for n, args in enumerate(marked)}
    (tmp_path / "other.json").write_text(json.dumps({"mcpServers": servers}))
    said = ""
    for command in (["init"], ["import", "other.json"], ["sync"], ["sources"], ["doctor"]):
        said += CliRunner().invoke(prowess, command).output
    written = (tmp_path / "prowess.toml").read_text()
    assert "[[source]]" in written
    assert [line for line in (written + said).splitlines() if mark in line] == []
