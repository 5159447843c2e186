"""Fit how words and similarity add up, and what a relevance of 0.3 means, for the shipped encoder.

    python bench/tuning/calibrate.py FOLDER_OF_SETS [--model FOLDER] [--write]

Reads only `train` queries, and of the rows that need no tool one half; the other half is reported.
With --write the result replaces src/prowess/discovery/calibration.json.

An encoder that was trained on these queries looks better on them than it is on others, and the fit
would trust it too much. Fit with a --model that has not seen them, such as the one it started from.
"""

import argparse
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from prowess.discovery.corpus import Corpus
from prowess.discovery.encoder import SHIPPED as SHIPPED_MODEL
from prowess.discovery.encoder import Encoder
from prowess.discovery.fusion import SHIPPED, Calibration, Scale
from prowess.discovery.text import embedding_text
from prowess.metrics import LabelledSet, Query, read_set, sampled
from prowess.types import Capability

Array = npt.NDArray[np.float64]

SETS = ("metatool", "sealtools", "bfcl", "toollinkos_main")
# How often a catalogue of each size is drawn; the whole catalogue is used once.
DRAWS = {8: 12, 20: 8, 60: 5, 199: 2}
QUERIES = 1000
CANDIDATES = 50
THRESHOLD = 0.3
# The share of requests that need a tool and may be left without one at the threshold.
ACCEPTED_LOSS = 0.08
# The likelihood is ruled by near misses of meaning; the order (NDCG on train) wants words to count more.
WORDS_COUNT_MORE = 1.3
# Below the first hit the odds fall faster than the fit, which sees only first hits, can know.
SOFTER = 0.6


@dataclass(frozen=True)
class Vectors:
    """Every text is encoded once."""

    encode: Callable[[Sequence[str]], npt.NDArray[np.float32]]
    known: dict[str, npt.NDArray[np.float32]]

    def of(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        for text in texts:
            if text not in self.known:
                self.known[text] = self.encode([text])[0]
        return np.stack([self.known[text] for text in texts])


def corpus_of(capabilities: Sequence[Capability], vectors: Vectors) -> Corpus:
    corpus = Corpus()
    corpus.put(capabilities)
    matrix = vectors.of([embedding_text(each) for each in capabilities])
    corpus.give_vectors({each.id: vector for each, vector in zip(capabilities, matrix, strict=True)})
    return corpus


def evidence(corpus: Corpus, text: str, vectors: Vectors) -> Array:
    """Two columns, similarity and words, one line for each row of the corpus."""
    similar = corpus.dense.similarities(vectors.of([text]))[0]
    return np.stack([similar, corpus.lexical.scores(corpus.words.terms(text))], axis=1).astype(np.float64)


def contests(data: LabelledSet, vectors: Vectors) -> list[tuple[Array, Array]]:
    """For each query the evidence of the best candidates, and which of them are right."""
    corpus = corpus_of(data.capabilities, vectors)
    found = []
    for query in sampled(data.queries, "train", QUERIES):
        seen = evidence(corpus, query.text, vectors)
        right = {*query.gold, *(other for others in query.alternatives.values() for other in others)}
        gold = {row for row in map(corpus.row, right) if row is not None}
        count = min(CANDIDATES, len(seen))
        best = {int(row) for column in seen.T for row in np.argpartition(-column, count - 1)[:count]}
        rows = sorted(best | gold)
        found.append((seen[rows], np.array([row in gold for row in rows], float)))
    return found


def weights(sets: Sequence[list[tuple[Array, Array]]], columns: list[int]) -> Array:
    """Softmax regression: which weights make the right candidates most likely, all sets alike."""
    value = np.zeros(len(columns))
    loss, gradient, curve = likelihood(sets, columns, value)
    for _ in range(40):
        step, share = np.linalg.solve(curve, gradient), 1.0
        while likelihood(sets, columns, value - share * step)[0] > loss and share > 1e-4:
            share /= 2
        value, before = value - share * step, loss
        loss, gradient, curve = likelihood(sets, columns, value)
        if before - loss < 1e-7:
            break
    return value


def likelihood(
    sets: Sequence[list[tuple[Array, Array]]], columns: list[int], value: Array
) -> tuple[float, Array, Array]:
    loss, gradient, curve = 0.0, np.zeros(len(value)), 1e-9 * np.eye(len(value))
    for found in sets:
        for seen, right in found:
            chosen = seen[:, columns]
            odds = chosen @ value
            grown = np.exp(odds - odds.max())
            belief, target = grown / grown.sum(), right / right.sum()
            each = 1 / len(found) / len(sets)
            loss -= each * float(target @ np.log(np.maximum(belief, 1e-300)))
            gradient += each * chosen.T @ (belief - target)
            mean = chosen.T @ belief
            curve += each * ((chosen * belief[:, None]).T @ chosen - np.outer(mean, mean))
    return loss, gradient, curve


@dataclass(frozen=True)
class Trial:
    """The strongest evidence of requests that need a tool, and of others, in one size of catalogue."""

    size: int
    needing: Array
    idle: Array


def trials(data: LabelledSet, idle: Sequence[str], vectors: Vectors, scale: Scale) -> list[Trial]:
    chance = np.random.RandomState(13)
    everything = list(data.capabilities)
    found = []
    queries = sampled(data.queries, "train", QUERIES)
    for size, draws in [*DRAWS.items(), (len(everything), 1)]:
        for _ in range(draws if size <= len(everything) else 0):
            picked = [everything[row] for row in chance.permutation(len(everything))[:size]]
            present = {each.id for each in picked}
            answered = [query for query in queries if present & set(query.gold)][:400]
            asked = [idle[row] for row in chance.permutation(len(idle))[: 60 if draws > 1 else None]]
            corpus = corpus_of(picked, vectors)
            tops = [strongest(corpus, each.text, vectors, scale) for each in answered]
            others = [strongest(corpus, text, vectors, scale) for text in asked]
            if tops:
                found.append(Trial(size, np.array(tops), np.array(others)))
    return found


def strongest(corpus: Corpus, text: str, vectors: Vectors, scale: Scale) -> float:
    return float((evidence(corpus, text, vectors) @ [scale.dense, scale.lexical]).max())


def threshold_line(found: Sequence[Trial]) -> tuple[float, float, float]:
    """Logistic regression of need against strength and size: slope, catalogue, offset."""
    lines, target, share = [], [], []
    for trial in found:
        for values, needed in ((trial.needing, 1.0), (trial.idle, 0.0)):
            lines += [[value, np.log(trial.size), 1.0] for value in values]
            target += [needed] * len(values)
            share += [1 / len(values)] * len(values)
    seen, wanted, each = np.array(lines), np.array(target), np.array(share)
    value = np.zeros(3)
    for _ in range(60):
        odds = 1 / (1 + np.exp(-seen @ value))
        curve = (seen * (each * odds * (1 - odds))[:, None]).T @ seen + 1e-9 * np.eye(3)
        value = value - np.linalg.solve(curve, seen.T @ (each * (odds - wanted)))
    return float(value[0]), float(-value[1] / value[0]), float(-value[2] / value[0])


def fitted(scale: Scale, found: Sequence[Trial], needing: Array, size: int) -> Scale:
    """Place the threshold where the accepted share of requests that need a tool falls below it."""
    slope, catalogue, _ = threshold_line(found)
    slope *= SOFTER
    lowest = float(np.quantile(needing, ACCEPTED_LOSS))
    offset = lowest - catalogue * float(np.log(size)) - float(np.log(THRESHOLD / (1 - THRESHOLD))) / slope
    return replace(scale, catalogue=round(catalogue, 3), offset=round(offset, 3), slope=round(slope, 3))


@dataclass(frozen=True)
class Awareness:
    """Rows that say whether a request needs a tool at all, one half to fit and one to report."""

    needing: tuple[list[str], list[str]]
    idle: tuple[list[str], list[str]]


def awareness(folder: Path, queries: Sequence[Query]) -> Awareness:
    train = {query.text for query in queries if query.split == "train"}
    needing: tuple[list[str], list[str]] = ([], [])
    idle: tuple[list[str], list[str]] = ([], [])
    for line in (folder / "no_tool.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["label"] == "tool":
            needing[row["query"] not in train].append(row["query"])
        else:
            idle[hashlib.md5(row["id"].encode()).digest()[0] % 2].append(row["query"])
    return Awareness(needing, idle)


def report(name: str, scale: Scale, tops: tuple[Array, Array], size: int) -> None:
    line = scale.catalogue * np.log(size) + scale.offset + np.log(THRESHOLD / (1 - THRESHOLD)) / scale.slope
    lost, empty = float((tops[0] < line).mean()), float((tops[1] < line).mean())
    print(f"{name}: left empty {empty:.1%} of rows that need no tool, {lost:.1%} of rows that need one")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--model", type=Path, default=SHIPPED_MODEL)
    arguments.add_argument("--write", action="store_true")
    given = arguments.parse_args()
    vectors = Vectors(Encoder.open(given.model), {})
    sets = {name: read_set(given.folder / name) for name in SETS}
    rows = awareness(given.folder / "metatool", sets["metatool"].queries)
    fought = [contests(data, vectors) for data in sets.values()]
    print("encoded", len(vectors.known), "texts")
    whole = corpus_of(sets["metatool"].capabilities, vectors)
    scales = {}
    for name, columns in (("hybrid", [0, 1]), ("words", [1])):
        value = weights(fought, columns).tolist()
        similar, words = (value[0], WORDS_COUNT_MORE * value[1]) if len(value) > 1 else (0.0, value[0])
        scale = Scale(round(similar, 3), round(words, 3), 0.0, 0.0, 1.0)
        found = [each for data in sets.values() for each in trials(data, rows.idle[0], vectors, scale)]
        tops = [np.array([strongest(whole, text, vectors, scale) for text in half]) for half in rows.needing]
        others = [np.array([strongest(whole, text, vectors, scale) for text in half]) for half in rows.idle]
        scales[name] = fitted(scale, found, tops[0], len(whole))
        for half, part in enumerate(("fitted", "reported")):
            report(f"{name}, {part} half", scales[name], (tops[half], others[half]), len(whole))
    result = asdict(Calibration(scales["hybrid"], scales["words"]))
    print(json.dumps(result, indent=2))
    if given.write:
        SHIPPED.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
