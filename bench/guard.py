"""Measure the guard: `python -m bench.guard [tune|frozen|all]`. Prints a report in Markdown.

Stopped: rejected, or neutralised (changed by more than its frontmatter). Touched: an honest text that is
rejected, or changed by more than the seed's two rewrites. Reads ../shared/security where it is there, and
the corpus of this repository always.
"""

import json
import re
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from prowess.context.classifier import Classifier
from prowess.context.quoting import without_frontmatter
from prowess.context.sanitise import DOCUMENTS, judge, neutralise
from train.guard import LABELLED, in_tune_part

Row = dict[str, Any]

MARKER = re.compile(r"^(User|Assistant|System):", re.IGNORECASE | re.MULTILINE)
TAG = re.compile(r"</?(?:user|assistant|system)>", re.IGNORECASE)


def rows(file: Path, part: str) -> list[Row]:
    found = map(json.loads, file.read_text(encoding="utf-8").splitlines()) if file.exists() else ()
    return [row for row in found if part == "all" or in_tune_part(row["id"]) == (part == "tune")]


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


def corpus(folder: Path, part: str, classifier: Classifier | None) -> Iterator[str]:
    attacks, honest = rows(folder / "attacks.jsonl", part), rows(folder / "honest.jsonl", part)
    missed = [row for row in attacks if not stopped(row, classifier)]
    hurt = [row for row in honest if touched(row, classifier)]
    hard = [row for row in honest if row["kind"] == "hard"]
    yield f"\n### {folder.name}: {part} part\n"
    touched_hard = sum(row["kind"] == "hard" for row in hurt)
    yield f"Stopped {share(len(attacks) - len(missed), len(attacks))}, "
    yield f"touched {share(len(hurt), len(honest))}, of the hard ones {share(touched_hard, len(hard))}.\n"
    yield from families(attacks, missed)
    yield "\nMissed: " + (", ".join(f"{row['id']} ({row['family']})" for row in missed) or "none") + "."
    yield "\nTouched: " + (", ".join(f"{row['id']} ({row['kind']})" for row in hurt) or "none") + "."


def families(attacks: Iterable[Row], missed: Iterable[Row]) -> Iterator[str]:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in attacks:
        counts[row["family"]][1] += 1
        counts[row["family"]][0] += 1
    for row in missed:
        counts[row["family"]][0] -= 1
    yield "| family | stopped | of |"
    yield "|---|---:|---:|"
    yield from (f"| {family} | {some} | {all} |" for family, (some, all) in sorted(counts.items()))


def speed(classifier: Classifier | None) -> str:
    texts = [row for folder in LABELLED for row in rows(folder / "honest.jsonl", "all")]
    judge(texts[0]["text"], "card", classifier=classifier)
    times = []
    for row in texts:
        start = time.perf_counter()
        judge(row["text"], row["channel"], classifier=classifier)
        times.append(1000 * (time.perf_counter() - start))
    return f"{statistics.median(times):.2f} ms median, {statistics.mean(times):.2f} ms mean"


def main() -> None:
    part = sys.argv[1] if len(sys.argv) > 1 else "all"
    head = Classifier.open()
    for name, classifier in (("Rules and classifier", head), ("Rules alone", None)):
        print(f"\n## {name}")
        for folder in LABELLED:
            print("\n".join(corpus(folder, part, classifier)))
        print(f"\nJudging one text: {speed(classifier)}.")


if __name__ == "__main__":
    main()
