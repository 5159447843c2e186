"""What a request in another language says in English, word by word, so that tools that describe themselves in
English are found: `eine Datei umbenennen` is read as "a file rename", too.

Pure. Above: the ranker, which reads a request both ways and takes what is nearer. Below: words. It
is no translation: what is not in the list stays as it is. The encoder reads English well and others badly.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path

from prowess.word_lists import words_in

WORDS = Path(__file__).with_name("glossary.txt")
STOP_WORDS = WORDS.with_name("stop_words.txt")
ACTIONS = WORDS.with_name("actions.txt")
COLUMNS = ("de", "fr", "es", "zh")
MOST_WORDS = 3
"""Of an entry such as `base_de_datos`."""
SHORTEST_STEM = 5
LONGEST_ENDING = 3
LONGEST_JOINT = 2
LONGEST_CHINESE = 6
HOLDS_TOGETHER = 2
"""What a word such as `und` counts beside one such as `Datei`, when the language is found out."""
SURE = 2
OF_A_CHANNEL = "message channel"

PARTICLES = frozenset(("ab", "an", "auf", "aus", "bei", "ein", "fest", "frei", "herunter", "hinzu", "hoch"))
PARTICLES |= frozenset(("los", "mit", "nach", "um", "vor", "weg", "weiter", "zu", "zurück"))
"""What German puts at the end: `lade Ada ein` is `einladen`."""
ENDINGS = ("", "n", "en")

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_LATIN = re.compile(r"[A-Za-z]+")
_CHANNEL = re.compile(r"\b(?:ask|from|in|on|tell|to) #(?![0-9a-f]{3,8}\b)[a-z][a-z0-9_-]*")
"""`tell #general`: a place to write to; `#123` is a number, `to #ff0000` a colour, `with #Sunday` a word."""
_KANA_OR_HANGUL = re.compile("[\u3040-\u30ff\uac00-\ud7af]")


@dataclass(slots=True)
class _Lexicon:
    """The words of one language."""

    english: dict[str, str] = field(default_factory=dict)
    stems: dict[str, str] = field(default_factory=dict)
    """Those that also stand for what begins with them."""
    small: set[str] = field(default_factory=set)
    """Those that hold a sentence together."""

    def add(self, written: str, english: str) -> None:
        word = written.removeprefix("+").removesuffix(".").casefold()
        self.english.setdefault(word, english)
        if written.startswith("+"):
            self.small.add(word)
        elif len(word) >= SHORTEST_STEM and not written.endswith("."):
            self.stems.setdefault(word, english)


@cache
def _lexicons(file: Path = WORDS) -> Mapping[str, _Lexicon]:
    found = {name: _Lexicon() for name in COLUMNS}
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or "|" not in line:
            continue
        english, *columns = (column.strip() for column in line.split("|"))
        for name, words in zip(COLUMNS, columns, strict=True):
            for word in words.split():
                found[name].add(word, english)
    return found


def in_other_words(request: str) -> str:
    """The request in English, or with what `#general` means behind it; nothing where it reads as it is."""
    return in_english(request) or (f"{request} ({OF_A_CHANNEL})" if _CHANNEL.search(request) else "")


def in_english(request: str) -> str:
    """What a request in German, French, Spanish or Chinese says; nothing where it is in none of them."""
    if _KANA_OR_HANGUL.search(request):
        return ""
    chinese = sum(map(len, _HAN.findall(request)))
    if chinese:
        return _chinese(request) if chinese > len(_LATIN.findall(request)) else ""
    words = [word.casefold() for word in _WORD.findall(request)]
    language = _language(words)
    spoken = _joined(words) if language == "de" else words
    return " ".join(_spoken(spoken, language)) if language else ""


def _language(words: Sequence[str]) -> str:
    """The one that most of the words are of, if they are clearly more than those that are English."""
    english = sum(
        HOLDS_TOGETHER * (word in words_in(STOP_WORDS)) or int(word in words_in(ACTIONS)) for word in words
    )
    counts = {name: _known(words, name) for name in COLUMNS[:-1]}
    # Neighbours share small words: then the one that knows more of the others.
    best = max(counts, key=lambda name: (counts[name], sum(bool(_of(word, name)) for word in words)))
    return best if counts[best] >= SURE and counts[best] > english else ""


def _known(words: Iterable[str], language: str) -> int:
    lexicon = _lexicons()[language]
    count = 0
    for word in words:
        english = _of(word, language)
        # What is written alike in English says nothing.
        count += (
            HOLDS_TOGETHER if word in lexicon.small else int(bool(english) and word not in english.split())
        )
    return count


def _joined(words: Sequence[str]) -> Sequence[str]:
    """A German verb and its particle, which may stand far behind it, as one word."""
    english = _lexicons()["de"].english
    for at, particle in enumerate(words):
        for before in range(at) if particle in PARTICLES else ():
            for ending in ENDINGS:
                if (verb := f"{particle}{words[before]}{ending}") in english:
                    return [*words[:before], verb, *words[before + 1 : at], *words[at + 1 :]]
    return words


def _spoken(words: Sequence[str], language: str) -> Iterable[str]:
    at, english = 0, _lexicons()[language].english
    while at < len(words):
        for length in range(min(MOST_WORDS, len(words) - at), 1, -1):
            if phrase := english.get("_".join(words[at : at + length])):
                yield phrase
                at += length
                break
        else:
            yield _of(words[at], language) or words[at]
            at += 1


@lru_cache(maxsize=8192)
def _of(word: str, language: str) -> str:
    """A word in English; nothing where it is not known."""
    lexicon = _lexicons()[language]
    if word in lexicon.english:
        return lexicon.english[word]
    if "-" in word and not any(map(str.isdigit, word)):
        parts = [(_of(part, language), part) for part in word.split("-")]
        return " ".join(known or part for known, part in parts) if any(known for known, _ in parts) else ""
    for length in range(len(word) - 1, SHORTEST_STEM - 1, -1):
        if word[:length] in lexicon.stems:
            if language == "de":
                return f"{lexicon.stems[word[:length]]} {_rest(word[length:])}".strip()
            return lexicon.stems[word[:length]] if len(word) - length <= LONGEST_ENDING else ""
    return _end(word) if language == "de" else ""


def _rest(ending: str) -> str:
    """The second half of a German compound, behind what joins the two."""
    for joint in range(LONGEST_JOINT + 1):
        if len(ending) - joint >= SHORTEST_STEM - 1 and (known := _of(ending[joint:], "de")):
            return known
    return ""


def _end(word: str) -> str:
    """The half of a German compound that is known: what it is a kind of."""
    german = _lexicons()["de"]
    for start in range(3, len(word) - SHORTEST_STEM + 1):
        if word[start:] not in german.small and (known := german.english.get(word[start:])):
            return f"{word[:start]} {known}"
    return ""


def _chinese(request: str) -> str:
    known = _lexicons()["zh"].english
    said: list[str] = []
    at = 0
    while at < len(request):
        run = _HAN.match(request, at)
        if run is None:
            following = _HAN.search(request, at)
            end = following.start() if following else len(request)
            said.append(request[at:end].strip(" \uff0c\u3002\uff1f\uff1a\u3001"))
            at = end
            continue
        for length in range(min(LONGEST_CHINESE, run.end() - at), 0, -1):
            if length == 1 or request[at : at + length] in known:
                said.append(known.get(request[at : at + length], ""))
                at += length
                break
    return " ".join(word for word in said if word)
