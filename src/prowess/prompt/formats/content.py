"""What came of a call, in the content blocks of MCP, as each provider can show it."""

import json
from collections.abc import Collection, Iterable
from typing import NamedTuple

from prowess.types import CallResult, Json, JsonObject

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The images that OpenAI and Anthropic take."""
FOUND_NOTHING = "No tool was found."


class Image(NamedTuple):
    """A picture in a result."""

    media_type: str
    data: str  # base64

    @property
    def url(self) -> str:
        return f"data:{self.media_type};base64,{self.data}"


def shown(result: CallResult, images: Collection[str] = ()) -> list[str | Image]:
    """The content in its order, as texts and images. Where it has no text, the result as data is one.

    images: the types of image that can be shown; of every other thing there is a word in its place.
    """
    parts = [image_of(block, images) or as_text(block) for block in with_text(result)]
    return [part for part in parts if part]


def with_text(result: CallResult) -> list[JsonObject]:
    """The content; where it has no text, the result as data comes first, as one."""
    if result.structured is None or result.text:
        return list(result.content)
    return [text_block(json.dumps(result.structured, ensure_ascii=False)), *result.content]


def text_block(text: str) -> JsonObject:
    """A text, as MCP writes it."""
    return {"type": "text", "text": text}


def shown_text(result: CallResult) -> str:
    """The content as one text, which says so where it is an error: for formats that have no word for that."""
    text = "\n".join(str(part) for part in shown(result))
    return f"Error: {text}" if result.is_error and not text.casefold().startswith("error") else text


def image_of(block: JsonObject, images: Collection[str]) -> Image | None:
    """The image that a block is, if it is one of these types."""
    held = block.get("resource") if block.get("type") == "resource" else block
    if not isinstance(held, dict):
        return None
    media_type, data = str(held.get("mimeType", "")).lower(), held.get("data", held.get("blob"))
    return Image(media_type, data) if media_type in images and isinstance(data, str) else None


def as_text(block: JsonObject) -> str:
    """A block in words."""
    kind, held = block.get("type"), block.get("resource")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "resource_link":
        return " ".join(str(block[name]) for name in ("name", "uri", "description") if block.get(name))
    if isinstance(held, dict) and "text" in held:
        return f"{held.get('uri', '')}\n{held['text']}".strip()
    media_type = (held if isinstance(held, dict) else block).get("mimeType")
    return (
        f"[{kind or 'something'}{f' of type {media_type}' if media_type else ''} that cannot be shown here]"
    )


def found_text(definitions: Iterable[JsonObject]) -> str:
    """Tools that a search found, for a model that reads them as text."""
    names = ("name", "description", "input_schema")
    said = [{name: one[name] for name in names if name in one} for one in definitions]
    return json.dumps(said, ensure_ascii=False) if said else FOUND_NOTHING


def plain(said: object) -> Json:
    """What an SDK's object holds, as JSON; anything else as it is."""
    dump = getattr(said, "model_dump", None)
    return dump() if callable(dump) else said


def members(said: object, name: str) -> list[JsonObject]:
    """The objects in a list that an object holds under this name."""
    held = plain(said)
    listed = held.get(name) if isinstance(held, dict) else None
    return objects(listed)


def is_named(one: JsonObject) -> bool:
    """Whether it says what is to be called."""
    return isinstance(one.get("name"), str)


def objects(listed: object) -> list[JsonObject]:
    """The objects in a list, each as JSON."""
    each = [plain(one) for one in listed] if isinstance(listed, list | tuple) else []
    return [one for one in each if isinstance(one, dict)]
