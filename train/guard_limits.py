"""From which sum of opinions on the guard rejects, by channel: `python -m train.guard_limits --help`.

All opinions are by networks and heads that have not seen the author of a text (`guard_teach`, `guard`), so the
limits hold for authors nobody saw. They are set so that of the ordinary honest texts 3 in 1,000 are touched at
most, and of the hard ones 3 in 100, what neutralising touches counted in. Channels differ in what is usual:
each may lie a little above or below the common limit, where that stops more.
"""

import argparse
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prowess.context.classifier import CHANNELS, COUNTS, GREATEST, LEAST, SHIPPED

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

ORDINARY, HARD = 0.003, 0.03
ASIDE = (-1.25, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
"""How far a channel's limit may lie from the common one."""
FEWEST = 5
"""Authors with fewer attacks say nothing by themselves."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Texts of many authors, and what is known about each."""

    held: list[dict[str, Any]]

    def of(self, name: str) -> npt.NDArray[Any]:
        return np.array([row[name] for row in self.held])

    def rules(self) -> Numbers:
        """What the rules count, before it is weighed: as in `prowess.context.sanitise.rules_count`."""
        weight = np.minimum(self.of("open"), 6.0)
        return np.asarray(weight + 3.0 * (self.of("odd") >= 3) + 3.0 * (self.of("hidden") >= 3))

    def certain(self) -> Flags:
        """What is rejected or neutralised whatever it reads like."""
        return np.asarray(self.of("changed") | (self.of("open") >= 5) | (self.of("hidden") >= 3))

    def touched(self) -> Flags:
        return np.asarray(self.of("touched") | (self.of("open") >= 5) | (self.of("hidden") >= 3))


@dataclass(frozen=True, slots=True)
class Figures:
    stopped: float
    by_author: float
    ordinary: float
    hard: float


def figures(rows: Rows, sums: Numbers, limit: Numbers) -> Figures:
    attack, doubt, hard, author = (rows.of(name) for name in ("attack", "doubt", "hard", "by"))
    over = sums >= limit
    stopped, touched = over | rows.certain(), over | rows.touched()
    counted = attack & ~doubt
    authors, number = np.unique(author[counted], return_inverse=True)
    shares = np.bincount(number, stopped[counted]) / np.bincount(number)
    large = np.bincount(number) >= FEWEST
    honest = ~attack & ~doubt
    return Figures(
        float(stopped[counted].mean()),
        float(shares[large].mean()),
        float(touched[honest & ~hard].mean()),
        float(touched[honest & hard].mean()),
    )


def common_limit(rows: Rows, sums: Numbers, ordinary: float = ORDINARY, hard_share: float = HARD) -> float:
    """The lowest limit at which no more honest texts are touched."""
    attack, doubt, hard = (rows.of(name) for name in ("attack", "doubt", "hard"))
    honest = ~attack & ~doubt
    seen = np.where(rows.touched(), np.inf, sums)
    found = []
    for chosen, share in ((honest & ~hard, ordinary), (honest & hard, hard_share)):
        ranked = np.sort(seen[chosen])[::-1]
        found.append(float(ranked[int(share * len(ranked))]) + 1e-6)
    return max(found)


def limits_of(rows: Rows, sums: Numbers, ordinary: float = ORDINARY, hard: float = HARD) -> dict[str, float]:
    """The limit of each channel: moved from the common one, step by step, wherever that stops more."""
    channel = rows.of("channel")
    start = common_limit(rows, sums, ordinary, hard)
    best = dict.fromkeys(CHANNELS, start)
    value = _worth(rows, sums, channel, best, ordinary, hard)
    for _ in range(4):
        for raised in CHANNELS:
            for lowered in CHANNELS:
                for aside in ASIDE:
                    tried = {**best, raised: start + abs(aside), lowered: start - abs(aside)}
                    worth = _worth(rows, sums, channel, tried, ordinary, hard)
                    if worth > value + 1e-4:
                        best, value = tried, worth
    return best


def _worth(
    rows: Rows, sums: Numbers, channel: npt.NDArray[Any], limits: dict[str, float], ordinary: float, hard: float
) -> float:
    found = figures(rows, sums, np.array([limits[each] for each in channel]))
    allowed = found.ordinary <= ordinary and found.hard <= hard
    return found.stopped + found.by_author if allowed else -1.0


def worst(scores: npt.NDArray[Any]) -> Numbers:
    """The highest of what was read of each text, openly or hidden."""
    return np.asarray(np.nan_to_num(scores.astype(float), nan=-20.0, neginf=-20.0).max(axis=1))


def sums_of(taught: Numbers, turned: Numbers, odd: Numbers, rules: Numbers, counts: dict[str, float]) -> Numbers:
    words = np.clip(odd, LEAST, GREATEST)
    return np.asarray(
        counts["taught"] * taught + counts["turned"] * turned + counts["words"] * words + counts["rules"] * rules
    )


def read_rows(cut: Path) -> list[dict[str, Any]]:
    with gzip.open(cut / "texts.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description="Set the limits of the guard's classifier.")
    parser.add_argument("--cut", type=Path, required=True, help="the folder of train.guard_stretches")
    parser.add_argument("--taught", type=Path, required=True, help="scores by networks that saw other authors")
    parser.add_argument("--recipe", required=True, help="the name of the recipe in that file")
    parser.add_argument("--turned", type=Path, required=True, help="scores of the turned encoder")
    parser.add_argument("--head", type=Path, required=True, help="scores of train.guard")
    for name, usual in (("taught", 0.5), ("turned", 0.5), ("words", 0.3), ("rules", 0.8)):
        parser.add_argument(f"--count-{name}", type=float, default=usual, dest=f"count_{name}")
    given = parser.parse_args()
    about = read_rows(given.cut)
    chosen = [n for n, row in enumerate(about) if row["part"] == "train" and row["source"] == "more"]
    rows = Rows([about[n] for n in chosen])
    with np.load(given.head) as kept:
        known = dict(zip(kept["ids"].tolist(), kept["odd"].tolist(), strict=True))
    odd = np.array([known[f"{row['source']}/{row['id']}"] for row in rows.held])
    counts = {name: getattr(given, f"count_{name}") for name in ("taught", "turned", "words", "rules")}
    taught, turned = worst(np.load(given.taught)[given.recipe][chosen]), worst(np.load(given.turned)[chosen])
    sums = sums_of(taught, turned, odd, rows.rules(), counts)
    for ordinary, hard in ((0.003, 0.03), (0.01, 0.05), (0.03, 0.1)):
        limits = limits_of(rows, sums, ordinary, hard)
        print(ordinary, figures(rows, sums, np.array([limits[each] for each in rows.of("channel")])))
        if ordinary == ORDINARY:
            shipped = {**counts, "limits": {name: round(limit, 3) for name, limit in limits.items()}}
    SHIPPED.with_name(COUNTS).write_text(json.dumps(shipped, indent=2) + "\n", encoding="utf-8")
    print(shipped)


if __name__ == "__main__":
    main()
