"""An offer as it is kept: in parts that many offers share, so that what is shown every turn is stored once.

Above: the recording of turns. Below: payloads. Long paragraphs and tools are contents of their own, to which
an offer refers by digest; whatever is short stands in it. Put together again it is the offer, to the letter,
but for credentials, which are taken out before anything is kept.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from prowess.journal import canonical
from prowess.journal.payloads import Payload
from prowess.types import JsonObject, Offer

BETWEEN = "\n\n"
SHORT = 200
"""Characters up to which a part stands in the offer itself."""
REMEMBERED = 4096

Redact = Callable[[str], str]
Part = str | Mapping[str, str]
"""A text, or `{"payload": DIGEST}` where it is kept."""


class Packing:
    """Turns offers into payloads; a part that was there before is neither redacted nor hashed again."""

    def __init__(self) -> None:
        self._parts: dict[str, Payload] = {}

    def pack(self, offer: Offer, redact: Redact) -> tuple[Payload, ...]:
        """The offer, then the contents that it refers to."""
        texts = [self._text(part, redact) for part in offer.text.split(BETWEEN)]
        tools = [self._tool(tool, redact) for tool in offer.tools]
        body = msgspec.to_builtins(replace(offer, id="", text="", tools=()))
        body |= {"text": [_part(one) for one in texts], "tools": [_part(one) for one in tools]}
        long = {one.digest: one for one in (*texts, *tools) if len(one.body) > SHORT}
        return (Payload.of(canonical(body)), *long.values())

    def _text(self, text: str, redact: Redact) -> Payload:
        return self._parts.get(text) or self._remember(text, redact(text))

    def _tool(self, tool: JsonObject, redact: Redact) -> Payload:
        text = msgspec.json.encode(tool).decode()
        known = self._parts.get(text)
        return known or self._remember(text, msgspec.json.encode(redacted_values(tool, redact)).decode())

    def _remember(self, text: str, redacted: str) -> Payload:
        if len(self._parts) >= REMEMBERED:
            self._parts = {}
        self._parts[text] = Payload.of(redacted)
        return self._parts[text]


def unpack(id: str, body: str, read: Callable[[set[str]], Mapping[str, str]]) -> Offer | None:
    """The offer that was packed; nothing, if one of its parts is not kept any more."""
    packed = msgspec.json.decode(body)
    wanted = set(_digests(packed))
    kept = read(wanted)
    if wanted - kept.keys():
        return None
    text = BETWEEN.join(_text(part, kept) for part in packed["text"])
    tools: list[JsonObject] = [msgspec.json.decode(_text(part, kept)) for part in packed["tools"]]
    return msgspec.convert(packed | {"id": id, "text": text, "tools": tools}, Offer)


def redacted_values(value: Any, redact: Redact) -> Any:
    """JSON whose texts were redacted one by one, so that it stays JSON."""
    match value:
        case str():
            return redact(value)
        case Mapping():
            return {key: redacted_values(each, redact) for key, each in value.items()}
        case list() | tuple():
            return [redacted_values(each, redact) for each in value]
    return value


def _part(payload: Payload) -> Part:
    return {"payload": payload.digest} if len(payload.body) > SHORT else payload.body


def _digests(packed: Mapping[str, Any]) -> Iterator[str]:
    return (part["payload"] for part in (*packed["text"], *packed["tools"]) if not isinstance(part, str))


def _text(part: Part, kept: Mapping[str, str]) -> str:
    return part if isinstance(part, str) else kept[part["payload"]]
