"""An MCP server over raw pipes that works only with the token of its customer: CRM_TOKEN.

An argument names the way: `strict` does not even start without it, `public` needs none. It says what it was
started with, too.
"""

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

Message = dict[str, Any]
TOKEN = "crm-4711-sesame-open"
WAY = sys.argv[1] if len(sys.argv) > 1 else ""
READS = {"readOnlyHint": True}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NOTHING: Message = {"type": "object", "properties": {}}
TOOLS: list[Message] = [
    {"name": "find_customer", "description": "Find a customer by name.", "inputSchema": TEXT},
    {"name": "list_overdue", "description": "List invoices that are overdue.", "inputSchema": NOTHING},
    {"name": "variables", "description": "The names of its variables.", "inputSchema": NOTHING},
    {"name": "read", "description": "Read a file.", "inputSchema": TEXT},
    {"name": "write", "description": "Write a file.", "inputSchema": TEXT},
    {"name": "reach", "description": "Connect to a port of this machine.", "inputSchema": TEXT},
    {"name": "place", "description": "Its home and its folder.", "inputSchema": NOTHING},
    {"name": "use_memory", "description": "Hold so many MB.", "inputSchema": TEXT},
    {"name": "open_files", "description": "Open so many files.", "inputSchema": TEXT},
    {"name": "fork", "description": "Start so many processes.", "inputSchema": TEXT},
]


def done(name: str, text: str) -> str:
    if name == "variables":
        return " ".join(sorted(os.environ))
    if name == "read":
        return Path(text).read_text()[:200]
    if name == "write":
        Path(text).write_text("written")
        return "written"
    if name == "place":
        return f"{Path.home()} {os.getcwd()}"
    return hungry(name, text) or with_token(name, text)


def hungry(name: str, text: str) -> str:
    """What uses up what a limit is for."""
    if name == "reach":
        import socket

        with socket.create_connection(("127.0.0.1", int(text)), 2):
            return "reached"
    if name == "use_memory":
        return str(len(bytearray(int(text) * 2**20)) // 2**20)
    if name == "open_files":
        with ExitStack() as opened:
            return str(len([opened.enter_context(open("/dev/null")) for _ in range(int(text))]))
    if name == "fork":
        started = [subprocess.Popen(["sleep", "5"]) for _ in range(int(text))]
        return str(len(started))
    return ""


def with_token(name: str, text: str) -> str:
    if os.environ.get("CRM_TOKEN") != TOKEN:
        raise PermissionError("the token is missing or wrong")
    return "Ada Lovelace" if name == "find_customer" else "2 invoices"


def called(params: Message) -> Message:
    try:
        text = done(params["name"], str((params.get("arguments") or {}).get("text", "")))
    except Exception as error:
        return {"content": [{"type": "text", "text": f"{type(error).__name__}: {error}"}], "isError": True}
    return {"content": [{"type": "text", "text": text}], "isError": False}


def answer(message: Message) -> Message | None:
    match message.get("method"):
        case "initialize":
            info = {"name": "crm", "version": os.environ.get("CRM_VERSION") or "1.0.0"}
            version = message["params"]["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [{**tool, "annotations": READS} for tool in TOOLS]}
        case "tools/call":
            return called(message["params"])
    return None


def main() -> None:
    if WAY == "strict" and not os.environ.get("CRM_TOKEN"):
        sys.exit("CRM_TOKEN is required")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(message)
        said = {"result": result} if result else {"error": {"code": -32601, "message": "no such method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}), flush=True)


main()
