"""Which of the kinds of content an operation takes is used, and what a kind can be made from.

Above: the arguments of an operation, and the bodies of its requests. Below: the document as plain values.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from prowess.sources.openapi.schemas import ApiDocument

Kind = Literal["json", "multipart", "form", "text", "bytes", ""]
"""How content is made; the empty one cannot be made."""

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
OCTETS = "application/octet-stream"
JSON_RANGES = ("*/*", "application/*")
"""Ranges that JSON belongs to."""
TEXTS = (
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/graphql",
    "application/sql",
)
JSON_SEQUENCES = ("application/jsonl", "application/x-ndjson", "application/json-seq")
WELL_FORMED = re.compile(
    r"[\w!#$&^.+*-]+/[\w!#$&^.+*-]+( *; *[\w!#$&^.+-]+=(\"[^\"\\\x00-\x1f]*\"|[\w!#$&^.+-]+))*", re.ASCII
)
ORDER: tuple[Kind, ...] = ("json", "multipart", "form", "text", "bytes", "")


@dataclass(frozen=True, slots=True)
class Media:
    """One kind of content as the document declares it."""

    type: str = ""
    schema: Any = None
    encoding: Mapping[str, Any] = field(default_factory=dict)
    is_ordered: bool = False
    """Whether its parts are told apart by their order, which has no names to give arguments by."""

    @property
    def kind(self) -> Kind:
        return kind_of(self.type)


def kind_of(media_type: str) -> Kind:
    """How content of this type is made."""
    bare = essence(media_type)
    if not all(WELL_FORMED.fullmatch(one.strip()) for one in media_type.split(",")):
        return ""
    if bare.endswith(("/json", "+json")) or bare in JSON_RANGES:
        return "json"
    if bare in (FORM, MULTIPART):
        return "form" if bare == FORM else "multipart"
    if bare.startswith("text/") or bare.endswith(("+xml", "+yaml")) or bare in (*TEXTS, *JSON_SEQUENCES):
        return "text"
    return "" if bare.startswith("multipart/") else "bytes"


def essence(media_type: str) -> str:
    """A media type without its parameters."""
    return media_type.partition(";")[0].strip().lower()


def chosen_media(document: ApiDocument, content: Any) -> Media:
    """The kind of content to use: JSON before anything else, and none that cannot be made if another can."""
    listed = [one for one in content if isinstance(one, str)] if isinstance(content, Mapping) else []
    if not listed:
        return Media()
    types = sorted(listed, key=lambda one: ORDER.index(kind_of(one)))
    media = document.follow(content[types[0]], "the content")
    encoding = media.get("encoding")
    return Media(
        _alternatives(types),
        media.get("schema", {}),
        encoding if isinstance(encoding, Mapping) else {},
        "prefixEncoding" in media or "itemEncoding" in media,
    )


def _alternatives(types: list[str]) -> str:
    """The first type; of several kinds of bytes all, since the bytes given say which they are."""
    if kind_of(types[0]) != "bytes":
        return types[0]
    return ", ".join(one for one in types if kind_of(one) == "bytes")
