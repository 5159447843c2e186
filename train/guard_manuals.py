"""Pieces of documentation in many languages: honest, and full of orders, though to people.

FOLDER holds unpacked packages, a folder each: of Debian (`manpages-*`, `debian-reference-*`, `harden-doc`,
`libreoffice-help-*`, `gnome-user-docs` and others), and of npm and PyPI, whose archives have documentation.
What programs say in other languages (`.mo`) is read, too. Of each piece, a sentence or two are taken once
more by themselves, because results are short as well.
"""

import gzip
import hashlib
import html
import random
import re
from collections.abc import Iterator
from gettext import GNUTranslations
from pathlib import Path

MOST_OF_PACKAGE, MOST_OF_FILE = 150, 3
SHORTEST, LONGEST = 25, 260
"""How many characters a short text has."""
SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f\u0964])\s*|\n+")
MOST_READ = 400_000
LENGTH, FEWEST = 4000, 400
MARKUP = frozenset((".html", ".htm", ".xhtml", ".page", ".xml", ".docbook"))
PLAIN = frozenset((".txt", ".md", ".mdx", ".rst", ".readme", ""))
LANGUAGE = re.compile(r"(\.html?)\.[a-z-]{2,5}$", re.IGNORECASE)
"""Apache's way to name one page in several languages."""
UNREAD = re.compile(r"<(script|style|head)\b.*?</\1>", re.DOTALL | re.IGNORECASE)
BLOCK = re.compile(r"</?(?:p|div|li|tr|h\d|br|dd|dt|pre|section|title|para)\b[^>]*>|\s*\n\s*", re.IGNORECASE)
TAG = re.compile(r"<[^>]+>")
REQUEST = re.compile(r"^[.']\\\".*$|^[.'][A-Za-z]+ ?", re.MULTILINE)
"""What begins a line of a manual page's source."""
ESCAPE = re.compile(r"\\f[A-Z(]|\\&|\\[cd]")


def pieces(folder: Path, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Package and text, some of each package."""
    for package in sorted(folder.iterdir()):
        files = sorted(file for file in package.rglob("*") if file.is_file() and not file.is_symlink())
        chance.shuffle(files)
        found = 0
        for file in files:
            said = _text(file)
            starts = list(range(0, max(1, len(said) - FEWEST), LENGTH))
            for start in chance.sample(starts, min(MOST_OF_FILE, len(starts))):
                piece = said[start : start + LENGTH]
                if len(piece) >= FEWEST and found < MOST_OF_PACKAGE:
                    found += 1
                    yield package.name, piece
                    yield from ((package.name, said) for said in _short(piece, chance))
            if found == MOST_OF_PACKAGE:
                break


def _short(piece: str, chance: random.Random) -> list[str]:
    """One or two sentences in a row."""
    said = SENTENCE.split(piece)[1:-1]
    at = chance.randrange(max(1, len(said)))
    short = " ".join(said[at : at + chance.choice((1, 2))]).strip()[:LONGEST]
    return [short] if len(short) >= SHORTEST else []


def fold(package: str, folds: int) -> int:
    return hashlib.md5(package.encode()).digest()[0] % folds


def _text(file: Path) -> str:
    name = LANGUAGE.sub(r"\1", file.name.removesuffix(".gz"))
    suffix = Path(name).suffix.lower()
    is_manual = "man" in file.parts
    if suffix == ".mo":
        return _messages(file)
    if not (is_manual or suffix in MARKUP or suffix in PLAIN):
        return ""
    try:
        octets = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        said = octets[:MOST_READ].decode("utf-8", "strict" if len(octets) <= MOST_READ else "ignore")
    except (OSError, EOFError, ValueError):
        return ""
    if is_manual:
        return ESCAPE.sub("", REQUEST.sub("", said)).replace("\\-", "-")
    return _without_tags(said) if suffix in MARKUP else said


def _messages(file: Path) -> str:
    """What a program says, in the language of the file."""
    try:
        with file.open("rb") as opened:
            said = GNUTranslations(opened)._catalog  # type: ignore[attr-defined]  # no public way to list them
    except (OSError, ValueError, IndexError):
        return ""
    return "\n".join(
        text for key, text in said.items() if key and isinstance(text, str) and len(text) > SHORTEST
    )


def _without_tags(said: str) -> str:
    return html.unescape(TAG.sub("", BLOCK.sub("\n", UNREAD.sub(" ", said))))
