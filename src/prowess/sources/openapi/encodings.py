"""How each property of a form is sent, as its schema and the document's `encoding` say.

Above: the arguments of an operation. Below: the document as plain values. What is kept for a property is
small: its style or its content type, whether it holds bytes, and whether it is a file.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from prowess.sources.openapi.media import OCTETS, Media, essence, kind_of
from prowess.sources.openapi.schemas import ApiDocument

STYLE_FIELDS = ("style", "explode", "allowReserved")
VARIANTS = ("allOf", "anyOf", "oneOf")
TYPING = ("type", "properties", "items", "enum", "const", "$ref", "not", "if", *VARIANTS)
"""Keywords that say what a value is; without any it may be bytes."""
BASE64 = ("base64", "base64url")
BASE64_NOTE = "Base64, or a data: URL, which may say what it is: data:image/png;name=a.png;base64,..."

Encoding = dict[str, Any]


def encodings(document: ApiDocument, media: Media) -> dict[str, Encoding]:
    """What is to be known about each property of a form; most need nothing."""
    found = {}
    for name, schema in _properties(document, media.schema):
        declared = media.encoding.get(name)
        fields = document.follow(declared, f"the encoding of {name!r}") if declared is not None else {}
        encoding = _encoding(document, media, fields, schema)
        if encoding:
            found[name] = encoding
    return found


def fault_of_media(document: ApiDocument, media: Media) -> str:
    """Why a body of this kind cannot be made."""
    if not media.kind:
        return f"its body is sent as {media.type!r}, which is not supported"
    if media.is_ordered:
        return "the parts of its body are told apart by their order, which is not supported"
    if media.kind != "multipart":
        return ""
    for name, declared in media.encoding.items():
        headers = document.follow(declared, f"the encoding of {name!r}").get("headers", {})
        for header, fields in headers.items() if isinstance(headers, Mapping) else ():
            is_own = str(header).lower() not in ("content-type", "content-disposition")
            if is_own and document.follow(fields, "a header").get("required") is True:
                return f"the part {name!r} of its body needs the header {header!r}, which cannot be given"
    return ""


def shown_bytes(schema: Any, encoding: Encoding) -> Any:
    """The schema of a value that holds bytes as a model should see it."""
    if not encoding.get("bytes"):
        return schema
    made: dict[str, Any] = {"type": "string", "contentEncoding": "base64"}
    if "contentType" in encoding:
        made["contentMediaType"] = encoding["contentType"]
    words = schema.get("description", "") if isinstance(schema, Mapping) else ""
    if encoding.get("many"):
        return {"type": "array", "items": made, "description": f"{words} Each in {BASE64_NOTE}".strip()}
    return {**made, "description": f"{words} {BASE64_NOTE}".strip()}


def _properties(document: ApiDocument, schema: Any) -> Iterator[tuple[str, Any]]:
    """The properties of a schema and of all that it is composed of."""
    waiting, seen = [schema], set[int]()
    while waiting:
        one = waiting.pop()
        if not isinstance(one, Mapping):
            continue
        whole = document.follow(one, "the body's schema")
        if id(whole) in seen:
            continue
        seen.add(id(whole))
        for variant in VARIANTS:
            listed = whole.get(variant)
            waiting += listed if isinstance(listed, list) else ()
        own = whole.get("properties")
        yield from own.items() if isinstance(own, Mapping) else ()


def _encoding(document: ApiDocument, media: Media, declared: Mapping[str, Any], schema: Any) -> Encoding:
    styled = {key: declared[key] for key in STYLE_FIELDS if key in declared}
    # Before 3.1 the styles were for forms that are not in parts.
    is_old = str(document.root.get("openapi", "")).startswith("3.0")
    if styled and not (is_old and media.kind == "multipart"):
        return styled
    whole = _single(document, schema)
    made: Encoding = {}
    if whole.get("type") == "array" and isinstance(whole.get("items"), Mapping):
        whole = _single(document, whole["items"])
        made["many"] = True
    made |= _content(whole, is_untyped_bytes=media.kind == "multipart" and not is_old)
    if isinstance(declared.get("contentType"), str):
        made["contentType"] = declared["contentType"]
    return made if made.keys() - {"many"} else {}


def _content(schema: Mapping[str, Any], is_untyped_bytes: bool) -> Encoding:
    """What the value of a property holds: bytes, a file of text, or nothing special."""
    kind, coding = schema.get("contentMediaType"), schema.get("contentEncoding")
    # Any bytes are octets, so what is given may say more exactly what they are.
    made: Encoding = {"contentType": kind} if isinstance(kind, str) and essence(kind) != OCTETS else {}
    if coding in BASE64:
        return {**made, "bytes": coding}
    is_bytes = schema.get("format") == "binary" or (is_untyped_bytes and not any(k in schema for k in TYPING))
    if is_bytes or (isinstance(kind, str) and kind_of(essence(kind)) in ("bytes", "")):
        return {**made, "bytes": "raw"}
    # The text of such a string is the content itself: a file, or JSON that is written already.
    return made and {**made, "file" if kind_of(str(kind)) == "text" else "written": True}


def _single(document: ApiDocument, schema: Any) -> Mapping[str, Any]:
    """The schema itself; of one that only adds something to another, or null, the other."""
    if not isinstance(schema, Mapping):
        return {}
    whole = document.follow(schema, "a property of the body")
    for variant in VARIANTS:
        listed = whole.get(variant)
        if isinstance(listed, list):
            others = [one for one in listed if not isinstance(one, Mapping) or one.get("type") != "null"]
            if len(others) == 1 and isinstance(others[0], Mapping):
                return document.follow(others[0], "a property of the body")
    types = whole.get("type")
    if isinstance(types, list):
        return {**whole, "type": next((one for one in types if one != "null"), "null")}
    return whole
