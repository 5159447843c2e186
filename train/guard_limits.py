"""From which sums of opinions on the guard rejects, by channel: `python -m train.guard_limits --help`.

All opinions are by networks and heads that have not seen the author of a text (`guard_teach`, `guard`; the
turned encoder learnt from none of these authors). Two sums are made of them, one led by each network, and one
over its limit is enough. Limits are set so that of the ordinary honest texts of many authors 1 in 100 is
touched at most and of the hard ones 5 in 100, what rules and neutralising touch counted in. Within that, as
many attacks are stopped as can be: of all, of each author, and of the texts that the turned encoder was not
taught with. An honest text has a price, and each channel takes the limits that gain most at that price.
"""

import argparse
import gzip
import hashlib
import json
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prowess.guard.classifier import CHANNELS, GREATEST, LEAST, SHIPPED, SUMS

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

ORDINARY, HARD = 0.01, 0.05
"""What the shipped limits may touch. At 0.3% and 3% too much of what is subtle passes: see the report."""
COUNTS = (
    {"taught": 1.0, "turned": 0.25, "words": 0.4, "rules": 1.0},
    {"taught": 0.3, "turned": 1.0, "words": 0.4, "rules": 0.0},
)
PRICES = (2, 5, 10, 20, 30, 45, 60, 80, 120, 160, 250)
PRICES_OF_HARD = (0, 0.5, 1, 2, 3, 4, 6, 8, 12, 16, 25)
FEWEST = 5
"""Authors with fewer attacks say nothing by themselves."""
NEVER = 99.0


@dataclass(frozen=True, slots=True)
class Texts:
    """What is known about each text, and its two sums."""

    attack: Flags
    hard: Flags
    kept: Flags
    """Texts of our own that the turned encoder was not taught with; their honest ones set no limits."""
    author: npt.NDArray[Any]
    channel: npt.NDArray[Any]
    stopped: Flags
    touched: Flags
    """What is rejected or neutralised whatever it reads like."""
    sums: tuple[Numbers, Numbers]

    @property
    def honest(self) -> Flags:
        return np.asarray(~self.attack & ~self.kept)

    def worth(self) -> Numbers:
        """What it is worth to stop each attack: a share of all, and one of those of its author."""
        worth = np.zeros(len(self.attack))
        many, own = self.attack & ~self.kept, self.attack & self.kept
        _, number, count = np.unique(self.author[many], return_inverse=True, return_counts=True)
        large = count >= FEWEST
        worth[many] = 1 / many.sum() + large[number] / (count[number] * large.sum())
        worth[own] = 1 / max(1, own.sum())
        return worth


@dataclass(frozen=True, slots=True)
class Choice:
    """For one channel and each pair of limits: the honest texts touched, and what is gained."""

    limits: tuple[Numbers, Numbers]
    ordinary: Numbers
    hard: Numbers
    gained: Numbers


def choice_of(texts: Texts, channel: str) -> Choice:
    inside = texts.channel == channel
    honest, attacks = texts.honest & inside & ~texts.touched, texts.attack & inside & ~texts.stopped
    limits = tuple(
        np.append(np.quantile(each[honest], np.linspace(low, 0.999, 24)), NEVER)
        for each, low in zip(texts.sums, (0.93, 0.94), strict=True)
    )
    over = _over(texts, honest, limits)
    hard = texts.hard[honest][:, None, None]
    gained = np.einsum("i,ijk->jk", texts.worth()[attacks], _over(texts, attacks, limits).astype(float))
    count = texts.honest & texts.hard, texts.honest & ~texts.hard
    return Choice(
        (limits[0], limits[1]),
        (over & ~hard).sum(0) / count[1].sum(),
        (over & hard).sum(0) / count[0].sum(),
        gained,
    )


def _over(texts: Texts, chosen: Flags, limits: tuple[Numbers, ...]) -> Flags:
    first, second = (each[chosen][:, None] >= limit for each, limit in zip(texts.sums, limits, strict=True))
    return np.asarray(first[:, :, None] | second[:, None, :])


def limits_of(texts: Texts, ordinary: float, hard: float) -> dict[str, tuple[float, float]]:
    """For each channel the two limits that stop most, with no more honest texts touched."""
    choices = {channel: choice_of(texts, channel) for channel in CHANNELS}
    before = [float(texts.touched[texts.honest & kind].mean()) for kind in (~texts.hard, texts.hard)]
    best: tuple[float, dict[str, tuple[float, float]]] = (-1.0, {})
    for price, price_of_hard in product(PRICES, PRICES_OF_HARD):
        spent, gained, picked = list(before), 0.0, {}
        for channel, each in choices.items():
            value = each.gained - price * each.ordinary - price_of_hard * each.hard
            at = np.unravel_index(int(np.argmax(value)), value.shape)
            spent = [spent[0] + float(each.ordinary[at]), spent[1] + float(each.hard[at])]
            gained += float(each.gained[at])
            picked[channel] = (float(each.limits[0][at[0]]), float(each.limits[1][at[1]]))
        if spent[0] <= ordinary and spent[1] <= hard and gained > best[0]:
            best = gained, picked
    return best[1]


def report(texts: Texts, limits: dict[str, tuple[float, float]]) -> str:
    first, second = (np.array([limits[name][n] for name in texts.channel]) for n in range(2))
    over = (texts.sums[0] >= first) | (texts.sums[1] >= second)
    stopped, touched = over | texts.stopped, over | texts.touched
    many = texts.attack & ~texts.kept
    names, number, count = np.unique(texts.author[many], return_inverse=True, return_counts=True)
    shares = np.bincount(number, stopped[many]) / count
    lines = [
        f"stopped {stopped[many].mean():.1%}, mean over authors {shares[count >= FEWEST].mean():.1%},",
        f"of our own {stopped[texts.attack & texts.kept].mean():.1%},",
        f"ordinary {touched[texts.honest & ~texts.hard].mean():.2%},",
        f"hard {touched[texts.honest & texts.hard].mean():.2%}",
        *(
            f"| {name} | {share:.0%} | {size} |"
            for name, share, size in zip(names, shares, count, strict=True)
        ),
    ]
    return "\n".join(lines)


def worst(scores: npt.NDArray[Any]) -> Numbers:
    """The highest of what was read of each text, openly or hidden."""
    return np.asarray(np.nan_to_num(scores.astype(float), nan=-20.0, neginf=-20.0).max(axis=1))


def texts_of(rows: list[dict[str, Any]], taught: Numbers, turned: Numbers, odd: Numbers) -> Texts:
    def of(name: str) -> npt.NDArray[Any]:
        return np.array([row[name] for row in rows])

    found = np.minimum(of("open"), 6.0) + 3.0 * (of("odd") >= 3) + 3.0 * (of("hidden") >= 3)
    opinions = {"taught": taught, "turned": turned, "words": np.clip(odd, LEAST, GREATEST), "rules": found}
    first, second = (np.sum([count[name] * opinions[name] for name in count], axis=0) for count in COUNTS)
    firmly = (of("open") >= 4) | (of("hidden") >= 3)
    kept = of("source") != "more"
    told = (of("attack"), of("hard"), kept, of("by"), of("channel"))
    return Texts(*told, of("changed") | firmly, of("touched") | firmly, (first, second))


def kept_back(row: dict[str, Any]) -> bool:
    """Whether the turned encoder was not taught with a text of our own."""
    return row["source"] == "more" or hashlib.md5(row["id"].encode()).digest()[0] % 5 == 4


def main() -> None:
    parser = argparse.ArgumentParser(description="Set the limits of the guard's classifier.")
    parser.add_argument("--cut", type=Path, required=True, help="the folder of train.guard_stretches")
    parser.add_argument("--taught", type=Path, required=True, help="scores.npz of train.guard_teach")
    parser.add_argument(
        "--turned", type=Path, required=True, help="scores of the turned encoder, a row a text"
    )
    parser.add_argument("--head", type=Path, required=True, help="scores of train.guard")
    parser.add_argument(
        "--ordinary", type=float, default=ORDINARY, help="the share of them that may be touched"
    )
    parser.add_argument("--hard", type=float, default=HARD)
    given = parser.parse_args()
    with gzip.open(given.cut / "texts.jsonl.gz", "rt", encoding="utf-8") as lines:
        about = [json.loads(line) for line in lines]
    with np.load(given.head) as held:
        known = dict(zip(held["ids"].tolist(), held["odd"].tolist(), strict=True))
    taught, turned = np.load(given.taught)["taught"], np.load(given.turned)
    read = ~np.isnan(turned).all(axis=1) & ~np.isnan(taught).all(axis=1)
    chosen = [n for n in np.flatnonzero(read).tolist() if not about[n]["doubt"] and kept_back(about[n])]
    rows = [about[n] for n in chosen]
    odd = np.array([known[f"{row['source']}/{row['id']}"] for row in rows])
    texts = texts_of(rows, worst(taught[chosen]), worst(turned[chosen]), odd)
    for ordinary, hard in ((0.003, 0.03), (0.01, 0.05), (0.03, 0.1), (given.ordinary, given.hard)):
        limits = limits_of(texts, ordinary, hard)
        print(f"\nat {ordinary:.1%} and {hard:.0%}:\n{report(texts, limits)}")
    sums = [
        {**counts, "limits": {name: round(limits[name][n], 3) for name in CHANNELS}}
        for n, counts in enumerate(COUNTS)
    ]
    SHIPPED.with_name(SUMS).write_text(json.dumps({"sums": sums}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
