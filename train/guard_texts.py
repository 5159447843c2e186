"""The texts the guard's classifier learns from, each with its channel and where it comes from.

Labelled texts of shared/security (its `more` holds those of many public authors, divided by source), of
tests/data and of `guard_corpora`, sentences of our own (`guard_attacks.txt`, `guard_honest.txt`, and
`guard_grammar.toml`, which puts them together), and honest texts in quantity: tool descriptions of
shared/bench and docstrings of the installed packages.
"""

import ast
import hashlib
import json
import random
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from prowess.guard.sanitise import Channel

ROOT = Path(__file__).resolve().parents[1]
SHARED = next(
    (each / "shared" for each in ROOT.parents if (each / "shared").exists()), ROOT.parent / "shared"
)
SECURITY = SHARED / "security"
MORE = SECURITY / "more"
OWN = ROOT / "tests" / "data" / "guard"
FRESH = ROOT / "tests" / "data" / "guard_fresh"
CORPORA = tuple(sorted((ROOT / "train" / "guard_corpora").iterdir()))
UNSEEN = (ROOT / "tests" / "data" / "guard_unseen", ROOT / "tests" / "data" / "guard_unseen_two")
"""Written by people who knew nothing of the guard, and learnt from by nothing: they only measure."""

FOLDS = 5
EVERY_TOOL = 6
EVERY_FILE = 6
MOST_DOCSTRINGS = 2500
MOST_MESSAGES = 25
PER_SENTENCE = 6
"""How many texts are made of one sentence of the grammar."""
PER_TONGUE = 24
"""How many texts are made of one sentence with choices."""
CHOICE, SLOT = re.compile(r"\[([^\]]*)\]"), re.compile(r"\{(\w+)\}")
THINGS = {
    "file": (".env", "~/.ssh/id_rsa", "config/secrets.yml", "~/.aws/credentials", "/etc/passwd", "notes.txt"),
    "url": (
        "https://collect.example/in",
        "http://203.0.113.7/up",
        "https://data.invalid/x?d=",
        "sink.example",
    ),
    "mail": ("kim@outside.example", "audit@mail.invalid", "archive@backup.example"),
    "tool": ("fast_search", "send_mail", "this tool", "payments.pay", "get_weather"),
    "word": ("PWNED", "OK", "HACKED", "42", "yes", "access granted"),
}
SEED = 3
CHANNELS: tuple[Channel, ...] = ("tool_description", "result", "card", "schema_field", "skill")


@dataclass(frozen=True, slots=True)
class Example:
    id: str
    text: str
    channel: Channel
    attack: bool
    source: str
    family: str = ""
    author: str = ""
    """Whom a corpus of many authors has it from; whole authors are left out to judge what was learnt."""
    language: str = ""
    hard: bool = False
    """Honest, and chosen because it looks like an attack."""
    doubt: str = ""
    """Why its label can be disputed."""
    split: str = "train"

    @property
    def by(self) -> str:
        return self.author or self.source

    @property
    def labelled(self) -> bool:
        """Whether it comes from a corpus; sentences written to be hard to tell apart set no limits."""
        return self.source in {folder.name for folder in (SECURITY, MORE, OWN, FRESH, *CORPORA)}


def author_fold(one: Example) -> int:
    return hashlib.md5(one.by.encode()).digest()[0] % FOLDS


def rows(file: Path) -> Iterator[dict[str, Any]]:
    if file.exists():
        with file.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def corpus(folder: Path) -> Iterator[Example]:
    """The labelled texts of a folder."""
    for name, attack in (("attacks", True), ("honest", False)):
        for row in rows(folder / f"{name}.jsonl"):
            # What was placed into a long honest body teaches the body, not the attack.
            placed = row.get("technique", "").startswith("placed")
            if not placed:
                yield labelled_as(row, attack, folder.name)


def labelled_as(row: dict[str, Any], attack: bool, source: str) -> Example:
    family = row.get("family", "") if attack else ""
    hard = not attack and "hard" in (row.get("kind"), row.get("family"))
    author = row["source"] if "split" in row or source == SECURITY.name else ""
    about = (row.get("language", ""), hard, row.get("doubt", ""), row.get("split", "train"))
    return Example(row["id"], row["text"], row["channel"], attack, source, family, author, *about)


def of_many_authors(split: str) -> list[Example]:
    """The texts of `more`; those of `test` are for reports alone."""
    return [one for one in corpus(MORE) if one.split == split]


def written() -> Iterator[Example]:
    """Sentences of our own: one on a line, with its family (attacks only) and channel in front."""
    for name, attack in (("attacks", True), ("honest", False)):
        lines = (ROOT / "train" / f"guard_{name}.txt").read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            *family, channel, text = line.replace("\\n", "\n").split("|", 2 if attack else 1)
            assert channel in CHANNELS, line
            yield Example(f"{name}-{number}", text, channel, attack, "written", "".join(family))


def in_languages() -> Iterator[Example]:
    """Sentences of our own in some thirty languages: language, attack or honest, text."""
    lines = (ROOT / "train" / "guard_languages.txt").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        language, kind, text = line.split("|", 2)
        channel = CHANNELS[number % len(CHANNELS)]
        family = "multilingual" if kind == "a" else ""
        yield Example(
            f"languages-{number}", text, channel, kind == "a", "languages", family, language=language
        )


def in_tongues() -> Iterator[Example]:
    """Sentences in some forty languages with choices in brackets; each language counts as an author."""
    chance = random.Random(SEED)
    for row, (language, kind, sentence) in enumerate(_tongues()):
        texts = dict.fromkeys(_chosen_words(sentence, chance) for _ in range(PER_TONGUE))
        for column, text in enumerate(texts):
            channel = CHANNELS[(row + column) % len(CHANNELS)]
            family = "multilingual" if kind == "a" else ""
            about = (kind == "a", "tongues", family, f"tongues-{language}", language, kind == "h")
            yield Example(f"tongues-{row}-{column}", text.replace("\\n", "\n"), channel, *about)


def _tongues() -> Iterator[tuple[str, str, str]]:
    """Language, attack or honest, sentence: of the file with all languages, and of one file for each."""
    for line in (ROOT / "train" / "guard_tongues.txt").read_text(encoding="utf-8").splitlines():
        language, kind, sentence = line.split("|", 2)
        yield language, kind, sentence
    for file in sorted((ROOT / "train" / "guard_tongues").glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            kind, sentence = line.split("|", 1)
            yield file.stem, kind, sentence


def _chosen_words(sentence: str, chance: random.Random) -> str:
    text = CHOICE.sub(lambda found: chance.choice(found[1].split("|")), sentence)
    return SLOT.sub(lambda slot: chance.choice(THINGS[slot[1]]), text)


def translations(folder: Path) -> Iterator[Example]:
    """What packages say to their users in other languages: messages of their .po files."""
    for file in sorted(folder.rglob("LC_MESSAGES/*.po")):
        language = file.parts[-3]
        said = dict.fromkeys(_messages(file.read_text(encoding="utf-8", errors="replace")))
        for number, text in enumerate(islice(said, MOST_MESSAGES)):
            channel = CHANNELS[number % len(CHANNELS)]
            id = f"po-{file.parts[-4]}-{language}-{number}"
            yield Example(id, text, channel, False, "translations", language=language)


def _messages(content: str) -> Iterator[str]:
    for entry in content.split("\n\n"):
        found = re.search(r'^msgstr(?:\[0\])? ((?:"[^\n]*"\n?)+)', entry, re.MULTILINE)
        text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found[1])) if found else ""
        if len(text) > 35 and "Project-Id-Version" not in text:
            yield text.replace('\\"', '"').replace("\\n", "\n")


def made() -> Iterator[Example]:
    """Sentences of the grammar, filled in by chance that repeats."""
    grammar = tomllib.loads((ROOT / "train" / "guard_grammar.toml").read_text(encoding="utf-8"))
    slots = {name: said.split("|") for name, said in grammar["slots"].items()}
    chance = random.Random(SEED)
    for attack, families in ((True, grammar["attacks"]), (False, grammar["honest"])):
        for family, sentences in families.items():
            for row, sentence in enumerate(sentences.split("\n")):
                for column in range(PER_SENTENCE):
                    text = _filled(sentence, slots, chance)
                    channel = CHANNELS[(row + column) % len(CHANNELS)]
                    yield Example(f"{family}-{row}-{column}", text, channel, attack, "grammar", family)


def _filled(sentence: str, slots: dict[str, list[str]], chance: random.Random) -> str:
    text = re.sub(r"\{(\w+)\}", lambda slot: chance.choice(slots[slot[1]]), sentence)
    return re.sub(r"(?<=[.!?] )[a-z]|^[a-z]", lambda letter: letter[0].upper(), text)


def tools() -> Iterator[Example]:
    for file in sorted((SHARED / "bench").glob("*/tools.jsonl")):
        for row in islice(rows(file), 0, None, EVERY_TOOL):
            if len(row["description"] or "") > 40:
                id = f"{file.parent.name}:{row['id']}"
                yield Example(id, row["description"], "tool_description", False, "bench")


def docstrings() -> Iterator[Example]:
    """Docstrings of installed packages, as descriptions and in every other channel."""
    site = Path(ast.__file__).parent / "site-packages"
    folders = [site] if site.exists() else []
    folders += sorted((ROOT / ".venv" / "lib").glob("python3*/site-packages"))
    files = (file for folder in folders[-1:] for file in sorted(folder.rglob("*.py")))
    found = (text for file in files if _chosen(file) for text in _docstrings(file))
    for number, text in enumerate(islice(found, MOST_DOCSTRINGS)):
        channel = CHANNELS[number % 5] if number % 3 == 0 else "tool_description"
        yield Example(f"docstring-{number}", text, channel, False, "packages")


def _chosen(file: Path) -> bool:
    name = "/".join(file.parts[file.parts.index("site-packages") :])
    return "test" not in name and int(hashlib.md5(name.encode()).hexdigest(), 16) % EVERY_FILE == 0


def _docstrings(file: Path) -> Iterator[str]:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            said = ast.get_docstring(node)
            if said and 60 < len(said) < 4000:
                yield said


def examples() -> list[Example]:
    """Everything the shipped head learns from."""
    labelled = [one for folder in (SECURITY, OWN, FRESH, *CORPORA) for one in corpus(folder)]
    labelled += of_many_authors("train")
    return [*labelled, *written(), *in_languages(), *in_tongues(), *made(), *tools(), *docstrings()]
