"""From a person's first commands to a call that works, with a real server that needs a token."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.support.gateway import ask, served, text_of, until
from tests.support.gateway import call as call_of
from tests.support.terminal import CRM_TOKEN as TOKEN
from tests.support.terminal import Terminal, server_block

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(100)]

NEEDS = 'env = { CRM_TOKEN = "${CRM_TOKEN}" }\n'


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    for name in ("project", "home"):
        (tmp_path / name).mkdir()
    return Terminal(tmp_path / "project", tmp_path / "home")


def begin(terminal: Terminal, *args: str, more: str = NEEDS) -> None:
    assert terminal.run("init").returncode == 0
    file = terminal.folder / "prowess.toml"
    file.write_text(server_block("crm", "crm.py", *args, more=more) + file.read_text())


@asynccontextmanager
async def client_of(terminal: Terminal) -> AsyncIterator[Client]:
    """The gateway as a client starts it, which gives it hardly any environment."""
    command, *args = served(terminal.folder / "prowess.toml")
    server = StdioServerParameters(command=command, args=args, env=terminal.environment, cwd=terminal.folder)
    async with Client(server, cache=None) as client:
        yield client


async def test_a_secret_that_doctor_names_is_set_and_the_gateway_that_runs_calls_with_it(
    terminal: Terminal,
) -> None:
    begin(terminal)
    synced = terminal.run("sync")
    assert "tool:crm/find_customer" in synced.stdout
    told = "crm: 10 tools need CRM_TOKEN, which is not set; run: prowess secret set CRM_TOKEN"
    doctor = terminal.run("doctor")
    assert told in doctor.stdout and doctor.returncode == 0
    assert "needs CRM_TOKEN; run: prowess secret set CRM_TOKEN" in terminal.run("sources").stdout
    assert told in terminal.run("list").stderr
    check = terminal.run("secret", "check")
    assert told in check.stdout and check.returncode == 1

    async with client_of(terminal) as client:
        refused = await call_of(client, "tool:crm/find_customer", text="Ada")
        assert "secret CRM_TOKEN is not set" in text_of(refused)
        kept = terminal.run("secret", "set", "CRM_TOKEN", typed=f"{TOKEN}\n")
        assert kept.returncode == 0 and str(terminal.home) in kept.stderr and TOKEN not in kept.stderr
        assert text_of(await call_of(client, "tool:crm/find_customer", text="Ada")) == "Ada Lovelace"
        terminal.run("secret", "set", "CRM_TOKEN", typed="outdated")
        wrong = text_of(await call_of(client, "tool:crm/find_customer", text="Ada"))
        assert "the token is missing or wrong" in wrong
        terminal.run("secret", "set", "CRM_TOKEN", typed=TOKEN)
        assert text_of(await call_of(client, "tool:crm/find_customer", text="Ada")) == "Ada Lovelace"
        terminal.run("secret", "remove", "CRM_TOKEN")
        gone = text_of(await call_of(client, "tool:crm/find_customer", text="Ada"))
        assert "secret CRM_TOKEN is not set" in gone
        terminal.run("secret", "set", "CRM_TOKEN", typed=TOKEN)

    async with client_of(terminal) as client:
        assert text_of(await call_of(client, "tool:crm/list_overdue")) == "2 invoices"
    assert terminal.run("secret", "check").returncode == 0
    listed = json.loads(terminal.run("secret", "list", "--json").stdout)
    assert [(one["name"], one["origin"], one["needed"]) for one in listed] == [
        ("CRM_TOKEN", "file", "10 tools")
    ]
    assert TOKEN not in everything_written(terminal)


def everything_written(terminal: Terminal) -> str:
    """All that prowess has left and says, but for the home of secrets itself."""
    found = [path for path in terminal.folder.rglob("*") if path.is_file()]
    said = [terminal.run(*words).stdout for words in (["log", "--json"], ["secret", "list"], ["sources"])]
    return "".join([*(path.read_bytes().decode(errors="replace") for path in found), *said])


async def test_a_server_that_does_not_start_without_its_secret_is_there_once_it_is_set(
    terminal: Terminal,
) -> None:
    begin(terminal, "strict")
    terminal.run("sync")
    doctor = terminal.run("doctor").stdout
    assert "crm: the server needs CRM_TOKEN, which is not set; run: prowess secret set CRM_TOKEN" in doctor

    async with client_of(terminal) as client:
        assert (await ask(client, "list_capabilities", provider="crm")).get("ids", []) == []
        terminal.run("secret", "set", "CRM_TOKEN", typed=TOKEN)

        async def is_there() -> bool:
            return bool((await ask(client, "list_capabilities", provider="crm")).get("ids"))

        await until(is_there, 20)
        assert text_of(await call_of(client, "tool:crm/find_customer", text="Ada")) == "Ada Lovelace"


async def test_a_secret_of_a_file_beside_is_used_when_asked_for(terminal: Terminal) -> None:
    begin(terminal)
    (terminal.folder / ".env").write_text(f"CRM_TOKEN={TOKEN}\n")
    file = terminal.folder / "prowess.toml"
    file.write_text(file.read_text() + '\n[secrets]\nenv_file = ".env"\n')
    terminal.run("sync")
    called = terminal.run("call", "tool:crm/find_customer", "text=Ada")
    assert "Ada Lovelace" in called.stdout, called.stderr


@pytest.mark.parametrize(
    ("words", "typed", "said"),
    [
        (["CRM_TOKEN=sesame"], "", "a value belongs to the prompt or a pipe"),
        (["CRM TOKEN"], "x", "no name of a variable"),
        (["CRM_TOKEN"], "", "not a text of 1 to"),
    ],
)
def test_a_value_on_the_command_line_is_refused_and_not_repeated(
    terminal: Terminal, words: list[str], typed: str, said: str
) -> None:
    refused = terminal.run("secret", "set", *words, typed=typed)
    assert refused.returncode == 1 and said in refused.stderr and "sesame" not in refused.stderr


def test_no_value_goes_over_a_server(terminal: Terminal) -> None:
    refused = terminal.run("--server", "http://127.0.0.1:1", "secret", "set", "CRM_TOKEN", typed="x")
    assert refused.returncode == 1 and "no value of a secret goes over a server" in refused.stderr
