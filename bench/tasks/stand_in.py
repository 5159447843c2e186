"""One of the servers of stand_ins.yaml over raw pipes: `python -m bench.tasks.stand_in mail`."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).with_name("stand_ins.yaml")

Message = dict[str, Any]


def listing(tools: Mapping[str, Message]) -> list[Message]:
    """The tools of one server, as `tools/list` gives them."""
    return [
        {
            "name": name,
            "description": tool["says"],
            "inputSchema": schema(tool["takes"]),
            "annotations": {"readOnlyHint": bool(tool.get("reads"))},
        }
        for name, tool in tools.items()
    ]


def schema(takes: Mapping[str, str]) -> Message:
    """The JSON Schema that the short form stands for."""
    properties: Message = {}
    for name, said in takes.items():
        kind, _, about = said.partition(": ")
        items = {"items": {"type": "string"}} if kind == "array" else {}
        properties[name.removesuffix("!")] = {"type": kind, "description": about, **items}
    required = [name[:-1] for name in takes if name.endswith("!")]
    return {"type": "object", "properties": properties, "required": required}


def called(tools: Mapping[str, Message], params: Message) -> Message:
    """What a call gives: an error where something required is missing."""
    tool = tools[params["name"]]
    given = params.get("arguments") or {}
    missing = [name for name in schema(tool["takes"])["required"] if name not in given]
    text = f"missing: {', '.join(missing)}" if missing else tool["gives"]
    return {"content": [{"type": "text", "text": text}], "isError": bool(missing)}


def answer(name: str, tools: Mapping[str, Message], message: Message) -> Message | None:
    match message.get("method"):
        case "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": name, "version": "1.0.0"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": listing(tools)}
        case "tools/call":
            return called(tools, message["params"])
    return None


def main(name: str) -> None:
    tools = yaml.safe_load(FILE.read_text(encoding="utf-8"))[name]
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        result = answer(name, tools, message)
        said = {"result": result} if result else {"error": {"code": -32601, "message": "no such method"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
