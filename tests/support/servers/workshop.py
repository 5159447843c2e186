"""An MCP server over raw pipes whose tools do, one by one, what servers do to their callers.

Each call runs in a thread, so that calls overlap. An argument names the way: `many` has 5,000 tools,
`odd` has unicode and duplicate names, `number:N` has N tools, `late` takes three seconds to start.
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

Message = dict[str, Any]

OUT = threading.Lock()
READS: Message = {"readOnlyHint": True}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
COUNT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
WAY = sys.argv[1] if len(sys.argv) > 1 else ""
CANCELLED: set[object] = set()
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def tool(
    name: str, description: str, schema: Message | None = None, annotations: Message | None = None
) -> Message:
    return {
        "name": name,
        "description": description,
        "inputSchema": schema or {"type": "object", "properties": {}},
        "annotations": annotations or {},
    }


TOOLS = [
    tool("echo", "Repeat a text.", TEXT, annotations=READS),
    tool("engrave", "Engrave a text into a plate of brass.", TEXT),
    tool("sleep", "Wait some seconds.", COUNT, annotations=READS),
    tool("hang", "Never answer.", annotations=READS),
    tool("die", "End the server in the middle of the call.", annotations=READS),
    tool("long", "Return a long text of so many characters.", COUNT, annotations=READS),
    tool("garble", "Write nonsense, then answer.", annotations=READS),
    tool("picture", "Return a picture, a link and structured content.", annotations=READS),
    tool("complain", "Fail with an error result.", annotations=READS),
    tool("reject", "Fail with a protocol error that repeats a secret.", annotations=READS),
    tool("count", "Count with progress.", COUNT, annotations=READS),
    tool("grow", "Offer one more tool from now on.", annotations=READS),
    tool("alter", "Say something else of the tool engrave, or `rename` it.", TEXT, annotations=READS),
    tool("was_cancelled", "Whether any call was cancelled.", annotations=READS),
    tool("pid", "The process id of this server.", annotations=READS),
]


def listed() -> list[Message]:
    if WAY == "many":
        return [tool(f"tool_{n:04}", f"Does thing number {n}.", TEXT, annotations=READS) for n in range(5000)]
    if WAY.startswith("number:"):
        return [
            tool(f"tool_{n:04}", f"Does thing number {n}.", TEXT, annotations=READS)
            for n in range(int(WAY[7:]))
        ]
    if WAY == "odd":
        names = ("größe-messen", "工具", "same", "same", "Same", "a b", "x" * 120)
        return [tool(name, f"The tool called {name}.", annotations=READS) for name in names]
    return TOOLS


def send(message: Message) -> None:
    with OUT:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def text(said: str) -> Message:
    return {"content": [{"type": "text", "text": said}]}


def picture() -> Message:
    return {
        "content": [
            {"type": "image", "data": PIXEL, "mimeType": "image/png"},
            {"type": "resource_link", "uri": "shop://plan", "name": "plan"},
            {"type": "text", "text": "a picture", "annotations": {"audience": ["user"]}},
        ],
        "structuredContent": {"width": 1, "nested": {"list": [1, 2.5, None]}},
        "_meta": {"example.com/kept": True},
    }


def grow() -> Message:
    TOOLS.append(tool("solder", "Solder two wires together with tin.", annotations=READS))
    send({"method": "notifications/tools/list_changed"})
    return text("done")


def alter(how: str) -> Message:
    found = next(one for one in TOOLS if one["name"] in ("engrave", "etch"))
    if how == "rename":
        found["name"] = "etch"
    else:
        found["description"] = how
    send({"method": "notifications/tools/list_changed"})
    return text("done")


def count(arguments: Message, token: object) -> Message:
    total = arguments["count"]
    for n in range(total):
        if token is not None:
            params = {"progressToken": token, "progress": n, "total": total, "message": f"at {n}"}
            send({"method": "notifications/progress", "params": params})
        time.sleep(0.02)
    return text("counted")


def garble() -> Message:
    with OUT:
        sys.stdout.write('{"jsonrpc": "2.0", "id"\n[]\n\x00\n')
    return text("garble")


def after(seconds: float) -> Message:
    time.sleep(seconds)
    return text("awake")


def die() -> Message:
    os.kill(os.getpid(), signal.SIGKILL)
    return text("still here")


WORK: dict[str, Callable[[Message, Message], Message]] = {
    "sleep": lambda arguments, meta: after(arguments["count"]),
    "hang": lambda arguments, meta: after(600),
    "die": lambda arguments, meta: die(),
    "long": lambda arguments, meta: text("x" * arguments["count"]),
    "garble": lambda arguments, meta: garble(),
    "picture": lambda arguments, meta: picture(),
    "complain": lambda arguments, meta: {**text("the drill is broken"), "isError": True},
    "count": lambda arguments, meta: count(arguments, meta.get("progressToken")),
    "grow": lambda arguments, meta: grow(),
    "alter": lambda arguments, meta: alter(arguments["text"]),
    "was_cancelled": lambda arguments, meta: text(str(bool(CANCELLED))),
    "pid": lambda arguments, meta: text(str(os.getpid())),
}


def work(name: str, arguments: Message, meta: Message) -> Message:
    if name in WORK:
        return WORK[name](arguments, meta)
    return text(arguments.get("text", name))


def call(id: object, params: Message) -> None:
    if params["name"] == "reject":
        send({"id": id, "error": {"code": -32602, "message": f"bad key {os.environ.get('SHOP_KEY')}"}})
        return
    result = work(params["name"], params.get("arguments") or {}, params.get("_meta") or {})
    if id not in CANCELLED:
        send({"id": id, "result": result})


def answer(request: Message) -> None:
    id, method, params = request.get("id"), request["method"], request.get("params") or {}
    if method == "initialize":
        offers = {"tools": {"listChanged": True}}
        about = {"name": "workshop", "version": "1"}
        version = params["protocolVersion"]
        send({"id": id, "result": {"protocolVersion": version, "capabilities": offers, "serverInfo": about}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": listed()}})
    elif method == "tools/call":
        threading.Thread(target=call, args=(id, params), daemon=True).start()
    elif method == "notifications/cancelled":
        CANCELLED.add(params["requestId"])
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": f"no method {method}"}})


def main() -> None:
    if WAY == "late":
        time.sleep(3)
    for line in sys.stdin:
        answer(json.loads(line))


main()
