"""An MCP server over raw pipes that offers and answers what a JSON file says: `told.py FILE.json`.

Keys: `tools`, `resources`, `resourceTemplates`; `answers`, a result for each tool; `raw`, a line for each
tool that is written as it stands, with ID in the place of the request's id; `waits`, a file that is made when
the tools are asked for, a second before they are told; `endless`, how long each message is that a tool
reports for ever instead of answering; `large`, how many megabytes a tool answers; `noise`, how many lines it
prints before; `dribbles`, tools whose answer comes byte by byte; `crashes`, tools that end the server;
`refuses_once`, methods whose first request gets an
error; `restless`, seconds between two times at which it says that its tools changed, and they have.
"""

import itertools
import json
import os
import sys
import time
from collections.abc import Iterator
from threading import Lock, Thread
from typing import Any

Message = dict[str, Any]

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


class Told:
    """What the file says, and what has been said."""

    def __init__(self, content: Message) -> None:
        self.content = content
        self.refusing = list(content.get("refuses_once", ()))
        self._times = itertools.count(1)
        self._speaking = Lock()

    def say(self, text: str) -> None:
        with self._speaking:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()

    def notify(self, method: str, **params: object) -> None:
        self.say(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}))

    def listed(self, name: str) -> list[Message]:
        entries: list[Message] = self.content.get(name, [])
        if "restless" not in self.content:
            return entries
        time_of_it = next(self._times)
        return [{**entry, "description": f"{entry['description']} Again: {time_of_it}."} for entry in entries]

    def result_of(self, method: str, params: Message) -> Message | None:
        if method in LISTS:
            return {LISTS[method]: self.listed(LISTS[method])}
        if method == "initialize":
            about = {"name": self.content.get("name", "told"), "version": "1"}
            offers: Message = {"tools": {"listChanged": True}, "resources": {}}
            return {"protocolVersion": params["protocolVersion"], "capabilities": offers, "serverInfo": about}
        if method == "resources/read":
            return {"contents": [{"uri": params["uri"], "text": f"content of {params['uri']}"}]}
        return self.called(params["name"]) if method == "tools/call" else None

    def called(self, name: str) -> Message:
        text = "x" * 1_000_000 * self.content.get("large", {}).get(name, 0) or "called"
        answers: dict[str, Message] = self.content.get("answers", {})
        return answers.get(name, {"content": [{"type": "text", "text": text}]})

    def misbehave(self, method: str, params: Message) -> None:
        """What comes before an answer, or instead of it."""
        if method == "tools/list" and "waits" in self.content:
            open(self.content["waits"], "w").close()
            time.sleep(1)
        if method != "tools/call":
            return
        name = params["name"]
        if name in self.content.get("crashes", ()):
            os._exit(1)
        for number in range(self.content.get("noise", {}).get(name, 0)):
            self.say(f"[debug] line {number}")
        if name in self.content.get("endless", {}):
            self.report_for_ever(params, self.content["endless"][name])

    def report_for_ever(self, params: Message, length: int) -> None:
        token = (params.get("_meta") or {}).get("progressToken")
        for number in itertools.count(1):
            self.notify("notifications/progress", progressToken=token, progress=number, message="x" * length)

    def answer(self, request: Message) -> str:
        params = request.get("params") or {}
        if request["method"] in self.refusing:
            self.refusing.remove(request["method"])
            error = {"code": -32603, "message": "not yet"}
            return json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error})
        raw = self.content.get("raw", {}).get(params.get("name"))
        if request["method"] == "tools/call" and raw is not None:
            return str(raw).replace("ID", json.dumps(request["id"]))
        result = self.result_of(request["method"], params)
        said = {"result": result} if result else {"error": {"code": -32601, "message": "no such method"}}
        return json.dumps({"jsonrpc": "2.0", "id": request["id"], **said})

    def restless(self, seconds: float) -> None:
        while True:
            time.sleep(seconds)
            self.notify("notifications/tools/list_changed")


def requests() -> Iterator[Message]:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            yield request


def dribble(text: str) -> None:
    for letter in text + "\n":
        sys.stdout.write(letter)
        sys.stdout.flush()
        time.sleep(0.01)


def main() -> None:
    with open(sys.argv[1]) as file:
        told = Told(json.load(file))
    if "restless" in told.content:
        Thread(target=told.restless, args=(told.content["restless"],), daemon=True).start()
    for request in requests():
        params = request.get("params") or {}
        told.misbehave(request["method"], params)
        said = told.answer(request)
        if params.get("name") in told.content.get("dribbles", ()):
            dribble(said)
        else:
            told.say(said)


main()
