"""An MCP server over raw pipes that offers what a file says, read anew at each request.

`python shelf.py FILE.json` with the keys `name`, `version`, `tools`, `resources` and `resourceTemplates`.
A resource says whose it is and which URI was asked for; a tool says what it was given, as an error if it is
named `complain` and as one of the protocol if it is named `refuse`.
"""

import json
import sys
from pathlib import Path
from typing import Any

LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
BEGIN = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}, "resources": {}},
}


def answer(message: dict[str, Any], offered: dict[str, Any]) -> dict[str, Any]:
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        about = {"name": "shelf", "version": offered.get("version", "1")}
        return {"result": {**BEGIN, "serverInfo": about}}
    if method in LISTS:
        return {"result": {LISTS[method]: offered.get(LISTS[method], [])}}
    if method == "resources/read":
        text = f"{offered.get('name', '')} has {params['uri']}"
        return {"result": {"contents": [{"uri": params["uri"], "text": text}]}}
    if method == "tools/call":
        given = json.dumps(params.get("arguments"), ensure_ascii=False)
        if params["name"] == "refuse":
            return {"error": {"code": -32000, "message": f"cannot take {given}"}}
        is_error = params["name"] == "complain"
        return {"result": {"content": [{"type": "text", "text": f"given {given}"}], "isError": is_error}}
    return {"error": {"code": -32601, "message": "no"}}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            offered = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer(message, offered)}), flush=True)


if __name__ == "__main__":
    main()
