"""An MCP server over raw pipes with the pages of a manual: `python handbook.py FOLDER`, a file for each."""

import json
import sys
from pathlib import Path
from typing import Any

PAGE = {
    "name": "page",
    "description": "Give a page of the manual.",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    "annotations": {"readOnlyHint": True},
}


def answer(method: str, arguments: dict[str, str]) -> dict[str, Any]:
    if method == "initialize":
        about = {"name": "handbook", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/call":
        text = (Path(sys.argv[1]) / arguments["name"]).read_text(encoding="utf-8")
        return {"content": [{"type": "text", "text": text}]}
    return {"tools": [PAGE]}


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            result = answer(message["method"], (message.get("params") or {}).get("arguments") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
