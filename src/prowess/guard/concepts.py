"""What the words of a text stand for: who is addressed, what is moved, where to, and what is kept quiet.

Above stands the classifier, which has learnt which of these together make an attack. Words that mean the
same count as the same, in some thirty languages (`concepts.toml` beside this file), so that a wording nobody
has seen can still be read.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path

CONCEPTS = Path(__file__).with_name("concepts.toml")

# Every alternative is bounded and none can match in two ways: the time to read a text is linear.
KINDS = {
    "url": r"(?:https?|hxxps?|ftp|wss?)://[^\s\"'<>)\]]{3,200}|www\.[a-z0-9.-]{4,80}",
    "mail": r"[\w.+-]{1,60}@[\w-]{1,60}\.[\w.]{2,30}",
    "secretpath": r"~?/?\.(?:ssh|aws|env|netrc|npmrc|pypirc|kube|gnupg|docker|cursor|git-credentials"
    r"|bash_history|zsh_history)\b[\w./-]{0,60}|id_(?:rsa|ed25519)|/etc/(?:passwd|shadow|sudoers)\b|mcp\.json",
    "rules": r"(?:claude|agents|soul|memory|gemini|skill)\.md|\.cursorrules|copilot-instructions",
    "path": r"(?:~|\.{1,2})?/[\w.-]{2,40}(?:/[\w.*-]{1,60}){0,8}",
    "host": r"[a-z0-9][a-z0-9-]{1,40}(?:\.[a-z0-9-]{2,30}){0,3}"
    r"\.(?:com|net|org|io|ru|cn|xyz|top|site|dev|app|example|invalid|test|co|info|cloud|biz|me)\b",
    "variable": r"\$\{?[a-z_]{3,40}\}?|%[a-z_]{3,40}%|process\.env|os\.environ",
    "name": r"[a-z][a-z0-9]{0,30}(?:_[a-z0-9]{1,30}){1,6}|[a-z]{2,20}\.[a-z]{2,20}\(|[a-z]{3,20}\(\)",
    "account": r"\b[a-z]{2}\d{2}[a-z0-9]{11,30}\b|\b(?:bc1|0x)[a-z0-9]{20,60}\b",
    "amount": r"[$€£]\s?\d[\d.,]{0,12}",
    "slot": r"[\[{<]{1,2}[a-z_ ]{2,30}[\]}>]{1,2}",
}
"""Things that are no words but say much: each is a concept of its own."""
TOKEN = re.compile(
    "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in KINDS.items())
    + r"|(?P<word>[^\W\d_]{1,40}(?:['\u2019][^\W\d_]{1,3})?)|(?P<number>\d{1,40})|(?P<sign>[^\w\s])"
)
SUFFIXES = (("ing", 3), ("edly", 3), ("ed", 3), ("es", 4), ("s", 3), ("ly", 3), ("e", 4))
"""Endings that carry no meaning here, each with the letters that must be left in front of it."""

LEADS = frozenset(("and", "then", "now", "also", "first", "next", "please", "kindly", "just", "so", "finally",
                   "-", "*", ",", ":"))  # fmt: skip
ORDERS = ("send", "put", "read", "run", "drop", "tell", "destroy", "install", "answer", "memory", "grant",
          "verdict")  # fmt: skip
ENGLISH = frozenset(("the", "of", "to", "and", "a", "in", "is", "for", "with", "this", "that", "it", "be",
                     "on", "or", "are", "by", "from", "an", "you", "your", "as", "if", "not", "all", "any",
                     "when", "use"))  # fmt: skip
"""Two of these in a sentence, and it is English: words of other languages are not looked for."""
SHOUTED = re.compile(r"\b[A-Z]{4,30}\b")

SENTENCE_END = re.compile(r"(?<=[.!?;\u3002\uff01\uff1f])\s+|\n+|(?<=[\u3002\uff01\uff1f])")
MAX_SENTENCE_LENGTH = 260
"""How many characters of a text without stops make a sentence."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Concepts as bits: what stands for what."""

    names: tuple[str, ...]
    words: dict[str, int]
    beginnings: dict[str, int]
    phrases: dict[tuple[str, ...], int]
    openings: frozenset[str]
    strings: tuple[tuple[int, re.Pattern[str]], ...]
    kinds: dict[str, int]
    orders: int
    order: int
    shout: int
    quoted: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: where it stands, its words, and all that they stand for."""

    start: int
    end: int
    words: tuple[str, ...]
    mask: int


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """The part of a word that its forms share; crude, and the same for text and lexicon."""
    word = word.replace("\u2019", "'").removesuffix("'s")
    for suffix, left in SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= left:
            word = word[: -len(suffix)]
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return f"{word[:-1]}i" if len(word) > 3 and word[-1] == "y" else word


@cache
def lexicon() -> Lexicon:
    held: dict[str, dict[str, str]] = tomllib.loads(CONCEPTS.read_text(encoding="utf-8"))
    names = sorted({*(name for part in held.values() for name in part), *KINDS, "order", "shout", "quoted"})
    bit = {name: 1 << at for at, name in enumerate(names)}
    words: dict[str, int] = {}
    phrases: dict[tuple[str, ...], int] = {}
    for name, said in held["english"].items():
        _add(words, map(stem, said.split()), bit[name])
    for name, said in held["phrases"].items():
        keys = [tuple(map(stem, phrase.split())) for phrase in said.split("|")]
        _add(words, (key[0] for key in keys if len(key) == 1), bit[name])
        for key in (key for key in keys if len(key) > 1):
            phrases[key] = phrases.get(key, 0) | bit[name]
    beginnings: dict[str, int] = {}
    strings = {name: [said] for name, said in held["unspaced"].items()}
    for name, said in held["others"].items():
        _add(beginnings, (word for word in said.split() if "_" not in word), bit[name])
        strings.setdefault(name, []).extend(w.replace("_", " ") for w in said.split() if "_" in w)
    patterns = tuple((bit[name], re.compile("|".join(said))) for name, said in strings.items() if said)
    kinds = {kind: bit[kind] for kind in KINDS}
    orders = sum(bit[name] for name in ORDERS)
    special = (bit[name] for name in ("order", "shout", "quoted"))
    openings = frozenset(key[0] for key in phrases)
    return Lexicon(tuple(names), words, beginnings, phrases, openings, patterns, kinds, orders, *special)


def _add(masks: dict[str, int], words: Iterable[str], bit: int) -> None:
    for word in words:
        masks[word] = masks.get(word, 0) | bit


def pieces(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences and lines of a text stand, none of them long."""
    at = 0
    ends = [(match.start(), match.end()) for match in SENTENCE_END.finditer(text)]
    for stop, following in [*ends, (len(text), len(text))]:
        for start in range(at, stop, MAX_SENTENCE_LENGTH):
            if text[start : min(start + MAX_SENTENCE_LENGTH, stop)].strip():
                yield start, min(start + MAX_SENTENCE_LENGTH, stop)
        at = following


def sentence(text: str, start: int, end: int, original: str) -> Sentence:
    """Read one sentence of a folded text; the original tells capital letters."""
    known = lexicon()
    words: list[str] = []
    masks: list[int] = []
    stems: list[str] = []
    for match in TOKEN.finditer(text, start, end):
        kind, word = match.lastgroup or "", match[0]
        root = stem(word) if kind in ("word", "name") else word
        masks.append(known.words.get(root, 0) | known.kinds.get(kind, 0))
        words.append(f"<{kind}>" if kind in known.kinds else "0" if kind == "number" else word)
        stems.append(root)
    mask = _either(masks) | _phrases(known, stems) | _order(known, words, masks)
    if len(ENGLISH.intersection(words)) < 2:
        mask |= _foreign(known, text[start:end], words)
    if len(SHOUTED.findall(original, start, end)) >= 2:
        mask |= known.shout
    return Sentence(start, end, tuple(words), mask)


def _either(masks: Iterable[int]) -> int:
    whole = 0
    for mask in masks:
        whole |= mask
    return whole


def _phrases(known: Lexicon, stems: list[str]) -> int:
    mask = 0
    for at, (one, two) in enumerate(pairwise(stems)):
        if one in known.openings:
            mask |= known.phrases.get((one, two), 0) | known.phrases.get(
                (one, two, *stems[at + 2 : at + 3]), 0
            )
    return mask


def _order(known: Lexicon, words: list[str], masks: list[int]) -> int:
    """Whether a sentence begins with an order."""
    for word, mask in zip(words[:4], masks, strict=False):
        if word not in LEADS:
            return known.order if mask & known.orders else 0
    return 0


def _foreign(known: Lexicon, said: str, words: list[str]) -> int:
    mask = 0
    for word in words:
        for size in range(2, min(len(word), 12) + 1):
            if size > 3 or size == len(word):
                mask |= known.beginnings.get(word[:size], 0)
    if not said.isascii():
        mask |= _either(bit for bit, pattern in known.strings if pattern.search(said))
    return mask
