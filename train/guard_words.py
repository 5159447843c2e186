"""Teach the small network of the quick look: `python -m train.guard_words [FOLD]`. Needs numpy and minutes.

What it learns from is in `guard_word_texts`. Each window of an honest text is honest; of an attack, the one
that reads most like an attack teaches, and half of the short ones stand in an honest text. Honest windows
that it doubts come more often. With FOLD (0 to 4) the authors and packages of that fold are left out, and
what it makes of them is printed. The network is written to `src/prowess/guard/model/words.npz`.
"""

import codecs
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from prowess.guard.integrity import write_digests
from prowess.guard.word_network import NEIGHBOURS, SHIPPED, STEP, WINDOW, WordNetwork, words_of
from train.guard_word_texts import Taught, taught

MOST_WORDS, FEWEST, OFTEN = 20_000, 3, 20
MEANING, SIGNS, WEIGHED = 32, 96, 32
PASSES, BATCH, RATE = 8, 256, 2e-3
HONEST_FOR_ONE = 2.5
FORGOTTEN = 0.25
"""The share of words it does not get to see, so that it relies on no single one."""
SOFT, SOFT_HONEST = 0.985, 0.005
DECAY = 1e-4
NO_WORD = -1

Ids = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float32]
Gradients = dict[str, Numbers]


@dataclass(slots=True)
class Student:
    """The weights while they are taught, by Adam."""

    parts: dict[str, Numbers]
    means: dict[str, Numbers] = field(init=False)
    squares: dict[str, Numbers] = field(init=False)
    steps: int = 0

    def __post_init__(self) -> None:
        self.means = {name: np.zeros_like(part) for name, part in self.parts.items()}
        self.squares = {name: np.zeros_like(part) for name, part in self.parts.items()}

    @classmethod
    def new(cls, words: int, chance: np.random.Generator) -> "Student":
        def drawn(*shape: int, spread: float) -> Numbers:
            return (chance.normal(size=shape) * spread).astype(np.float32)

        wide = NEIGHBOURS * MEANING
        parts = {
            # The first row is of unknown words, the last of no word at all.
            "meanings": drawn(words + 2, MEANING, spread=0.1),
            "signs": drawn(wide, SIGNS, spread=2 * (2 / wide) ** 0.5),
            "usual_signs": np.zeros(SIGNS, np.float32),
            "weighing": drawn(SIGNS, WEIGHED, spread=(2 / SIGNS) ** 0.5),
            "usual_weighing": np.zeros(WEIGHED, np.float32),
            "sums": drawn(WEIGHED, spread=0.2),
            "usual_sum": np.zeros(1, np.float32),
        }
        parts["meanings"][[0, -1]] = 0
        return cls(parts)

    def log_odds(self, windows: Ids) -> Numbers:
        return np.concatenate([self._seen(windows[at : at + 512])[0] for at in range(0, len(windows), 512)])

    def _seen(self, windows: Ids) -> tuple[Numbers, tuple[npt.NDArray[np.generic], ...]]:
        p = self.parts
        known = p["meanings"][windows]
        edge = np.zeros((len(known), 1, MEANING), np.float32)
        padded = np.concatenate([edge, known, edge], 1)
        rows = np.concatenate([padded[:, at : at + WINDOW] for at in range(NEIGHBOURS)], 2)
        signs = (rows.reshape(-1, rows.shape[2]) @ p["signs"]).reshape(len(windows), WINDOW, -1)
        where = signs.argmax(1)
        strongest = np.take_along_axis(signs, where[:, None], 1)[:, 0] + p["usual_signs"]
        seen = np.maximum(strongest, 0)
        weighed = np.maximum(seen @ p["weighing"] + p["usual_weighing"], 0)
        return weighed @ p["sums"] + p["usual_sum"][0], (rows, where, seen, weighed)

    def learn(self, windows: Ids, wanted: Numbers, rate: float) -> None:
        said, (rows, where, seen, weighed) = self._seen(windows)
        p = self.parts
        wrong = ((1 / (1 + np.exp(-said)) - wanted) / len(windows)).astype(np.float32)
        back = wrong[:, None] * p["sums"] * (weighed > 0)
        to_signs = (back @ p["weighing"].T) * (seen > 0)
        told = np.take_along_axis(rows, where[:, :, None], 1)
        found = {
            "sums": weighed.T @ wrong,
            "usual_sum": wrong.sum(keepdims=True),
            "weighing": seen.T @ back,
            "usual_weighing": back.sum(0),
            "signs": np.einsum("bfd,bf->df", told, to_signs),
            "usual_signs": to_signs.sum(0),
        }
        to_words = to_signs[:, :, None] * p["signs"].T[None]
        rows_of_words, changes = _by_word(windows, where, to_words)
        self._step(found, rows_of_words, changes, rate)

    def _step(self, found: Gradients, words: Ids, changes: Numbers, rate: float) -> None:
        self.steps += 1
        for name, change in found.items():
            self.parts[name] -= self._moved(name, slice(None), change, rate)
            if name in ("signs", "weighing", "sums"):
                self.parts[name] *= 1 - rate * DECAY
        self.parts["meanings"][words] -= self._moved("meanings", words, changes, rate)
        self.parts["meanings"][[0, -1]] = 0

    def _moved(self, name: str, at: slice | Ids, change: Numbers, rate: float) -> Numbers:
        mean = self.means[name][at] = 0.9 * self.means[name][at] + 0.1 * change
        square = self.squares[name][at] = 0.999 * self.squares[name][at] + 0.001 * change * change
        scale = np.sqrt(square / (1 - 0.999**self.steps)) + 1e-7
        moved: Numbers = (rate * mean / (1 - 0.9**self.steps) / scale).astype(np.float32)
        return moved


def _by_word(windows: Ids, where: Ids, to_words: Numbers) -> tuple[Ids, Numbers]:
    """What is to change of each word that was part of a strongest sign."""
    ids, changes = [], []
    for at in range(NEIGHBOURS):
        place = where + at - NEIGHBOURS // 2
        inside = (place >= 0) & (place < WINDOW)
        ids.append(np.take_along_axis(windows, np.clip(place, 0, WINDOW - 1), 1)[inside])
        changes.append(to_words[:, :, at * MEANING : (at + 1) * MEANING][inside])
    together, order = np.concatenate(ids), np.argsort(np.concatenate(ids), kind="stable")
    words, starts = np.unique(together[order], return_index=True)
    return words, np.add.reduceat(np.concatenate(changes)[order], starts, 0)


def windows_of(words: Ids) -> list[Ids]:
    if len(words) <= WINDOW:
        return [np.pad(words, (0, WINDOW - len(words)), constant_values=NO_WORD)]
    return [words[at : at + WINDOW] for at in (*range(0, len(words) - WINDOW, STEP), len(words) - WINDOW)]


def numbered(texts: Sequence[Taught]) -> dict[str, int]:
    """The words that occur in a few texts, the most frequent first."""
    counts: Counter[str] = Counter()
    honest: Counter[str] = Counter()
    for one in texts:
        words = set(words_of(one.text.lower()))
        counts.update(words)
        honest.update(() if one.attack else words)
    known = [word for word, count in counts.items() if count >= FEWEST and not _is_shifted(word, honest)]
    common = sorted(known, key=lambda word: -counts[word])[:MOST_WORDS]
    return {word: at for at, word in enumerate(common, 1)}


def _is_shifted(word: str, honest: Counter[str]) -> bool:
    """Whether it is an ordinary word with shifted letters, which says nothing by itself."""
    return honest[word] == 0 and honest[codecs.encode(word, "rot13")] >= OFTEN


def taught_student(texts: Sequence[Taught], numbers: dict[str, int]) -> Student:
    chance = np.random.default_rng(1)
    student = Student.new(len(numbers), chance)
    read = [(ids, one.attack) for one in texts if len(ids := ids_of(one.text, numbers))]
    attacks = [ids for ids, attack in read if attack]
    frames = [ids for ids, attack in read if not attack and len(ids) > WINDOW]
    honest = np.array([window for ids, attack in read if not attack for window in windows_of(ids)])
    honest[honest == NO_WORD] = len(numbers) + 1
    for number in range(PASSES):
        positive = _telling(student, attacks, frames, len(numbers) + 1, chance, first=number == 0)
        doubt = np.ones(len(honest))
        if number:
            doubt = 0.05 + 1 / (1 + np.exp(-np.clip(student.log_odds(honest) + 2.5, -20, 20)))
        chosen = chance.choice(
            len(honest), min(len(honest), int(HONEST_FOR_ONE * len(positive))), False, doubt / doubt.sum()
        )
        windows = np.concatenate([positive, honest[chosen]])
        wanted = np.repeat([SOFT, SOFT_HONEST], [len(positive), len(chosen)]).astype(np.float32)
        order = chance.permutation(len(windows))
        rate = RATE * (1 - number / PASSES) + 1e-4
        for at in range(0, len(order), BATCH):
            batch = windows[order[at : at + BATCH]].copy()
            batch[(chance.random(batch.shape) < FORGOTTEN) & (batch <= len(numbers))] = 0
            student.learn(batch, wanted[order[at : at + BATCH]], rate)
        print(f"pass {number + 1} of {PASSES}", flush=True)
    return student


def _telling(
    student: Student,
    attacks: list[Ids],
    frames: list[Ids],
    no_word: int,
    chance: np.random.Generator,
    first: bool,
) -> Ids:
    """Of each attack the window that reads most like one; half of the short ones among honest words."""
    found: list[Ids] = []
    owners: list[int] = []
    for number, ids in enumerate(attacks):
        ready = [_framed(ids, frames, chance)] if len(ids) < WINDOW else windows_of(ids)
        found += ready
        owners += [number] * len(ready)
    windows, owner = np.array(found), np.array(owners)
    windows[windows == NO_WORD] = no_word
    score = chance.random(len(windows)) if first else student.log_odds(windows)
    order = np.lexsort((score, owner))
    last = np.append(owner[order][1:] != owner[order][:-1], True)
    return windows[order[last]]


def _framed(ids: Ids, frames: list[Ids], chance: np.random.Generator) -> Ids:
    window = np.full(WINDOW, NO_WORD)
    at = 0
    if chance.random() < 0.5:
        frame = frames[chance.integers(len(frames))]
        start = chance.integers(len(frame) - WINDOW + 1)
        window = frame[start : start + WINDOW].copy()
        at = int(chance.integers(WINDOW - len(ids) + 1))
    window[at : at + len(ids)] = ids
    return window


def ids_of(text: str, numbers: dict[str, int]) -> Ids:
    said = words_of(text.lower())
    return np.array([numbers.get(word, 0) for word in said], np.int64)


def write(student: Student, numbers: dict[str, int]) -> None:
    parts = {name: part.astype(np.float16) for name, part in student.parts.items()}
    parts["meanings"] = parts["meanings"][:-1]
    words = np.frombuffer("\n".join(numbers).encode(), np.uint8)
    np.savez_compressed(SHIPPED, words=words, **parts)
    write_digests()


def main() -> None:
    texts = taught()
    out = int(sys.argv[1]) if len(sys.argv) > 1 else -1
    kept = [one for one in texts if one.fold != out]
    numbers = numbered(kept)
    print(f"{len(kept)} texts, {len(numbers)} words", flush=True)
    student = taught_student(kept, numbers)
    write(student, numbers)
    network = WordNetwork.open()
    assert network is not None
    scores: dict[str, list[float]] = {}
    for one in texts:
        if one.fold == out:
            kind = "attacks" if one.attack else one.kind
            scores.setdefault(kind, []).append(float(network.log_odds(words_of(one.text.lower())).max()))
    for kind, said in sorted(scores.items()):
        print(kind, len(said), *(f"{at}: {np.mean(np.array(said) >= at):.3f}" for at in (-1, -0.5, 0, 1, 2)))


if __name__ == "__main__":
    main()
