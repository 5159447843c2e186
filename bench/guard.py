"""Measure the guard: `python -m bench.guard [unseen|seen|speed]`. Prints a report in Markdown.

Stopped: rejected, or neutralised (changed by more than its frontmatter). Touched: an honest text that is
rejected, or changed by more than the seed's two rewrites. `unseen` are tests/data/guard_unseen and
guard_unseen_two, which nothing learns from; `seen` are the corpora that rules, head and reader know.
"""

import json
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from prowess.guard.classifier import Classifier
from prowess.guard.quotations import without_frontmatter
from prowess.guard.sanitise import DOCUMENTS, judge, neutralise
from train.guard_texts import CORPORA, FRESH, OWN, SECURITY, UNSEEN

Row = dict[str, Any]

MARKER = re.compile(r"^(User|Assistant|System):", re.IGNORECASE | re.MULTILINE)
TAG = re.compile(r"</?(?:user|assistant|system)>", re.IGNORECASE)


def rows(file: Path) -> list[Row]:
    return list(map(json.loads, file.read_text(encoding="utf-8").splitlines())) if file.exists() else []


def seeded(row: Row) -> str:
    """The text after the seed's own rewrites, which touch nobody."""
    body = without_frontmatter(row["text"]) if row["channel"] in DOCUMENTS else row["text"]
    return TAG.sub("", MARKER.sub(r"[\1]:", body))


def stopped(row: Row, classifier: Classifier | None) -> bool:
    rejected = judge(row["text"], row["channel"], classifier=classifier).verdict == "reject"
    return rejected or neutralise(row["text"], row["channel"]).changed


def touched(row: Row, classifier: Classifier | None) -> bool:
    rejected = judge(row["text"], row["channel"], classifier=classifier).verdict == "reject"
    after = neutralise(row["text"], row["channel"])
    return rejected or (after.changed and after.text != seeded(row))


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} ({100 * part / whole:.1f}%)" if whole else "-"


def is_hard(row: Row) -> bool:
    return "hard" in (row.get("kind"), row.get("family"))


def corpus(folder: Path, classifier: Classifier | None) -> Iterator[str]:
    attacks, honest = rows(folder / "attacks.jsonl"), rows(folder / "honest.jsonl")
    missed = [row for row in attacks if not stopped(row, classifier)]
    hurt = [row for row in honest if touched(row, classifier)]
    yield f"\n### {folder.name}\n"
    yield f"Stopped {share(len(attacks) - len(missed), len(attacks))},"
    yield f"touched {share(len(hurt), len(honest))},"
    yield f"of the hard ones {share(sum(map(is_hard, hurt)), sum(map(is_hard, honest)))}.\n"
    yield from families(attacks, missed)
    yield "\nMissed: " + (", ".join(f"{row['id']} ({row['family']})" for row in missed) or "none") + "."
    yield "\nTouched: " + (", ".join(row["id"] for row in hurt) or "none") + "."


def families(attacks: Iterable[Row], missed: Iterable[Row]) -> Iterator[str]:
    counts = Counter(row["family"] for row in attacks)
    lost = Counter(row["family"] for row in missed)
    yield "| family | stopped | of |"
    yield "|---|---:|---:|"
    yield from (f"| {name} | {counts[name] - lost[name]} | {counts[name]} |" for name in sorted(counts))


def speed() -> Iterator[str]:
    texts = [row for folder in (SECURITY, OWN) for row in rows(folder / "honest.jsonl")]
    head = Classifier.open()
    assert head is not None
    judge(texts[0]["text"], "card", classifier=head)
    for name, one in (("rules alone", None), ("rules and classifier", head)):
        taken = [
            _taken(lambda row=row, one=one: judge(row["text"], row["channel"], classifier=one))
            for row in texts
        ]
        yield f"Judging, {name}: {_told(taken)}."
    taken = [_taken(lambda row=row: head.read(row["text"], row["channel"])) for row in texts]
    yield f"Classifier alone: {_told(taken)}."


def _taken(work: Any) -> float:
    start = time.process_time()
    work()
    return 1000 * (time.process_time() - start)


def _told(taken: Sequence[float]) -> str:
    most = statistics.quantiles(taken, n=100)[98]
    middle, mean = statistics.median(taken), statistics.mean(taken)
    return f"{middle:.2f} ms median, {mean:.2f} ms mean, {most:.1f} ms at 99%"


def main() -> None:
    part = sys.argv[1] if len(sys.argv) > 1 else "unseen"
    if part == "speed":
        print("\n".join(speed()))
        return
    chosen = [*UNSEEN] if part == "unseen" else [SECURITY, OWN, FRESH, *CORPORA]
    options = {
        "Rules and classifier": Classifier.open(),
        "Rules and the head alone, without the reader": Classifier.open(reader=False),
        "Rules alone": None,
    }
    for name, classifier in options.items():
        print(f"\n## {name}")
        for folder in chosen:
            print("\n".join(corpus(folder, classifier)))


if __name__ == "__main__":
    main()
