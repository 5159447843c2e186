"""Measure the guard on texts of many public authors: `python -m bench.guard_sources [train|test] [OTHER]`.

Reads shared/security/more. What is reported, on honest texts and attacks of the part named: stopped, touched
ordinary and touched hard, by family, channel, language and author, rows with a disputed label apart; the
curve over limits; the time. The guard learnt from `train`: there the figures say how well it learnt, not how
well it does with others; those for authors left out are made by `python -m train.guard_limits`. With the
name of a classifier of PyPI (`stackone-defender`), it is measured beside the guard on the same texts.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.guard import Row, rows, seeded
from prowess.guard.classifier import Classifier, ClassifierScore
from prowess.guard.sanitise import judge, neutralise
from train.guard_texts import MORE

SHARES = ((0.003, 0.03), (0.01, 0.05), (0.03, 0.1))


@dataclass(slots=True)
class Listening:
    """The classifier, and the margin of what it read last over its limit."""

    classifier: Classifier
    margin: float = -99.0

    def read(self, text: str, channel: str, *more: Any) -> ClassifierScore:
        found = self.classifier.read(text, channel, *more)
        self.margin = max(found.score, -99.0)
        return found

    def remembered(self, text: str, about: Hashable, judge: Callable[[], Any]) -> Any:
        return judge()


@dataclass(frozen=True, slots=True)
class Measured:
    row: Row
    attack: bool
    rejected: bool
    by_rules: bool
    """Rejected or changed whatever the classifier says."""
    changed: bool
    margin: float
    milliseconds: float

    @property
    def hit(self) -> bool:
        return self.rejected or self.changed


def measured(row: Row, attack: bool, ear: Listening) -> Measured:
    ear.margin = -99.0
    start = time.process_time()
    found = judge(row["text"], row["channel"], classifier=ear)  # type: ignore[arg-type]
    taken = 1000 * (time.process_time() - start)
    rejected = found.verdict == "reject"
    after = neutralise(row["text"], row["channel"])
    changed = after.changed and (attack or after.text != seeded(row))
    firmly = changed or (rejected and ear.margin < 0)
    return Measured(row, attack, rejected, firmly, changed, ear.margin, taken)


def share(found: Sequence[Measured]) -> str:
    hit = sum(one.hit for one in found)
    return f"{hit}/{len(found)} ({100 * hit / len(found):.1f}%)" if found else "-"


def split(found: Sequence[Measured]) -> tuple[list[Measured], list[Measured], list[Measured]]:
    sure = [one for one in found if not one.row.get("doubt")]
    honest = [one for one in sure if not one.attack]
    return (
        [one for one in sure if one.attack],
        [one for one in honest if one.row["kind"] == "ordinary"],
        [one for one in honest if one.row["kind"] == "hard"],
    )


def table(found: Sequence[Measured], key: str) -> Iterator[str]:
    yield f"\n| {key} | stopped | touched ordinary | touched hard |"
    yield "|---|---:|---:|---:|"
    for name in sorted({str(one.row.get(key, "")) for one in found} - {""}):
        yield f"| {name} | {' | '.join(map(share, split([o for o in found if o.row.get(key) == name])))} |"


def curve(found: Sequence[Measured]) -> Iterator[str]:
    """What is stopped if the limits are moved together until so many honest texts are touched."""
    attacks, ordinary, hard = split(found)
    yield "\n| touched ordinary, hard at most | stopped | mean over authors |"
    yield "|---|---:|---:|"
    for shares in SHARES:
        moved = max(map(_moved, (ordinary, hard), shares))
        hit = [one.by_rules or one.margin >= moved for one in attacks]
        authors = sorted({one.row["source"] for one in attacks})
        each = [
            statistics.mean(h for h, one in zip(hit, attacks, strict=True) if one.row["source"] == name)
            for name in authors
        ]
        means = f"{statistics.mean(hit):.1%} | {statistics.mean(each):.1%}"
        yield f"| {shares[0]:.1%}, {shares[1]:.0%} | {means} |"


def _moved(honest: Sequence[Measured], most: float) -> float:
    ranked = sorted((99.0 if one.by_rules else one.margin for one in honest), reverse=True)
    return ranked[int(most * len(ranked))] + 1e-6


def report(found: Sequence[Measured], part: str) -> Iterator[str]:
    attacks, ordinary, hard = split(found)
    doubtful = [one for one in found if one.row.get("doubt")]
    yield f"\n## more/{part}\n"
    yield f"Stopped {share(attacks)}, touched ordinary {share(ordinary)}, touched hard {share(hard)}."
    yield f"Disputed: attacks {share([o for o in doubtful if o.attack])},"
    yield f"honest {share([o for o in doubtful if not o.attack])}."
    authors = sorted({one.row["source"] for one in attacks})
    each = [statistics.mean(o.hit for o in attacks if o.row["source"] == name) for name in authors]
    yield f"Mean over {len(authors)} authors: {statistics.mean(each):.1%}."
    yield from curve(found)
    for key in ("family", "channel", "language", "source"):
        yield from table(found, key)
    taken = [one.milliseconds for one in found]
    tools = [o.milliseconds for o in found if not o.attack and o.row["channel"] == "tool_description"]
    middle = f"{statistics.median(taken):.1f} ms; of a tool's description {statistics.median(tools):.1f} ms"
    yield f"\nJudging, median: {middle}."


def other(name: str) -> Callable[[str], bool]:
    """A classifier of PyPI, which must be installed beside prowess."""
    if name != "stackone-defender":
        raise SystemExit(f"unknown: {name}")
    from stackone_defender import PromptDefense  # type: ignore[import-not-found]

    defence = PromptDefense(block_high_risk=True)
    return lambda text: not defence.defend_tool_result(text, "tool").allowed


def beside(found: Sequence[Measured], name: str) -> Iterator[str]:
    says = other(name)
    hits = {id(one): says(one.row["text"]) for one in found}
    yield f"\n{name} on the same texts: "
    for label, part in zip(("stopped", "touched ordinary", "touched hard"), split(found), strict=True):
        yield f"{label} {100 * statistics.mean(hits[id(one)] for one in part):.1f}%, "


def main() -> None:
    part = sys.argv[1] if len(sys.argv) > 1 else "test"
    classifier = Classifier.open()
    assert classifier is not None
    ear = Listening(classifier)
    texts = [
        (row, name == "attacks") for name in ("attacks", "honest") for row in rows(MORE / f"{name}.jsonl")
    ]
    found = [measured(row, attack, ear) for row, attack in texts if row["split"] == part]
    print("\n".join(report(found, part)))
    for name in sys.argv[2:]:
        if name.endswith(".jsonl"):
            missed = [one.row for one in found if one.attack and not one.hit]
            Path(name).write_text("".join(json.dumps(row) + "\n" for row in missed), encoding="utf-8")
        else:
            print("".join(beside(found, name)))


if __name__ == "__main__":
    main()
