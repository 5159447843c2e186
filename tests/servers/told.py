"""An MCP server over raw pipes that offers and answers what a JSON file says: `told.py FILE.json`.

Keys: `tools`, `resources`, `resourceTemplates`; `answers`, a result for each tool; `raw`, a line for each
tool that is written as it stands, with ID in the place of the request's id; `waits`, a file that is made when
the tools are asked for, a second before they are told; `endless`, how long each message is that a tool
reports for ever instead of answering.
"""

import json
import sys
import time
from typing import Any

Message = dict[str, Any]

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


def result_of(method: str, params: Message, told: Message) -> Message | None:
    if method in LISTS:
        return {LISTS[method]: told.get(LISTS[method], [])}
    if method == "initialize":
        about = {"name": told.get("name", "told"), "version": "1"}
        offers: Message = {"tools": {}, "resources": {}}
        return {"protocolVersion": params["protocolVersion"], "capabilities": offers, "serverInfo": about}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "text": f"content of {params['uri']}"}]}
    if method == "tools/call":
        called: Message = {"content": [{"type": "text", "text": "called"}]}
        answers: dict[str, Message] = told.get("answers", {})
        return answers.get(params["name"], called)
    return None


def answer(request: Message, told: Message) -> str:
    params = request.get("params") or {}
    raw = told.get("raw", {}).get(params.get("name"))
    if request["method"] == "tools/call" and raw is not None:
        return str(raw).replace("ID", json.dumps(request["id"]))
    result = result_of(request["method"], params, told)
    said = {"result": result} if result else {"error": {"code": -32601, "message": "no such method"}}
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], **said})


def report_for_ever(params: Message, length: int) -> None:
    token, number = (params.get("_meta") or {}).get("progressToken"), 0
    while True:
        number += 1
        said = {"progressToken": token, "progress": number, "message": "x" * length}
        notification = {"jsonrpc": "2.0", "method": "notifications/progress", "params": said}
        sys.stdout.write(json.dumps(notification) + "\n")
        sys.stdout.flush()


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            with open(sys.argv[1]) as file:
                told = json.load(file)
            params = request.get("params") or {}
            if request["method"] == "tools/call" and params["name"] in told.get("endless", {}):
                report_for_ever(params, told["endless"][params["name"]])
            if request["method"] == "tools/list" and "waits" in told:
                open(told["waits"], "w").close()
                time.sleep(1)
            sys.stdout.write(answer(request, told) + "\n")
            sys.stdout.flush()


main()
