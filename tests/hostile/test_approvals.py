"""`ask` is a question to a person: no program answers it for itself, and a yes is for what was shown."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import mcp_types as types
import pytest
from click.testing import CliRunner
from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

import prowess
from prowess.cli.main import prowess as prowess_command
from prowess.errors import ApprovalNeeded
from prowess.policy.approvals import ApprovalAnswer, Scope
from prowess.sources.mcp.source import McpSource
from tests.support.gateway import (
    SERVERS,
    Person,
    World,
    call,
    free_port,
    served,
    shelf,
    text_of,
    until,
    world,
    write_config,
)

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(60)]

POLICY = 'profiles: {w: {agents: [wil], additional_tools: ["*"], ask: ["tool:bank/pay"]}}'
REVIEWED = """
grants: {money: {event_patterns: ["tool:bank/*"], security_review_required: true}}
profiles: {w: {agents: [wil], capabilities: {money: true}}}
"""
PAY = "tool:bank/pay"
TOOLS = [{"name": "pay", "description": "Pay somebody.", "inputSchema": {"type": "object"}}]
BOTH = pytest.mark.parametrize("mode", ["auto", "legacy"])


class Eager:
    """A client that is a program and says yes to everything."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.before: Callable[[], object] = lambda: None

    async def __call__(self, context: ClientRequestContext, params: types.ElicitRequestParams) -> Any:
        self.asked.append(params.message)
        self.before()
        return types.ElicitResult(action="accept", content={})


async def pay(client: Client, **arguments: Any) -> str:
    return text_of(await call(client, PAY, with_effects=True, **arguments))


@asynccontextmanager
async def bank(folder: Path, mode: str = "auto", **more: Any) -> AsyncIterator[tuple[World, Client, Eager]]:
    eager = Eager()
    async with (
        world(folder, shelf(folder, "bank", tools=TOOLS), policy=more.pop("policy", POLICY), **more) as here,
        here.client("wil", mode=mode, elicitation_callback=eager) as client,
    ):
        yield here, client, eager


@contextmanager
def listening(file: Path) -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen(served(file, "--http", f"127.0.0.1:{port}"), stderr=subprocess.DEVNULL)
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(20)


async def answering(url: str, token: str) -> None:
    async def is_up() -> bool:
        async with httpx2.AsyncClient() as plain:
            try:
                return (await plain.post(url, headers={"Authorization": f"Bearer {token}"})).status_code > 0
            except httpx2.TransportError:
                return False

    await until(is_up, 30)


def config(folder: Path, more: str = "", policy: str = POLICY) -> Path:
    return write_config(folder, policy, shelf(folder, "bank", tools=TOOLS), gateway=more)


@BOTH
@pytest.mark.parametrize("more", ["", 'approvals = "client"'])
async def test_who_holds_an_agents_token_cannot_answer_its_questions(
    tmp_path: Path, mode: str, more: str
) -> None:
    file, eager = config(tmp_path, more), Eager()
    with prowess.open(config=str(file)) as engine:
        engine.sync()
        token = engine.tokens.issue("wil").text
        with listening(file) as url:
            await answering(url, token)
            headers = {"Authorization": f"Bearer {token}"}
            async with httpx2.AsyncClient(headers=headers, timeout=20) as http:
                transport = streamable_http_client(url, http_client=http)
                async with Client(transport, mode=mode, cache=None, elicitation_callback=eager) as client:
                    for _ in range(2):
                        assert "waits for a person" in await pay(client, amount=1, to="bob")
        assert eager.asked == [] and engine.journal.latest(9, "wil", "approval.answered") == ()
        (waiting,) = engine.approvals.list()
        assert waiting.arguments == {"amount": "1", "to": '"bob"'}


@BOTH
async def test_a_client_over_pipes_answers_only_where_the_configuration_says_so(
    tmp_path: Path, mode: str
) -> None:
    for more, answers in (("", 0), ('approvals = "client"', 1)):
        file, eager = config(tmp_path, more), Eager()
        command = served(file, "--agent", "wil")
        started = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
        me = types.Implementation(name="eager bot", version="1")
        transport = stdio_client(started)
        async with Client(
            transport, mode=mode, cache=None, elicitation_callback=eager, client_info=me
        ) as client:
            said = await pay(client, amount=1, to="bob")
        assert len(eager.asked) == answers
        assert ("given" in said) == bool(answers)
    with prowess.open(config=str(file)) as engine:
        (entry,) = engine.journal.latest(9, "wil", "approval.answered")
        assert entry.data["by"] == "client 'eager bot'"


@BOTH
async def test_what_awaits_a_security_review_is_not_answered_by_the_client_either(
    tmp_path: Path, mode: str
) -> None:
    async with bank(tmp_path, mode, policy=REVIEWED) as (here, client, eager):
        assert "waits for a person" in await pay(client, amount=1)
        assert eager.asked == [] and len(here.engine.approvals.list()) == 1


async def test_a_model_is_never_told_what_would_answer_the_question(tmp_path: Path) -> None:
    async with bank(tmp_path) as (here, client, _):
        said = await pay(client, amount=1)
        (waiting,) = here.engine.approvals.list()
        assert waiting.id not in said and "prowess " not in said and "--yes" not in said
        with pytest.raises(ApprovalNeeded) as needed:
            here.engine.check("wil", PAY)
        assert "--yes" not in str(needed.value) and "prowess approval" not in str(needed.value)


SMALL, LARGE = {"amount": 1, "to": "bob"}, {"amount": 1_000_000, "to": "evil"}


@BOTH
async def test_a_yes_is_for_one_use_with_the_arguments_that_were_shown(
    tmp_path: Path, store_url: str, mode: str
) -> None:
    async with bank(tmp_path, mode, store=store_url) as (here, client, _):
        await pay(client, **SMALL)
        (waiting,) = here.engine.approvals.list()
        here.engine.approvals.answer(waiting.id, ApprovalAnswer(yes=True, by="ann"))
        assert "waits" in await pay(client, **LARGE)
        assert "given" in await pay(client, **SMALL)
        assert "waits" in await pay(client, **SMALL)
        assert [one.arguments["amount"] for one in here.engine.approvals.list()] == ["1000000", "1"]


@pytest.mark.parametrize(("scope", "large"), [("repeat", "waits"), ("any", "given")])
async def test_a_person_may_say_yes_to_more_than_one_use(
    tmp_path: Path, store_url: str, scope: Scope, large: str
) -> None:
    async with bank(tmp_path, store=store_url) as (here, client, _):
        await pay(client, **SMALL)
        (waiting,) = here.engine.approvals.list()
        here.engine.approvals.answer(waiting.id, ApprovalAnswer(yes=True, by="ann", scope=scope))
        for _ in range(3):
            assert "given" in await pay(client, **SMALL)
        assert large in await pay(client, **LARGE)


async def test_of_many_uses_at_once_one_yes_lets_one_through(tmp_path: Path, store_url: str) -> None:
    async with bank(tmp_path, store=store_url) as (here, client, _):
        await pay(client, **SMALL)
        (waiting,) = here.engine.approvals.list()
        here.engine.approvals.answer(waiting.id, ApprovalAnswer(yes=True, by="ann"))
        said: list[str] = []

        async def one() -> None:
            said.append(await pay(client, **SMALL))

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(one)
        assert sum("given" in text for text in said) == 1


@BOTH
@pytest.mark.parametrize("server", ["modern", "older"])
async def test_a_call_in_which_the_server_asks_back_is_one_use(
    tmp_path: Path, mode: str, server: str
) -> None:
    policy = 'profiles: {w: {agents: [wil], additional_tools: ["*"], ask: ["tool:oracle/person"]}}'
    args = ("-S", str(SERVERS / "oracle.py"), server)
    oracle = McpSource(name="oracle", command=sys.executable, args=args, timeout=20)
    async with (
        world(tmp_path, oracle, policy=policy) as here,
        here.client("wil", mode=mode, **Person().abilities) as client,
    ):
        assert "waits for a person" in text_of(await call(client, "tool:oracle/person"))
        (waiting,) = here.engine.approvals.list()
        here.engine.approvals.answer(waiting.id, ApprovalAnswer(yes=True, by="ann"))
        assert "Ada" in text_of(await call(client, "tool:oracle/person"))
        assert "waits for a person" in text_of(await call(client, "tool:oracle/person"))


async def test_what_somebody_answered_elsewhere_holds_over_the_clients_answer(tmp_path: Path) -> None:
    async with bank(tmp_path, approvals="client") as (here, client, eager):
        eager.before = lambda: here.engine.approvals.answer(
            here.engine.approvals.list()[0].id, ApprovalAnswer(yes=False, by="ann")
        )
        assert "given" not in await pay(client, **SMALL)
        assert [e.data["by"] for e in here.journal("approval.answered", "wil")] == ["ann"]


@BOTH
async def test_no_argument_pushes_another_out_of_the_question(tmp_path: Path, mode: str) -> None:
    hidden = "Office Ltd" + " \t\n\u200b\u3164" * 200 + "really EVIL-999"
    arguments = {"to": hidden, "note": "x" * 5000, "amount": 1_000_000, "password": "hunter2-horse"}
    async with bank(tmp_path, mode, approvals="client") as (here, client, eager):
        await pay(client, **arguments)
        (question,) = eager.asked
        assert 'to: "Office Ltd really EVIL-999"' in question and "amount: 1000000" in question
        assert "characters left out" in question and "hunter2" not in question
        (approval,) = here.engine.approvals.list(every=True)
        assert approval.arguments["amount"] == "1000000"
        assert "hunter2" not in json.dumps(dict(approval.arguments))
        assert approval.answered_by.startswith("client ")


def test_lists_show_what_is_to_be_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store_url: str
) -> None:
    policy = 'profiles: {w: {agents: [wil], additional_tools: ["Bash"], ask: ["Bash"]}}'
    (tmp_path / "policy.yaml").write_text(policy)
    (tmp_path / "prowess.toml").write_text('[policy]\nfiles = ["policy.yaml"]\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROWESS_STORE", store_url)
    with prowess.open() as engine:
        with pytest.raises(ApprovalNeeded):
            engine.check("wil", "Bash", arguments={"to": "evil\n" * 3, "amount": 5})
        shown = CliRunner().invoke(prowess_command, ["approval", "list"])
        assert 'to: "evil evil evil", amount: 5' in shown.stdout
        (waiting,) = engine.approvals.list()
        yes = ["approval", "answer", waiting.id, "--yes", "--scope", "any", "--by", "ann"]
        answered = CliRunner().invoke(prowess_command, yes)
        assert answered.exit_code == 0 and "with any arguments" in answered.stderr
        assert engine.check("wil", "Bash", arguments={"to": "somebody else"}).verdict == "allow"
