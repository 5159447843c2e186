"""An MCP server over raw pipes that asks back before it answers, in the older way or (`modern`) the newest.

Each tool returns what it was told. In the older way it asks by a request of its own, in the newest by a
result that the caller must bring answers to; `twice` asks two times, one after the other. In the older way
`meanwhile` asks again before it has an answer, and `hasty` does not wait for the one it asked for.
"""

import itertools
import json
import sys
import threading
import time
from queue import Queue
from typing import Any

Message = dict[str, Any]

MODERN = "modern" in sys.argv[1:]
COMPLETE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if MODERN else {}
OUT = threading.Lock()
IDS = itertools.count(1)
WAITING: dict[str, "Queue[Message]"] = {}

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
MESSAGES = [{"role": "user", "content": {"type": "text", "text": "two and two?"}}]
QUESTIONS: dict[str, Message] = {
    "person": {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "Your name?", "requestedSchema": NAME},
    },
    "page": {
        "method": "elicitation/create",
        "params": {"mode": "url", "message": "Pay here", "url": "https://pay.example", "elicitationId": "e1"},
    },
    "model": {"method": "sampling/createMessage", "params": {"messages": MESSAGES, "maxTokens": 5}},
    "roots": {"method": "roots/list", "params": {}},
}
TOOLS = [
    {
        "name": name,
        "description": f"Asks {name} before it answers.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    }
    for name in (*QUESTIONS, "twice", "nothing", "meanwhile", "hasty")
]


def send(message: Message) -> None:
    with OUT:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def say(id: object, result: Message) -> None:
    send({"id": id, "result": {**result, **COMPLETE}})


def text(id: object, told: object) -> None:
    say(id, {"content": [{"type": "text", "text": json.dumps(told)}]})


# --- the older way: a request of our own ---------------------------------------------------------


def ask(name: str) -> Message:
    key = f"q{next(IDS)}"
    waiting = WAITING[key] = Queue()
    send({"id": key, **QUESTIONS[name]})
    answer = waiting.get()
    result: Message = answer.get("result") or {"error": answer["error"]["message"]}
    return result


def ask_aside(name: str) -> "Queue[Message]":
    told: Queue[Message] = Queue()
    threading.Thread(target=lambda: told.put(ask(name)), daemon=True).start()
    time.sleep(0.2)
    return told


def call_older(id: object, name: str) -> None:
    if name == "meanwhile":
        asides = [ask_aside("person"), ask_aside("model")]
        text(id, [aside.get() for aside in asides])
        return
    if name == "hasty":
        ask_aside("person")
        text(id, ["done"])
        return
    asked = {"twice": ("person", "person"), "nothing": ()}.get(name, (name,))
    text(id, [ask(one) for one in asked])


# --- the newest way: a result --------------------------------------------------------------------


def call_newest(id: object, name: str, params: Message) -> None:
    state, told = params.get("requestState"), params.get("inputResponses")
    rounds = 2 if name == "twice" else 0 if name == "nothing" else 1
    heard = json.loads(state) if state else []
    if told:
        heard += list(told.values())
    if len(heard) == rounds:
        text(id, heard)
        return
    question = QUESTIONS["person" if name == "twice" else name]
    asked = {"inputRequests": {"only": question}, "requestState": json.dumps(heard)}
    send({"id": id, "result": {"resultType": "input_required", **asked}})


def answer(request: Message) -> None:
    id, method, params = request.get("id"), request.get("method"), request.get("params") or {}
    if method is None:
        WAITING.pop(str(id)).put(request)
    elif method == "server/discover" and MODERN:
        say(id, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
    elif method == "initialize" and not MODERN:
        about = {"name": "oracle", "version": "1"}
        version = params["protocolVersion"]
        say(id, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about})
    elif method == "tools/list":
        say(id, {"tools": TOOLS})
    elif method == "tools/call" and MODERN:
        call_newest(id, params["name"], params)
    elif method == "tools/call":
        threading.Thread(target=call_older, args=(id, params["name"]), daemon=True).start()
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": f"no method {method}"}})


for line in sys.stdin:
    answer(json.loads(line))
