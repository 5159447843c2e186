"""What the gateway answers to the first question of a client, known before anything is loaded. Pure.

Above: `first_answers`, which gives these answers, and `server`, which says the same through the SDK.
"""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

NAME = "prowess"
INSTRUCTIONS = (
    "One server in front of many. discover_capabilities finds what fits a task and says how to call it;"
    " call_read_only and call_with_effects call it."
)
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The revisions that begin with `initialize`, the newest last."""
NEWEST_VERSION = "2026-07-28"
"""The revision whose every request names it; its clients begin with `server/discover`."""
META = "io.modelcontextprotocol/"
EXTENSIONS: Mapping[str, dict[str, Any]] = {"io.modelcontextprotocol/ui": {}}
"""What is passed on beyond the protocol itself: pages of MCP Apps, which tools and resources name."""

TASK_VERSION = "2025-11-25"
"""The revision in which clients may make calls as tasks."""
TASKS: Mapping[str, Any] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}

Message = Mapping[str, Any]


def package_version() -> str:
    try:
        return version(NAME)
    except PackageNotFoundError:
        return "0"


def first_answer(message: Message, instructions: str = INSTRUCTIONS) -> dict[str, Any] | None:
    """The result of a well-formed first request; nothing where that is for the SDK to judge."""
    params = message.get("params")
    if message.get("jsonrpc") != "2.0" or not _is_id(message.get("id")) or not isinstance(params, Mapping):
        return None
    match message.get("method"):
        case "initialize":
            return _initialized(params, instructions) if _is_handshake(params) else None
        case "server/discover":
            return _discovered(instructions) if _is_newest(params) else None
    return None


def _is_id(id: object) -> bool:
    return isinstance(id, str | int) and not isinstance(id, bool)


def _is_handshake(params: Message) -> bool:
    return (
        isinstance(params.get("protocolVersion"), str)
        and _is_object_of_objects(params.get("capabilities"))
        and _is_client(params.get("clientInfo"))
    )


def _is_object_of_objects(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(each, Mapping) for each in value.values())


def _is_client(about: object) -> bool:
    return isinstance(about, Mapping) and all(isinstance(about.get(key), str) for key in ("name", "version"))


def _is_newest(params: Message) -> bool:
    meta = params.get("_meta")
    return (
        isinstance(meta, Mapping)
        and meta.get(f"{META}protocolVersion") == NEWEST_VERSION
        and _is_object_of_objects(meta.get(f"{META}clientCapabilities"))
        and _is_client(meta.get(f"{META}clientInfo"))
    )


def _initialized(params: Message, instructions: str) -> dict[str, Any]:
    asked = params["protocolVersion"]
    version = asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
    return {
        "capabilities": _capabilities() | ({"tasks": dict(TASKS)} if version == TASK_VERSION else {}),
        "instructions": instructions,
        "protocolVersion": version,
        "serverInfo": {"name": NAME, "version": package_version()},
    }


def _discovered(instructions: str) -> dict[str, Any]:
    return {
        "cacheScope": "private",
        "capabilities": _capabilities() | {"extensions": dict(EXTENSIONS)},
        "instructions": instructions,
        "resultType": "complete",
        "supportedVersions": [NEWEST_VERSION],
        "ttlMs": 0,
        "_meta": {f"{META}serverInfo": {"name": NAME, "version": package_version()}},
    }


def _capabilities() -> dict[str, Any]:
    return {
        "completions": {},
        "logging": {},
        "prompts": {"listChanged": True},
        "resources": {"listChanged": True, "subscribe": True},
        "tools": {"listChanged": True},
    }
