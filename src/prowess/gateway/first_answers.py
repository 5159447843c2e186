"""The first question of a client over pipes is answered before anything heavy is loaded.

Some clients wait one second for it and then give up; loading the protocol's SDK alone takes most of that.
Above: `prowess serve mcp`, which begins with this and hands over to `stdio_transport`. Below: a thread, and
what `greeting` says. Whatever else the client sends meanwhile is kept for the SDK, which also gets the
handshake that was answered here: its own answer to that is then left out.
"""

import json
import os
import select
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from threading import Thread
from typing import Any

from prowess.gateway.greeting import INSTRUCTIONS, first_answer

CHUNK = 256 * 1024
MAX_KEPT_BYTES = 1024 * 1024
"""What a client sends beyond this waits in its pipe."""


@dataclass(frozen=True, slots=True)
class Pipes:
    """A client's pipes, and what has passed through them already."""

    reading: int
    writing: int
    received: bytes = b""
    """What was read and is still to be served."""
    answered: str | int | None = None
    """The id of a handshake in it that was answered already."""


def servable() -> bool:
    """Whether standard input and output can be waited for: pipes and sockets, but no terminal or file."""
    if sys.platform == "win32":
        return False
    modes = [os.fstat(descriptor).st_mode for descriptor in (0, 1)]
    return all(stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) for mode in modes)


def claimed() -> Pipes:
    """Standard input and output for the protocol alone: whatever else prints goes to standard error."""
    return Pipes(_claimed(0, os.open(os.devnull, os.O_RDONLY)), _claimed(1, os.dup(2)))


def _claimed(descriptor: int, instead: int) -> int:
    private = os.dup(descriptor)
    os.dup2(instead, descriptor)
    os.close(instead)
    return private


class FirstAnswers:
    """Answers in a thread of its own until it hands over."""

    def __init__(self, pipes: Pipes, instructions: Callable[[], str] = lambda: "") -> None:
        self._pipes = pipes
        self._instructions = instructions
        self._woken, self._wake = os.pipe()
        self._kept = bytearray()
        self._answered: str | int | None = None
        # A daemon: where the gateway cannot start, the process must end all the same.
        self._thread = Thread(target=self._serve, name="prowess-first-answers", daemon=True)

    def start(self) -> "FirstAnswers":
        self._thread.start()
        return self

    def hand_over(self) -> Pipes:
        """Stop answering; what was received and not answered comes along."""
        os.close(self._wake)
        self._thread.join()
        os.close(self._woken)
        return Pipes(self._pipes.reading, self._pipes.writing, bytes(self._kept), self._answered)

    def _serve(self) -> None:
        rest = b""
        while len(self._kept) < MAX_KEPT_BYTES:
            ready, _, _ = select.select([self._pipes.reading, self._woken], [], [])
            chunk = b"" if self._woken in ready else os.read(self._pipes.reading, CHUNK)
            if not chunk:  # handed over, or the client has left, which the SDK will notice, too
                break
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._received(line)
        self._kept += rest

    def _received(self, line: bytes) -> None:
        message = self._first(line)
        answer = first_answer(message, self._instructions() or INSTRUCTIONS) if message else None
        if answer is None or message is None:
            self._kept += line + b"\n"
            return
        if message["method"] == "initialize":
            self._kept += line + b"\n"
            self._answered = message["id"]
        body = {"jsonrpc": "2.0", "id": message["id"], "result": answer}
        left = memoryview(json.dumps(body, ensure_ascii=False).encode() + b"\n")
        while left:
            left = left[os.write(self._pipes.writing, left) :]

    def _first(self, line: bytes) -> dict[str, Any] | None:
        """A message that nothing but questions of what is served came before."""
        if self._kept.strip():
            return None
        try:
            message = json.loads(line)
        except ValueError:
            return None
        return message if isinstance(message, dict) else None
