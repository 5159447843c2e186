"""Which words a text is made of, for matching, and which text stands for a capability, for encoding.

Everything in discovery reads words through `Words`, so documents and requests always agree.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from prowess.areas import area_of
from prowess.text.stems import MAX_WORD_LENGTH, stem
from prowess.types import Capability
from prowess.word_lists import words_in

STOP_WORDS = Path(__file__).with_name("stop_words.txt")

_CHUNK = re.compile(r"[^\W_]+(?:['\u2019_-][^\W_]+)*")
_PIECE = re.compile(r"[^\W_]+")
_SEPARATORS = re.compile(r"[\W_]+")
_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z]{2})(?=[0-9])")
_POSSESSIVE = re.compile(r"['\u2019]s$", re.IGNORECASE)
_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]+")


def folded(text: str) -> str:
    """The text as it is compared: one form for each character, no letter case."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def split_name(name: str) -> str:
    """The words of an identifier: `getHTTPUser_by-id` is read as "get HTTP User by id"."""
    return " ".join(part for piece in _PIECE.findall(name) for part in _CASE_CHANGE.split(piece) if part)


def joined_name(name: str) -> str:
    """A name without case and separators, so that `Web Search`, `web-search` and `webSearch` are one."""
    return _SEPARATORS.sub("", folded(name))


class Words:
    """Reads texts as terms, and remembers the terms of every word it has met."""

    def __init__(self, remembered: int = 200_000) -> None:
        self._known: dict[str, tuple[str, ...]] = {}
        self._remembered = remembered

    def terms(self, text: str) -> list[str]:
        """The terms of a text in order; identifiers give their parts and the joined form."""
        return [term for chunk in _chunks(text) for term in self._of(chunk)]

    def surfaces(self, text: str) -> dict[str, str]:
        """The terms of a text, each as the text writes it: for people."""
        return {term: chunk for chunk in _chunks(text) for term in self._of(chunk)}

    def _of(self, chunk: str) -> tuple[str, ...]:
        known = self._known.get(chunk)
        if known is None:
            known = tuple(_chunk_terms(chunk))
            if len(self._known) < self._remembered:
                self._known[chunk] = known
        return known


def _chunks(text: str) -> list[str]:
    found: list[str] = _CHUNK.findall(unicodedata.normalize("NFKC", text))
    return found


def _chunk_terms(chunk: str) -> Iterable[str]:
    if _CJK.search(chunk):
        return _cjk_terms(chunk.casefold())
    plain = _POSSESSIVE.sub("", chunk)
    if plain.casefold().replace("\u2019", "'") in words_in(STOP_WORDS):
        return ()
    parts = [part.casefold() for piece in _PIECE.findall(plain) for part in _CASE_CHANGE.split(piece)]
    if len(parts) == 1:
        return _stemmed(parts)
    kept = _stemmed(part for part in parts if part not in words_in(STOP_WORDS))
    return [*kept, "".join(parts)[:MAX_WORD_LENGTH]] if kept else ()


def _stemmed(words: Iterable[str]) -> list[str]:
    return [stem(word) if word.isascii() else word[:MAX_WORD_LENGTH] for word in words if word]


def _cjk_terms(chunk: str) -> Iterable[str]:
    """Scripts without spaces: every character and every pair of neighbours."""
    for run in _CJK.findall(chunk):
        yield from run
        yield from (run[at : at + 2] for at in range(len(run) - 1))
    yield from (word for word in _PIECE.findall(_CJK.sub(" ", chunk)) if word)


def embedding_text(capability: Capability) -> str:
    """What the encoder reads: intent, never schema, content or secrets."""
    name, display = capability.name, capability.display_name
    called = f"{display} ({name})" if display and display != name else name
    lines = (
        called if area_of(capability) == capability.category else f"{area_of(capability)}: {called}",
        capability.description,
        _section("Category", [capability.category]),
        _section("Use cases", capability.tags),
        _section("Parameters", capability.parameters),
        _section("Requires", capability.required_tools),
    )
    return "\n".join(line for line in lines if line)


def _section(title: str, words: Sequence[str]) -> str:
    listed = ", ".join(word for word in words if word)
    return f"{title}: {listed}" if listed else ""
