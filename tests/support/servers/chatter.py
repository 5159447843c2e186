"""An MCP server that says every 10 ms that its tools changed, and counts what it said and was asked."""

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
OUT = threading.Lock()


def send(message: dict[str, Any]) -> None:
    with OUT:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def note(name: str, count: int) -> None:
    """A count that whoever looks reads whole."""
    beside = FOLDER / f"{name}.new"
    beside.write_text(str(count))
    os.replace(beside, FOLDER / name)


def chatter() -> None:
    for count in range(1, 100_000):
        send({"method": "notifications/tools/list_changed"})
        note("said", count)
        time.sleep(0.01)


def tool(number: int) -> dict[str, Any]:
    return {"name": "tell", "description": f"Tells {number}.", "inputSchema": {"type": "object"}}


def main() -> None:
    listed = 0
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result: dict[str, Any] = {}
        if request["method"] == "initialize":
            abilities = {"tools": {"listChanged": True}}
            about = {"name": "chatter", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": abilities, "serverInfo": about}
        elif request["method"] == "tools/list":
            listed += 1
            note("listed", listed)
            result = {"tools": [tool(listed)]}
            if listed == 1:
                threading.Thread(target=chatter, daemon=True).start()
        else:
            send({"id": request["id"], "error": {"code": -32601, "message": "no"}})
            continue
        send({"id": request["id"], "result": result})


main()
