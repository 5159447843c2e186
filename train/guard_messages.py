"""Messages of programs with their translations, as tokens: `python -m train.guard_messages --help`.

Reads the catalogues that packages bring (`LC_MESSAGES/*.mo` and `*.po` of Debian and PyPI packages, and
`i18n/*.json` of MediaWiki), and keeps of each language the messages that many languages have and that say
more than a label. `guard_align` teaches the encoder what they mean. Nothing else of them is kept.
"""

import argparse
import html
import io
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from gettext import GNUTranslations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prowess.guard.networks import folded, ids_of
from train.guard_stretches import tokens

MAIN = frozenset(["ru", "ja", "zh", "pt", "ar", "hi", "ko", "tr", "id", "vi"])
"""What is read often and spelled; each counts twice."""
MORE = frozenset(["de", "fr", "es", "it", "th", "fa", "nl", "pl", "uk", "he", "bn", "zh-Hant", "sv"])
FURTHER = frozenset(["bg", "ca", "cs", "da", "el", "fi", "hr", "hu", "lt", "nb", "ro", "sk", "sl", "sr"])
SIZES = ((MAIN, 20_000, 2.0), (MORE, 12_000, 1.0), (FURTHER, 4000, 0.3))
"""Of each language how many messages are kept, and how often it is drawn."""
ALIASES = {"pt_BR": "pt", "pt-br": "pt", "zh_CN": "zh", "zh_Hans": "zh", "zh-hans": "zh", "zh_TW": "zh-Hant",
           "zh-hant": "zh-Hant"}  # fmt: skip
LONGEST = 96
SEED = 4

TAG = re.compile(r"<[^>]{1,80}>")
CHOICE = re.compile(r"\{\{(?:PLURAL|GENDER|int|GRAMMAR)[^}|]*\|[^}|]*\|?([^}|]*)[^}]*\}\}")
LINK = re.compile(r"\[\[(?:[^\]|]*\|)?([^\]]*)\]\]")
SHORTCUT = re.compile(r"(?<!\w)[_&](?=\w)|(?<=\w)_(?!\w)|''+|&")
ENTRY = re.compile(r'msgid ((?:"[^\n]*"\n)+)msgstr ((?:"[^\n]*"\n?)+)')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')

Messages = dict[str, dict[str, str]]
"""By language: English -> translation."""


def plain(message: str) -> str:
    """A message without markup and the signs that mark its shortcut."""
    said = LINK.sub(r"\1", CHOICE.sub(r"\1", html.unescape(TAG.sub("", message))))
    return " ".join(SHORTCUT.sub("", said).split())


def says_something(english: str, other: str) -> bool:
    """Whether it is a sentence rather than a label, and its translation about as long."""
    letters = sum(letter.isalpha() or letter == " " for letter in english)
    return (
        25 <= len(english) <= 420
        and len(english.split()) >= 4
        and letters > 0.75 * len(english)
        and other != english
        and 0.15 < len(other) / len(english) < 3
    )


def of_mo(content: bytes) -> Iterator[tuple[str, str]]:
    try:
        held: dict[Any, str] = GNUTranslations(io.BytesIO(content))._catalog  # type: ignore[attr-defined]
    except (OSError, ValueError, UnicodeDecodeError):
        return
    for english, other in held.items():
        if isinstance(english, str) and english:
            yield english.rpartition("\x04")[2], other


def of_po(content: str) -> Iterator[tuple[str, str]]:
    for entry in ENTRY.finditer(content):
        english, other = ("".join(STRING.findall(part)) for part in entry.groups())
        yield english.replace("\\n", " "), other.replace("\\n", " ")


def of_json(english: Path, other: Path) -> Iterator[tuple[str, str]]:
    one, two = (json.loads(file.read_text(encoding="utf-8")) for file in (english, other))
    for key, said in two.items():
        if isinstance(said, str) and isinstance(one.get(key), str):
            yield one[key], said


def messages(folder: Path) -> Messages:
    """All messages of unpacked packages, by language."""
    found: Messages = defaultdict(dict)
    for file in sorted(folder.rglob("LC_MESSAGES/*.[mp]o")):
        both = of_mo(file.read_bytes()) if file.suffix == ".mo" else of_po(file.read_text("utf-8", "replace"))
        _add(found, file.parts[-3], both)
    for english in sorted(folder.rglob("i18n/**/en.json")):
        for file in sorted(english.parent.glob("*.json")):
            _add(found, file.stem, of_json(english, file))
    return found


def _add(found: Messages, said: str, both: Iterator[tuple[str, str]]) -> None:
    language = ALIASES.get(said, said)
    if any(language in chosen for chosen, _, _ in SIZES):
        for english, other in ((plain(one), plain(two)) for one, two in both):
            if says_something(english, other):
                found[language].setdefault(english, other)


def kept(found: Messages) -> Iterator[tuple[str, str, float]]:
    """English, translation and weight: first what many languages have, and what is longer."""
    chance = random.Random(SEED)
    common = Counter(english for said in found.values() for english in said)
    for language, said in sorted(found.items()):
        size, share = next((size, share) for chosen, size, share in SIZES if language in chosen)
        worth = {
            one: min(common[one], 20) + min(len(one), 160) / 8 + 14 * chance.random() for one in sorted(said)
        }
        best = sorted(worth, key=lambda one: -worth[one])[:size]
        yield from ((english, said[english], share / len(best)) for english in best)


def rows(texts: Sequence[str]) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint32]]:
    ids = [ids_of(folded(text), tokens())[:LONGEST] for text in texts]
    ends = np.cumsum([len(one) for one in ids]).astype(np.uint32)
    return np.concatenate([np.array(one, np.uint16) for one in ids]), ends


def main() -> None:
    parser = argparse.ArgumentParser(description="Messages of programs with their translations, as tokens.")
    parser.add_argument("--packages", type=Path, required=True, help="a folder of unpacked packages")
    parser.add_argument("--out", type=Path, required=True, help="the file for train.guard_align")
    given = parser.parse_args()
    chosen = list(kept(messages(given.packages)))
    number = {english: at for at, english in enumerate(dict.fromkeys(one for one, _, _ in chosen))}
    english, other = rows(list(number)), rows([said for _, said, _ in chosen])
    np.savez_compressed(
        given.out,
        english_tokens=english[0],
        english_ends=english[1],
        other_tokens=other[0],
        other_ends=other[1],
        whose=np.array([number[one] for one, _, _ in chosen], np.uint32),
        weight=np.array([weight for _, _, weight in chosen], np.float32),
    )
    print(f"{len(number)} messages, {len(chosen)} translations")


if __name__ == "__main__":
    main()
