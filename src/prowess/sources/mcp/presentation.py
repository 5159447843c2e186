"""What a server says of an entry beside its text: icons, annotations, `_meta`, how it may be run.

Above: the `mcp` source, which keeps it with the capability. Below: the SDK's types, read by their attributes.
Clients show it; no model reads it.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from prowess.types import JsonObject

MAX_BYTES = 64 * 1024
"""Bytes of JSON for one entry. Icons may be whole pictures; more than this is left out."""
SHOWN = ("icons", "meta", "execution", "hints", "size")
"""The names under which capabilities keep it."""
OWN_META = "io.modelcontextprotocol/"
"""What concerns only the connection between a server and us."""


def presentation(entry: Any) -> JsonObject:
    """What to keep of it, by the names that capabilities use.

    entry: a tool, prompt, resource or template as the SDK has it.
    """
    said: dict[str, Any] = {
        "icons": [_plain(icon) for icon in entry.icons or ()],
        "meta": _meta(entry.meta or {}),
        "execution": _plain(getattr(entry, "execution", None)),
        "hints": {} if hasattr(entry, "input_schema") else _plain(getattr(entry, "annotations", None)),
        "size": getattr(entry, "size", None),
    }
    kept = {name: value for name, value in said.items() if value not in (None, {}, [])}
    return kept if len(msgspec.json.encode(kept)) <= MAX_BYTES else {}


def _plain(model: Any) -> JsonObject:
    plain: JsonObject = model.model_dump(by_alias=True, mode="json", exclude_none=True) if model else {}
    return plain


def _meta(meta: Mapping[str, Any]) -> JsonObject:
    return {name: value for name, value in meta.items() if not name.startswith(OWN_META)}
