"""From which sum of opinions on the guard rejects, by channel: `python -m train.guard_limits --help`.

All opinions are by networks and heads that have not seen the author of a text (`guard_teach`, `guard`).
Limits are set so that of the ordinary and of the hard honest texts of many authors no more is touched than
asked, what rules and neutralising touch counted in; our own honest texts, half of which are hard, set none.
Within that, as many attacks are stopped as can be: of all, of each author, and of our own. An honest text has
a price, and each channel takes the limit that gains most at that price. The last line says what is touched of
authors that set no limits either, a quarter of them at a time.
"""

import argparse
import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prowess.guard.classifier import CHANNELS, GREATEST, LEAST, SHIPPED, SUMS
from prowess.guard.sanitise import BEYOND_DOUBT
from train.guard_cut import FOLDS, NOT_LABELLED, Flags, Numbers, Texts, folds_of
from train.guard_evidence import JUDGED

ORDINARY, HARD = 0.01, 0.05
"""What the shipped limits may touch. At 0.3% and 3% too much of what is subtle passes: see the report."""
COUNTS = {"network": 1.0, "words": 0.2, "rules": 0.7}
PRICES = (1, 2, 4, 8, 15, 30, 50, 80, 120, 180, 300)
PRICES_OF_HARD = (0, 0.5, 1, 2, 4, 8, 14, 25)
STEPS = 200
FEWEST = 5
"""Authors with fewer attacks say nothing by themselves."""
NEVER = 99.0


@dataclass(frozen=True, slots=True)
class Opinions:
    """What is known about each text, and the sum of opinions on it."""

    attack: Flags
    hard: Flags
    own: Flags
    author: npt.NDArray[Any]
    channel: npt.NDArray[Any]
    language: npt.NDArray[Any]
    stopped: Flags
    touched: Flags
    """What is rejected or neutralised whatever it reads like."""
    sum: Numbers

    def only(self, chosen: Flags) -> "Opinions":
        return Opinions(*(getattr(self, each.name)[chosen] for each in fields(self)))

    def honest(self) -> tuple[Flags, Flags, Flags]:
        """Ordinary and hard ones of many authors, and our own."""
        honest = ~self.attack
        return honest & ~self.own & ~self.hard, honest & ~self.own & self.hard, honest & self.own

    def worth(self) -> Numbers:
        """What it is worth to stop each attack: a share of all, and one of its author's or of our own."""
        worth = np.zeros(len(self.attack))
        many, own = self.attack & ~self.own, self.attack & self.own
        _, number, count = np.unique(self.author[many], return_inverse=True, return_counts=True)
        large = count >= FEWEST
        worth[many] = 1 / many.sum() + large[number] / (count[number] * large.sum())
        worth[own] = 1 / max(1, own.sum())
        return worth


@dataclass(frozen=True, slots=True)
class Choice:
    """For one channel and each limit: the shares of honest texts touched, and what is gained."""

    limits: Numbers
    spent: Numbers
    gained: Numbers


def choice_of(seen: Opinions, channel: str) -> Choice:
    inside = seen.channel == channel
    attacks = seen.attack & inside & ~seen.stopped
    highest = seen.sum[~seen.attack & inside & ~seen.touched]
    limits = np.append(np.quantile(highest, np.linspace(0.88, 1.0, STEPS)) + 1e-6, NEVER)
    spent = [
        (seen.sum[kind & inside & ~seen.touched][:, None] >= limits).sum(0) / kind.sum()
        for kind in seen.honest()[:2]
    ]
    gained = seen.worth()[attacks] @ (seen.sum[attacks][:, None] >= limits)
    return Choice(limits, np.array(spent), gained)


def limits_of(seen: Opinions, most: tuple[float, float]) -> dict[str, float]:
    """For each channel the limit that stops most, with no more honest texts touched than asked."""
    choices = {channel: choice_of(seen, channel) for channel in CHANNELS}
    before = np.array([seen.touched[kind].mean() for kind in seen.honest()[:2]])
    best: tuple[float, dict[str, float]] = (-1.0, dict.fromkeys(CHANNELS, NEVER))
    for prices in product(PRICES, PRICES_OF_HARD):
        at = {name: int(np.argmax(each.gained - prices @ each.spent)) for name, each in choices.items()}
        spent = before + sum(choices[name].spent[:, place] for name, place in at.items())
        gained = sum(float(choices[name].gained[place]) for name, place in at.items())
        if (spent <= most).all() and gained > best[0]:
            best = gained, {name: float(choices[name].limits[place]) for name, place in at.items()}
    return spent_whole(best[1], choices, before, most)


def spent_whole(
    limits: dict[str, float],
    choices: dict[str, Choice],
    before: Numbers,
    most: tuple[float, float],
) -> dict[str, float]:
    """The limits after what is left of both shares was spent, each time where it gains most."""
    at = {name: int(np.searchsorted(each.limits, limits[name])) for name, each in choices.items()}
    while True:
        spent = before + sum(choices[name].spent[:, place] for name, place in at.items())
        steps = [
            (float(each.gained[place] - each.gained[at[name]]), name, place)
            for name, each in choices.items()
            for place in range(at[name])
            if (spent + each.spent[:, place] - each.spent[:, at[name]] <= most).all()
        ]
        gain, name, place = max(steps, default=(0.0, "", 0))
        if gain <= 0:
            return {name: float(choices[name].limits[place]) for name, place in at.items()}
        at[name] = place


def report(seen: Opinions, limits: dict[str, float]) -> Iterator[str]:
    over = seen.sum >= np.array([limits[name] for name in seen.channel])
    stopped, touched = over | seen.stopped, over | seen.touched
    many = seen.attack & ~seen.own
    names, number, count = np.unique(seen.author[many], return_inverse=True, return_counts=True)
    shares = np.bincount(number, stopped[many]) / count
    ordinary, hard, own = (touched[kind].mean() for kind in seen.honest())
    yield f"stopped {stopped[many].mean():.1%}, mean over authors {shares[count >= FEWEST].mean():.1%},"
    yield f"of our own {stopped[seen.attack & seen.own].mean():.1%},"
    yield f"touched ordinary {ordinary:.2%}, hard {hard:.2%}, our own {own:.2%}"
    for name in CHANNELS:
        inside = seen.channel == name
        rates = [touched[kind & inside].mean() for kind in seen.honest()]
        caught = stopped[many & inside].mean(), stopped[seen.attack & seen.own & inside].mean()
        yield f"| {name} | {limits[name]:.2f} | {' | '.join(f'{r:.1%}' for r in (*caught, *rates))} |"
    yield from (f"| {name} | {size} | {share:.0%} |"
                for name, share, size in zip(names, shares, count, strict=True))  # fmt: skip
    for name in np.unique(seen.language[many]):
        inside = seen.language == name
        honest = touched[inside & ~seen.attack & ~seen.own]
        said = f"{honest.sum()}/{len(honest)}"
        yield f"| {name} | {stopped[many & inside].sum()}/{(many & inside).sum()} | {said} |"


def foreseen(seen: Opinions, most: tuple[float, float]) -> str:
    """What limits do with authors that did not set them."""
    quarter = np.array([zlib.crc32(name.encode()) % 4 for name in seen.author.tolist()])
    over = np.zeros(len(quarter), bool)
    for part in range(4):
        limits = limits_of(seen.only(quarter != part), most)
        over |= (quarter == part) & (seen.sum >= np.array([limits[name] for name in seen.channel]))
    stopped, touched = over | seen.stopped, over | seen.touched
    ordinary, hard, own = (touched[kind].mean() for kind in seen.honest())
    caught = stopped[seen.attack & ~seen.own].mean(), stopped[seen.attack & seen.own].mean()
    return (
        f"by limits of others: stopped {caught[0]:.1%}, of our own {caught[1]:.1%},"
        f" touched {ordinary:.2%}, {hard:.2%}, {own:.2%}"
    )


def read_of(texts: Texts, folder: Path, name: str) -> Numbers:
    """The highest score of each text by the network that left its author out; none where there is none."""
    folds, found = folds_of(texts), np.full(len(texts.about), np.nan)
    for fold in range(FOLDS):
        file = folder / f"{name}-{fold}.npy"
        if file.exists():
            said = np.append(np.load(file).astype(float), -np.inf)
            found[folds == fold] = np.maximum.reduceat(said, texts.first[:-1])[folds == fold]
    return found


def evidence_of(texts: Texts, cut: Path) -> list[dict[str, Any]]:
    """What `guard_evidence` wrote about each text; nothing about those that set no limits."""
    with gzip.open(cut / JUDGED, "rt", encoding="utf-8") as lines:
        known = {(row["source"], row["id"]): row for row in map(json.loads, lines)}
    return [known.get((row["source"], row["id"]), {}) for row in texts.about]


def opinions_of(texts: Texts, network: Numbers, odd: Numbers, cut: Path) -> Opinions:
    """Of all labelled texts that a network has read which left their author out."""

    judged = evidence_of(texts, cut)

    def of(name: str) -> npt.NDArray[Any]:
        return np.array([{**texts.about[row], **judged[row]}[name] for row in chosen])

    chosen = np.flatnonzero(
        ~np.isnan(network)
        & (texts.column("part") == "train")
        & ~np.isin(texts.column("source"), NOT_LABELLED)
        & ~texts.column("doubt").astype(bool)
    )
    found = np.minimum(of("open"), 6.0) + 3.0 * (of("odd") >= 3) + 3.0 * (of("hidden") >= 3)
    words = np.clip(odd[chosen], LEAST, GREATEST)
    total = COUNTS["network"] * network[chosen] + COUNTS["words"] * words + COUNTS["rules"] * found
    firmly = (of("open") >= BEYOND_DOUBT) | (of("hidden") >= 3)
    told = (of("attack").astype(bool), of("hard").astype(bool), of("source") != "more", of("by"))
    places = (of("channel"), of("language"))
    changed, touched = of("changed").astype(bool), of("touched").astype(bool)
    return Opinions(*told, *places, changed | firmly, touched | firmly, total)


def main() -> None:
    parser = argparse.ArgumentParser(description="Set the limits of the guard's classifier.")
    parser.add_argument("--cut", type=Path, required=True, help="the folder of train.guard_stretches")
    parser.add_argument("--taught", type=Path, required=True, help="the opinions of train.guard_teach")
    parser.add_argument("--head", type=Path, required=True, help="scores of train.guard")
    parser.add_argument("--network", default="student", help="whose opinions")
    parser.add_argument("--ordinary", type=float, default=ORDINARY, help="the share that may be touched")
    parser.add_argument("--hard", type=float, default=HARD)
    given = parser.parse_args()
    texts = Texts.open(given.cut)
    with np.load(given.head) as held:
        known = dict(zip(held["ids"].tolist(), held["odd"].tolist(), strict=True))
    odd = np.array([known.get(f"{row['source']}/{row['id']}", 0.0) for row in texts.about])
    seen = opinions_of(texts, read_of(texts, given.taught, given.network), odd, given.cut)
    shares = ((0.003, 0.03), (0.01, 0.05), (0.03, 0.1), (given.ordinary, given.hard))
    for most in dict.fromkeys(shares):
        limits = limits_of(seen, most)
        print(f"\nat {most[0]:.1%} and {most[1]:.0%}:", *report(seen, limits), foreseen(seen, most), sep="\n")
    limits = limits_of(seen, (given.ordinary, given.hard))
    rounded = {name: round(limit, 3) for name, limit in limits.items()}
    said = json.dumps({**COUNTS, "limits": rounded}, indent=2)
    SHIPPED.with_name(SUMS).write_text(f"{said}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
