"""What the network of the quick look learns from: attacks that the judge rejects, and long honest texts.

Beside the guard's own texts (`guard_texts`), without `guard_fresh`, which measures what the look costs: files
of installed packages, of which those count most in which words point at an order, documentation in many
languages (`guard_manuals`), and honest texts of one author one behind the other, because a result is long and
the look must pass over all of it.
"""

import hashlib
import json
import random
import sysconfig
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from prowess.guard.classifier import Classifier
from prowess.guard.pointing_words import turned
from prowess.guard.prefilter import ResultCheck, as_it_looks, encoded
from prowess.guard.sanitise import judge
from train.guard_manuals import fold, pieces
from train.guard_texts import FOLDS, FRESH, ROOT, Example, author_fold, examples

JUDGED = ROOT / ".train" / "guard_judged.json"
LENGTH = 4000
MOST_OF_KIND = {".py": 1200, ".json": 250, ".js": 250, ".h": 120}
MOST_OTHERS = 400
MOST_POINTED_AT = 2500
RECORDS = 150
KINDS = frozenset(
    (
        ".py",
        ".pyi",
        ".c",
        ".h",
        ".js",
        ".css",
        ".html",
        ".json",
        ".toml",
        ".yaml",
        ".csv",
        ".md",
        ".rst",
        ".txt",
    )
)
FIELDS = ("id", "name", "total", "due", "status", "email", "created_at", "url", "user", "amount", "type")


@dataclass(frozen=True, slots=True)
class Taught:
    text: str
    attack: bool
    fold: int
    """All texts of one author or package have the same, and are left out together."""
    kind: str


def taught(manuals: Path | None = None) -> list[Taught]:
    """Everything it learns from; manuals is a folder of packages with documentation (`guard_manuals`)."""
    chance = random.Random(4)
    known = [one for one in examples() if one.source != FRESH.name]
    rejected = judged([one.text for one in known if one.attack])
    found = [
        Taught(as_it_looks(one.text), one.attack, author_fold(one), one.source)
        for one in known
        if not one.attack or (rejected[one.text] and not _is_written_otherwise(one.text))
    ]
    found += [*_long(known, chance), *_pieces(chance), *_records(chance)]
    if manuals is not None:
        said = pieces(manuals, chance)
        found += [Taught(as_it_looks(text), False, fold(name, FOLDS), "manuals") for name, text in said]
    return found


def _is_written_otherwise(text: str) -> bool:
    """Whether letters are encoded or shifted: they are found by that, and say nothing as words."""
    return turned(text.lower()) >= 0 or any(encoded(text))


def judged(texts: list[str]) -> dict[str, bool]:
    """Whether the judge rejects each; what it lets pass need not be looked for. Kept, as it takes minutes."""
    kept = json.loads(JUDGED.read_text(encoding="utf-8")) if JUDGED.exists() else {}
    classifier = Classifier.open()
    for text in texts:
        key = _digest(text)
        if key not in kept:
            kept[key] = judge(text, "result", classifier=classifier).verdict == "reject"
    JUDGED.parent.mkdir(exist_ok=True)
    JUDGED.write_text(json.dumps(kept), encoding="utf-8")
    return {text: kept[_digest(text)] for text in texts}


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _long(known: list[Example], chance: random.Random) -> Iterator[Taught]:
    """Honest results, skills and cards of one author, one behind the other."""
    by_author: dict[str, list[Example]] = {}
    for one in known:
        if not one.attack and one.channel in ("result", "skill", "card"):
            by_author.setdefault(one.by, []).append(one)
    for texts in by_author.values():
        chance.shuffle(texts)
        whole = "\n".join(one.text for one in texts)
        for start in range(0, len(whole) - LENGTH, LENGTH):
            yield Taught(whole[start : start + LENGTH], False, author_fold(texts[0]), "long")


def _pieces(chance: random.Random) -> Iterator[Taught]:
    """Pieces of files: some of each kind, and those in which words point at an order."""
    by_words = ResultCheck(None, None)
    counts: Counter[str] = Counter()
    files = sorted(file for folder in _folders() for file in folder.rglob("*") if _is_text(file))
    chance.shuffle(files)
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        start = chance.randrange(max(1, len(text) - LENGTH))
        piece = text[start : start + LENGTH]
        kind = (
            file.suffix if counts[file.suffix] < MOST_OF_KIND.get(file.suffix, MOST_OTHERS) else "pointed at"
        )
        if kind == "pointed at" and (counts[kind] >= MOST_POINTED_AT or not by_words.pointed_at(piece)):
            continue
        counts[kind] += 1
        yield Taught(piece, False, fold(file.parts[-3], FOLDS), kind)


def _folders() -> tuple[Path, ...]:
    return (
        Path(sysconfig.get_path("stdlib")),
        *sorted((ROOT / ".venv" / "lib").glob("python3*/site-packages")),
    )


def _is_text(file: Path) -> bool:
    return (
        file.suffix in KINDS
        and "prowess" not in str(file.relative_to(file.anchor).parts[3:])
        and (file.stat().st_size > LENGTH // 2)
    )


def _records(chance: random.Random) -> Iterator[Taught]:
    for number in range(RECORDS):
        rows = [{chance.choice(FIELDS): _value(chance) for _ in range(6)} for _ in range(60)]
        yield Taught(json.dumps(rows)[:LENGTH], False, number % FOLDS, "records")


def _value(chance: random.Random) -> object:
    number = chance.randrange(10**6)
    return chance.choice(
        (
            number,
            f"Item {number % 900}",
            number / 1000,
            "2026-01-02",
            "open",
            "a@b.example",
            "https://x.example/1",
        )
    )
