"""An MCP server over raw pipes that misbehaves in the way its first argument names."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

Message = dict[str, Any]


def tool(name: object, **fields: object) -> Message:
    return {"name": name, "description": "Does something.", "inputSchema": {"type": "object"}, **fields}


def say(id: object, result: Message) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}) + "\n")
    sys.stdout.flush()


def fail(id: object, code: int, message: str) -> None:
    error = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}
    sys.stdout.write(json.dumps(error) + "\n")
    sys.stdout.flush()


def requests() -> Iterator[Message]:
    for line in sys.stdin:
        yield json.loads(line)


def wide() -> Message:
    return {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(60_000)}}


def bad_tools() -> list[Message]:
    array = {"type": "array"}
    return [tool("broken", inputSchema="none"), tool(7), {"name": "bare"}, tool("wrong", inputSchema=array)]


def pages(page: int) -> Message:
    following = {"nextCursor": str(page + 1)} if page < 4 else {}
    return {"tools": [tool(f"tool-{page}-{number}") for number in range(3)], **following}


MODERN = {"resultType": "complete", "ttlMs": 60_000, "cacheScope": "private"}
DISCOVERED = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **MODERN}

LISTS: dict[str, Callable[[int], Message]] = {
    "one-bad-tool": lambda page: {"tools": [tool("first"), *bad_tools(), tool("last")]},
    "modern-bad-tool": lambda page: {"tools": [tool("first"), *bad_tools(), tool("last")], **MODERN},
    "many": lambda page: {"tools": [tool(f"tool-{number:05}") for number in range(10_500)]},
    "pages": pages,
    "endless": lambda page: {"tools": [tool(f"tool-{page}")], "nextCursor": str(page + 1)},
    "empty-pages": lambda page: {"tools": [], "nextCursor": str(page + 1)},
    "same-cursor": lambda page: {"tools": [tool(f"tool-{time.monotonic_ns()}")], "nextCursor": "1"},
    "huge": lambda page: {
        "tools": [tool("wordy", description="word " * 400_000), tool("wide", inputSchema=wide()), tool("ok")]
    },
    "duplicates": lambda page: {
        "tools": [tool("same", description="first"), tool("same", description="second"), tool("other")]
    },
    "unicode": lambda page: {
        "tools": [tool(name) for name in ("werkzeug-größe", "工具", "🔧", "bad\nname", "")]
    },
    "environment": lambda page: {"tools": [tool(name) for name in sorted(os.environ)]},
}


def hang() -> None:
    time.sleep(600)


def crash() -> None:
    sys.stderr.write("starting\ncannot find the key sesame-open-1234\n")
    sys.exit(3)


def talk_nonsense() -> None:
    sys.stdout.write("Welcome!\n{]\n")
    sys.stdout.flush()
    hang()


def talk_without_end() -> None:
    while True:
        sys.stdout.write("x" * 1_000_000)


def start_a_child() -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open(sys.argv[2], "w") as file:
        file.write(f"{os.getpid()} {child.pid}")


def start_a_child_and_hang() -> None:
    start_a_child()
    hang()


STARTS: dict[str, Callable[[], object]] = {
    "hangs": hang,
    "crashes": crash,
    "garbage-only": talk_nonsense,
    "endless-line": talk_without_end,
    "noisy": lambda: sys.stdout.write("Listening on stdio\n[1, 2\n\n"),
    "floods-stderr": lambda: sys.stderr.write("log line\n" * 500_000),
    "has-a-child": start_a_child,
    "hangs-with-a-child": start_a_child_and_hang,
}


def list_tools(way: str, id: object, cursor: str | None) -> None:
    if way == "tools-fail":
        fail(id, -32603, "the token sesame-open-1234 has expired")
    elif way == "crashes-mid-list":
        if cursor:
            os._exit(4)
        say(id, {"tools": [tool("half")], "nextCursor": "1"})
    else:
        say(id, LISTS[way](int(cursor or 0)) if way in LISTS else {"tools": [tool("echo")]})


def answer(way: str, request: Message) -> None:
    id, method, params = request.get("id"), request["method"], request.get("params") or {}
    if method == "initialize":
        offers: Message = {"tools": {}, "prompts": {}} if way == "prompts-fail" else {"tools": {}}
        about = {"name": "rogue", "version": "1"}
        say(id, {"protocolVersion": params["protocolVersion"], "capabilities": offers, "serverInfo": about})
    elif method == "server/discover" and way.startswith("modern"):
        say(id, DISCOVERED)
    elif method == "tools/list":
        list_tools(way, id, params.get("cursor"))
    elif method == "prompts/list":
        fail(id, -32603, "no prompts today")
    elif id is not None:
        fail(id, -32601, f"no method {method}")


def main() -> None:
    way = sys.argv[1]
    STARTS.get(way, lambda: None)()
    for number, request in enumerate(requests()):
        if way == "initialize-first" and number == 0 and request["method"] != "initialize":
            sys.exit(1)
        answer(way, request)


main()
