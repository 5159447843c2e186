"""The first question of a client is answered before anything heavy is loaded, and as the SDK answers it."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, JSONRPCResponse, jsonrpc_message_adapter
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from prowess.calling.caller import Caller
from prowess.gateway.first_answers import MAX_KEPT_BYTES, FirstAnswers, Pipes
from prowess.gateway.greeting import HANDSHAKE_VERSIONS, NEWEST_VERSION, first_answer
from prowess.gateway.server import build
from tests.support.gateway import OWNER, served, workshop, world, write_config

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(60)]

ABOUT = {"name": "by hand", "version": "1"}


def initialize(version: str = "2025-11-25", **more: Any) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": ABOUT, **more}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def discover(version: str = NEWEST_VERSION) -> dict[str, Any]:
    prefix = "io.modelcontextprotocol/"
    meta = {"protocolVersion": version, "clientInfo": ABOUT, "clientCapabilities": {"roots": {}}}
    params = {"_meta": {prefix + key: value for key, value in meta.items()}}
    return {"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": params}


LISTING = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
SHAKEN = {"jsonrpc": "2.0", "method": "notifications/initialized"}


async def answer_of_the_sdk(folder: Path, message: dict[str, Any]) -> dict[str, Any]:
    """What the whole gateway answers to a first message."""
    async with world(folder, workshop()) as here:
        server = build(here.gateway, lambda context: Caller("nobody"))
        asking, asked = anyio.create_memory_object_stream[SessionMessage | Exception](1)
        answering, answers = anyio.create_memory_object_stream[SessionMessage](1)
        async with anyio.create_task_group() as tasks, asking, asked, answering, answers:
            tasks.start_soon(server.run, asked, answering, server.create_initialization_options())
            read: JSONRPCMessage = jsonrpc_message_adapter.validate_python(message)
            await asking.send(SessionMessage(read))
            answer = (await answers.receive()).message
            tasks.cancel_scope.cancel()
    assert isinstance(answer, JSONRPCResponse), answer
    return dict(answer.result)


@pytest.mark.parametrize("version", [*HANDSHAKE_VERSIONS, "1999-01-01", NEWEST_VERSION])
async def test_a_handshake_is_answered_as_the_sdk_answers_it(tmp_path: Path, version: str) -> None:
    assert first_answer(initialize(version)) == await answer_of_the_sdk(tmp_path, initialize(version))


async def test_a_question_of_what_is_served_is_answered_as_the_sdk_answers_it(tmp_path: Path) -> None:
    assert first_answer(discover()) == await answer_of_the_sdk(tmp_path, discover())


def test_the_revisions_that_are_answered_are_those_that_the_sdk_serves() -> None:
    assert HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert (NEWEST_VERSION,) == MODERN_PROTOCOL_VERSIONS


@pytest.mark.parametrize(
    "message",
    [
        LISTING,
        discover("2099-01-01"),
        initialize(version=7),  # type: ignore[arg-type]
        initialize(clientInfo={"name": "x"}),
        initialize(capabilities={"roots": "yes"}),
        {**initialize(), "id": True},
        {**initialize(), "jsonrpc": "1.0"},
        {"jsonrpc": "2.0", "id": 1, "method": "initialize"},
    ],
)
def test_what_is_not_well_formed_is_left_to_the_sdk(message: dict[str, Any]) -> None:
    assert first_answer(message) is None


def test_nothing_heavy_is_loaded_before_the_first_answer() -> None:
    look = (
        "import sys, prowess.cli.main, prowess.cli.serve;"
        "print([name for name in ('mcp', 'numpy', 'anyio', 'pydantic', 'msgspec', 'prowess.engine')"
        " if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def lines(*messages: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def spoken(folder: Path, *messages: dict[str, Any], answers: int) -> list[dict[str, Any]]:
    """What a gateway answers to messages that all lie in its pipe when it starts."""
    command = served(write_config(folder, OWNER))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        process.stdin.write(lines(*messages))
        process.stdin.flush()
        found = [json.loads(process.stdout.readline()) for _ in range(answers)]
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(20) == 0
    return found


def test_a_client_of_the_older_handshake_is_answered_once_and_then_served(tmp_path: Path) -> None:
    shaken, listed = spoken(tmp_path, initialize(), SHAKEN, LISTING, answers=2)
    assert (shaken["id"], shaken["result"]["protocolVersion"]) == (1, "2025-11-25")
    assert (listed["id"], len(listed["result"]["tools"])) == (2, 6)


def test_a_client_that_gave_up_asking_what_is_served_may_still_shake_hands(tmp_path: Path) -> None:
    asked, shaken, listed = spoken(tmp_path, discover(), initialize(), SHAKEN, LISTING, answers=3)
    assert [asked["id"], shaken["id"], listed["id"]] == [0, 1, 2]
    assert len(listed["result"]["tools"]) == 6


def test_a_client_of_the_newest_revision_is_served_after_its_question(tmp_path: Path) -> None:
    listing = {**LISTING, "params": discover()["params"]}
    asked, listed = spoken(tmp_path, discover(), listing, answers=2)
    assert asked["result"]["supportedVersions"] == [NEWEST_VERSION]
    assert len(listed["result"]["tools"]) == 6


def test_a_handshake_that_does_not_fit_is_refused_as_ever(tmp_path: Path) -> None:
    (refused,) = spoken(tmp_path, {**initialize(), "params": {}}, answers=1)
    assert refused["error"]["code"] == -32602


class Wire:
    """Both ends of a client's pipes, in one process."""

    def __init__(self) -> None:
        reading, self.sending = os.pipe()
        self.receiving, writing = os.pipe()
        self.first = FirstAnswers(Pipes(reading, writing)).start()

    def answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(os.read(self.receiving, 65536))
        return answer


def test_a_message_that_comes_in_pieces_is_answered_when_it_is_whole() -> None:
    wire, whole = Wire(), lines(initialize())
    os.write(wire.sending, whole[:20])
    os.write(wire.sending, whole[20:])
    assert wire.answer()["id"] == 1
    os.write(wire.sending, lines(SHAKEN) + b'{"jsonrpc": "2.0", "id"')
    left = wire.first.hand_over()
    with os.fdopen(left.reading, "rb", buffering=0) as reading:
        os.close(wire.sending)
        rest = left.received + reading.read()
    assert rest == whole + lines(SHAKEN) + b'{"jsonrpc": "2.0", "id"'
    assert left.answered == 1


def test_of_a_client_that_sends_without_end_only_so_much_is_held() -> None:
    wire = Wire()
    os.set_blocking(wire.sending, False)
    sent = 0
    while True:
        try:
            sent += os.write(wire.sending, lines({**LISTING, "padding": "x" * 60_000}))
        except BlockingIOError:
            if all(thread.name != "prowess-first-answers" for thread in threading.enumerate()):
                break
    assert MAX_KEPT_BYTES <= len(wire.first.hand_over().received) <= sent
    assert sent < 3 * MAX_KEPT_BYTES


def test_a_client_that_leaves_at_once_ends_the_gateway(tmp_path: Path) -> None:
    assert spoken(tmp_path, answers=0) == []
