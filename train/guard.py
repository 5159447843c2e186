"""Train the head of the guard's classifier: `python -m train.guard [SCORES.npz]`. Needs numpy and minutes.

What it learns from is in `guard_texts.py`, how in `guard_fit.py`. What is usual of honest texts, and what is
plainly harmless, comes from cross-validation over whole authors, so that no text is measured by a head that
was taught with others of its author. The limits of the reader are set apart (`guard_limits.py`).
`python -m train.guard unseen` leaves out one source after the other, and one family after the other, and
prints what is found of it.
"""

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from prowess.guard.classifier import BUCKETS, SHIPPED, concept_features
from train.guard_fit import Head, Table, fit, table
from train.guard_texts import ROOT, Example, author_fold, examples
from train.guard_usual import Usual, alone, channels_of, harmless_below, reached, usual_of

Numbers = npt.NDArray[np.float64]

LARGE = 15
"""How many attacks a family has that is left out as a whole; smaller ones say little."""


def main() -> None:
    texts = examples()
    read = table(texts)
    if "unseen" in sys.argv:
        unseen(texts, read)
        return
    scores = crossed(texts, read, _fold)
    usual = usual_of(texts, scores)
    odd = usual.odd(scores, channels_of(texts))
    write(fit(read), usual, alone(texts, odd), harmless_below(texts, odd))
    if len(sys.argv) > 1:
        np.savez(sys.argv[1], ids=np.array([f"{one.source}/{one.id}" for one in texts]), odd=odd)
    print(f"{len(texts)} texts, {len(read.owners)} windows; wrote {SHIPPED.relative_to(ROOT)}")


def _fold(one: Example) -> str:
    return str(author_fold(one))


def crossed(texts: Sequence[Example], read: Table, group: Callable[[Example], str]) -> Numbers:
    """The score of each text by a head that has not seen its group."""
    groups = np.array([group(one) for one in texts])
    scores = np.full(len(texts), -np.inf)
    for name in sorted(set(groups.tolist())):
        head = fit(read.only(np.flatnonzero(groups != name)))
        inside = np.flatnonzero(groups == name)
        scores[inside] = head.best(read.only(inside), len(texts))[inside]
    return scores


def write(head: Head, usual: Usual, alone: tuple[float, float], harmless: float) -> None:
    words, concepts = head.weights[:BUCKETS], head.weights[BUCKETS : BUCKETS + concept_features()]
    starts = head.weights[BUCKETS + concept_features() :] + head.bias
    cuts = [usual.middle + limit * usual.spread for limit in alone]
    SHIPPED.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        SHIPPED,
        words=words.astype(np.float16),
        concepts=concepts.astype(np.float16),
        numbers=np.array([starts, *cuts, usual.middle, usual.spread]).astype(np.float64),
        harmless=np.array(harmless),
    )


def unseen(texts: Sequence[Example], read: Table) -> None:
    """What is found of a source, and of a family, that the head has never seen."""
    sizes = Counter(one.family for one in texts if one.attack)
    honest = np.array([not one.attack for one in texts])
    labelled = honest & np.array([one.labelled for one in texts])
    for name, group in (("source", _source), ("family", partial(_family, sizes))):
        scores = crossed(texts, read, group)
        kinds = np.array([group(one) for one in texts])
        bars = [reached(scores[labelled], share) for share in (0.01, 0.03)]
        print(f"\nLeft out by {name}: found with 1% and with 3% of the labelled honest texts touched\n")
        for kind in sorted(set(kinds[~honest].tolist())):
            found = scores[(kinds == kind) & ~honest]
            shares = " | ".join(f"{(found >= bar).mean():.0%}" for bar in bars)
            print(f"| {kind} | {len(found)} | {shares} |")


def _source(one: Example) -> str:
    return one.source


def _family(sizes: Mapping[str, int], one: Example) -> str:
    """Attacks of a large family together; all else in folds, so that no text is scored by its own head."""
    return one.family if one.attack and sizes[one.family] >= LARGE else f"fold {_fold(one)}"


if __name__ == "__main__":
    main()
