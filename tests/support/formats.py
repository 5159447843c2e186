"""Tools, calls and results as the tests of the formats write them; run it to record the formats anew:
`python -m tests.support.formats`."""

import json

from prowess.prompt.formats.known import FORMATS
from prowess.prompt.render import DISCOVER_TOOL
from prowess.types import CallResult, Json, ToolCall
from tests.support.places import DATA

RECORDED = DATA / "formats"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mNgYGAAAAAEAAHI6uv5AAAAAElFTkSuQmCC"
"""One pixel; the same text in both alphabets of base64."""

FLIGHTS: Json = {
    "name": "find_flights",
    "description": "Find flights between two airports.",
    "input_schema": {
        "type": "object",
        "properties": {
            "origin": {"type": "string", "description": "Airport, such as OSL"},
            "day": {"type": "string", "format": "date"},
            "seats": {"type": "integer", "minimum": 1, "default": 1},
            "cabin": {"type": "string", "enum": ["economy", "business"]},
            "traveller": {"$ref": "#/$defs/Traveller", "description": "Who flies"},
        },
        "required": ["origin", "day"],
        "$defs": {
            "Traveller": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "born": {"type": "string", "format": "date"}},
                "required": ["name"],
            }
        },
    },
    "title": "Find flights",
    "output_schema": {"type": "object", "properties": {"flights": {"type": "array"}}},
    "annotations": {"readOnlyHint": True},
    "meta": {"anthropic/alwaysLoad": True},
}
LABELS: Json = {
    "name": "github__set_labels",
    "description": "Set the labels of an issue.",
    "input_schema": {
        "type": "object",
        "properties": {"labels": {"type": "object", "additionalProperties": {"type": "string"}}},
        "required": ["labels"],
    },
}
"""What strict mode cannot say: an object with names that nobody knows."""
EITHER: Json = {
    "name": "show_version",
    "description": "Show one version, or what changed between two.",
    "input_schema": {
        "type": "object",
        "properties": {"version": {"type": "string"}},
        "anyOf": [
            {"required": ["version"]},
            {"properties": {"since": {"type": "string"}}, "required": ["since"]},
        ],
    },
}
"""What providers refuse with the whole request: alternatives at the top."""
DEFINITIONS: tuple[Json, ...] = (DISCOVER_TOOL, FLIGHTS, LABELS, EITHER)

CALL = ToolCall(name="find_flights", arguments={"origin": "OSL", "day": "2026-12-01"}, id="call_1")
SEARCH = ToolCall(name="discover_capabilities", arguments={"query": "flights to Oslo"}, id="call_2")
TEXT = {"type": "text", "text": "SK4035 leaves at 09:10."}
RESULTS = {
    "text": CallResult(capability="tool:find_flights", ending="ok", content=(TEXT,)),
    "image": CallResult(
        capability="tool:find_flights",
        ending="ok",
        content=(
            TEXT,
            {"type": "image", "data": PNG, "mimeType": "image/png"},
            {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///fares.csv", "text": "SK4035,129"}},
            {"type": "resource_link", "name": "fares", "uri": "file:///all.csv", "description": "All fares"},
        ),
    ),
    "structured": CallResult(
        capability="tool:find_flights", ending="ok", structured={"flights": ["SK4035"]}, meta={"page": 1}
    ),
    "error": CallResult(
        capability="tool:find_flights",
        ending="failed",
        content=(
            {**TEXT, "text": "no airport OSLO"},
            {"type": "image", "data": PNG, "mimeType": "image/png"},
        ),
    ),
    "nothing": CallResult(capability="tool:find_flights", ending="ok"),
}


def written() -> dict[str, Json]:
    """Everything that each format writes, by its name."""
    return {
        each.name: {
            "tools": each.tools(DEFINITIONS),
            "strict": each.tools(DEFINITIONS, strict=True),
            "deferred": each.tools(DEFINITIONS, defer={"find_flights", "github__set_labels"}),
            "results": {name: each.result(CALL, result) for name, result in RESULTS.items()},
            "found": each.found(SEARCH, [FLIGHTS, LABELS]),
            "found_nothing": each.found(SEARCH, []),
        }
        for each in FORMATS
    }


if __name__ == "__main__":
    RECORDED.mkdir(exist_ok=True)
    for name, everything in written().items():
        text = json.dumps(everything, indent=1, ensure_ascii=False)
        (RECORDED / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
