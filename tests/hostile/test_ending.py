"""A gateway that is told to end does, and takes its servers along, whatever hangs in it."""

import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from threading import Thread

import pytest

from prowess.sources.mcp.source import McpSource
from tests.support.gateway import OWNER, SERVERS, free_port, served, workshop, write_config
from tests.support.wire import Pipes, begun, eventually, gateway, listens, post, request

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]

SECONDS = 5.5
"""Five, and a little for a busy machine."""

MODULE = """
import re, time
import prowess

def began():
    with open("began", "w"):
        pass

@prowess.tool(side_effects=False)
def sleep() -> str:
    "Sleep for a long time."
    began()
    time.sleep(600)

@prowess.tool(side_effects=False)
async def block() -> str:
    "Hold the event loop."
    began()
    while True:
        time.sleep(600)

@prowess.tool(side_effects=False)
def spin() -> str:
    "Never give the interpreter back."
    began()
    re.match("^(a+)+$", "a" * 60 + "!")
"""


def ends(process: subprocess.Popen[str]) -> float:
    """Seconds from the signal to the end."""
    started = time.monotonic()
    process.send_signal(signal.SIGTERM)
    process.wait(30)
    return time.monotonic() - started


def running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def functions(folder: Path) -> Path:
    (folder / "hanging.py").write_text(MODULE)
    file = write_config(folder, OWNER, workshop())
    file.write_text(file.read_text() + '[[source]]\ntype = "functions"\nname = "own"\nmodule = "hanging"\n')
    return file


@pytest.mark.parametrize("hanging", ["sleep", "block", "spin"])
def test_a_function_that_hangs_keeps_no_gateway_from_ending(tmp_path: Path, hanging: str) -> None:
    with Pipes(served(functions(tmp_path)), cwd=tmp_path) as here:
        here.begin()
        here.call(f"tool:{hanging}", {})
        eventually((tmp_path / "began").exists)
        assert ends(here.process) < SECONDS


def hanging_server(folder: Path) -> McpSource:
    rogue = (str(SERVERS / "rogue.py"), "hangs-with-a-child", str(folder / "pids"))
    return McpSource(name="rogue", command=sys.executable, args=rogue)


def pids_in(folder: Path) -> list[int]:
    """The server that hangs and what it started, once it has."""
    file = folder / "pids"
    return [int(pid) for pid in file.read_text().split()] if file.exists() else []


def test_a_server_that_hangs_keeps_no_gateway_from_ending(tmp_path: Path) -> None:
    with gateway(write_config(tmp_path, OWNER, hanging_server(tmp_path))) as here:
        here.begin()
        eventually(lambda: pids_in(tmp_path))
        pids = pids_in(tmp_path)
        assert ends(here.process) < SECONDS
        eventually(lambda: not any(map(running, pids)))


def test_a_gateway_that_is_killed_takes_a_server_along_that_hangs(tmp_path: Path) -> None:
    with gateway(write_config(tmp_path, OWNER, hanging_server(tmp_path))) as here:
        here.begin()
        eventually(lambda: pids_in(tmp_path))
        pids = pids_in(tmp_path)
        here.process.kill()
        eventually(lambda: not any(map(running, pids)))


def call_over_http(port: int, id: str) -> None:
    """Begin a call and do not wait for its answer."""

    def call() -> None:
        with suppress(OSError, HTTPException):
            post(port, request(id), begun(port))

    Thread(target=call, daemon=True).start()


@pytest.mark.parametrize(
    "words", [("serve",), ("serve", "mcp", "--http", "127.0.0.1:PORT"), ("serve", "web")]
)
def test_every_server_ends_in_time_whatever_hangs(tmp_path: Path, words: tuple[str, ...]) -> None:
    file, port = functions(tmp_path), free_port()
    options = () if "mcp" in words else ("--port", str(port))
    program = [sys.executable, str(SERVERS / "gateway.py"), "--config", str(file)]
    program += [word.replace("PORT", str(port)) for word in (*words, *options)]
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(program, cwd=tmp_path, stdout=nowhere, stderr=nowhere, text=True) as process:
        try:
            eventually(lambda: listens(port))
            with socket.create_connection(("127.0.0.1", port)) as slow:
                slow.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1")
                if "web" not in words:
                    call_over_http(port, "tool:spin")
                    eventually((tmp_path / "began").exists)
                assert ends(process) < SECONDS
        finally:
            process.kill()
