"""Train the head of the guard's classifier: `python -m train.guard`. Needs only numpy and a few minutes.

What it learns from is in `guard_texts.py`, how in `guard_fit.py`. Limits come from cross-validation over
whole texts, so that no text sets a limit by a head that was taught with it. The limits for head and reader
together come from the texts the reader was not taught with: make it first (`guard_reader.py`).
`python -m train.guard unseen` leaves out one source after the other, and one family after the other, and
prints what is found of it.
"""

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from prowess.context.classifier import BUCKETS, SHIPPED, concept_features
from prowess.context.reader import Reader
from train.guard_fit import Head, Table, fit, table
from train.guard_limits import Usual, channels_of, harmless_below, kinds_of, reached, together, usual_of
from train.guard_texts import ROOT, Example, examples, fold_of

Numbers = npt.NDArray[np.float64]

LARGE = 15
"""How many attacks a family has that is left out as a whole; smaller ones say little."""


def main() -> None:
    texts = examples()
    read = table(texts)
    if "unseen" in sys.argv:
        unseen(texts, read)
        return
    reader = Reader.open()
    if reader is None:
        raise SystemExit("there is no reader for the shipped encoder: run python -m train.guard_reader first")
    scores, kinds = crossed(texts, read, _fold), kinds_of(texts)
    usual = usual_of(texts, scores, kinds)
    odd = usual.odd(scores, channels_of(texts))
    head = fit(read)
    alone, both = kinds.cuts(odd), together(texts, odd, kinds, reader, head)
    write(head, usual, alone, [*both, harmless_below(odd, kinds)])
    print(f"{len(texts)} texts, {len(read.owners)} windows; wrote {SHIPPED.relative_to(ROOT)}")
    print("alone", alone, "together", both)


def _fold(one: Example) -> str:
    return str(fold_of(one))


def crossed(texts: Sequence[Example], read: Table, group: Callable[[Example], str]) -> Numbers:
    """The score of each text by a head that has not seen its group."""
    groups = np.array([group(one) for one in texts])
    scores = np.full(len(texts), -np.inf)
    for name in sorted(set(groups.tolist())):
        head = fit(read.only(np.flatnonzero(groups != name)))
        inside = np.flatnonzero(groups == name)
        scores[inside] = head.best(read.only(inside), len(texts))[inside]
    return scores


def write(head: Head, usual: Usual, alone: tuple[float, float], both: Sequence[float]) -> None:
    words, concepts = head.weights[:BUCKETS], head.weights[BUCKETS : BUCKETS + concept_features()]
    starts = head.weights[BUCKETS + concept_features() :] + head.bias
    cuts = [usual.middle + limit * usual.spread for limit in alone]
    SHIPPED.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        SHIPPED,
        words=words.astype(np.float16),
        concepts=concepts.astype(np.float16),
        numbers=np.array([starts, *cuts, usual.middle, usual.spread]).astype(np.float64),
        together=np.array(both),
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
