"""Train the head of the guard's classifier: `python -m train.guard`. Needs only numpy and a few minutes.

What it learns from is in `guard_texts.py`, how in `guard_fit.py`. Limits come from cross-validation over
whole texts, so that no text sets a limit by a head that was taught with it. `python -m train.guard unseen`
leaves out one source after the other, and one family after the other, and prints what is found of it.
"""

import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from prowess.context.classifier import BUCKETS, CHANNELS, SHIPPED, concept_features
from prowess.context.sanitise import judge
from train.guard_fit import Head, Table, fit, table
from train.guard_texts import FRESH, ROOT, Example, examples

Numbers = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

FOLDS = 5
LARGE = 15
"""How many attacks a family has that is left out as a whole; smaller ones say little."""
ALONE = 0.01
"""The share of labelled honest texts that a head which has not seen them may reject by itself."""
BULK = 0.01
"""The same for honest texts in quantity and for those written to be hard."""
TOGETHER = 0.2
"""Of the honest texts the rules would reject, the share the head does not speak up for."""


def main() -> None:
    texts = examples()
    read = table(texts)
    if "unseen" in sys.argv:
        unseen(texts, read)
        return
    scores = crossed(texts, read, fold_of)
    high, low = limits(texts, scores)
    write(fit(read), high, low)
    print(f"{len(texts)} texts, {len(read.owners)} windows; wrote {SHIPPED.relative_to(ROOT)}")
    print("high", high, "low", low)


def fold_of(one: Example) -> str:
    return str(hashlib.md5(one.id.encode()).digest()[0] % FOLDS)


def crossed(texts: Sequence[Example], read: Table, group: Callable[[Example], str]) -> Numbers:
    """The score of each text by a head that has not seen its group."""
    groups = np.array([group(one) for one in texts])
    scores = np.full(len(texts), -np.inf)
    for name in sorted(set(groups.tolist())):
        head = fit(read.only(np.flatnonzero(groups != name)))
        inside = np.flatnonzero(groups == name)
        scores[inside] = head.best(read.only(inside), len(texts))[inside]
    return scores


def limits(texts: Sequence[Example], scores: Numbers) -> tuple[list[float], list[float]]:
    """For each channel the score that rejects by itself, and the one below which the rules are overruled.

    Channels differ in what is usual, and some have few texts. So each score is first measured by the middle
    and the spread of its channel, and the cuts are made over all channels together.
    """
    honest = np.array([not one.attack for one in texts])
    labelled = honest & np.array([one.labelled for one in texts])
    ruled = honest & np.array([one.source in (FRESH.name, "written") for one in texts])
    ruled &= np.array([flag and rejected_by_rules(one) for flag, one in zip(ruled, texts, strict=True)])
    channels = np.array([CHANNELS.index(one.channel) for one in texts])
    usual = [np.quantile(scores[labelled & (channels == at)], (0.5, 0.9)) for at in range(len(CHANNELS))]
    middle, spread = np.array([(low, high - low) for low, high in usual]).T
    odd = (scores - middle[channels]) / spread[channels]
    high = max(_reached(odd[labelled], ALONE), _reached(odd[honest & ~labelled & ~ruled], BULK))
    low = min(high, _reached(odd[ruled], TOGETHER))
    return (middle + high * spread).tolist(), (middle + low * spread).tolist()


def _reached(scores: Numbers, share: float) -> float:
    """The score that only such a share of them reaches."""
    return float(np.quantile(scores, 1 - share))


def rejected_by_rules(one: Example) -> bool:
    return judge(one.text, one.channel).verdict == "reject"


def write(head: Head, high: Sequence[float], low: Sequence[float]) -> None:
    words, concepts = head.weights[:BUCKETS], head.weights[BUCKETS : BUCKETS + concept_features()]
    starts = head.weights[BUCKETS + concept_features() :] + head.bias
    SHIPPED.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        SHIPPED,
        words=words.astype(np.float16),
        concepts=concepts.astype(np.float16),
        numbers=np.array([starts, high, low]).astype(np.float64),
    )


def unseen(texts: Sequence[Example], read: Table) -> None:
    """What is found of a source, and of a family, that the head has never seen."""
    sizes = Counter(one.family for one in texts if one.attack)
    honest = np.array([not one.attack for one in texts])
    labelled = honest & np.array([one.labelled for one in texts])
    for name, group in (("source", _source), ("family", partial(_family, sizes))):
        scores = crossed(texts, read, group)
        kinds = np.array([group(one) for one in texts])
        bars = [_reached(scores[labelled], share) for share in (0.01, 0.03)]
        print(f"\nLeft out by {name}: found with 1% and with 3% of the labelled honest texts touched\n")
        for kind in sorted(set(kinds[~honest].tolist())):
            found = scores[(kinds == kind) & ~honest]
            shares = " | ".join(f"{(found >= bar).mean():.0%}" for bar in bars)
            print(f"| {kind} | {len(found)} | {shares} |")


def _source(one: Example) -> str:
    return one.source


def _family(sizes: Mapping[str, int], one: Example) -> str:
    """Attacks of a large family together; all else in folds, so that no text is scored by its own head."""
    return one.family if one.attack and sizes[one.family] >= LARGE else f"fold {fold_of(one)}"


if __name__ == "__main__":
    main()
