"""Teach the small networks of the quick look: `python -m train.guard_words --manuals FOLDER [--second]`.

Needs numpy and minutes. What it learns from is in `guard_word_texts`. Each window of an honest text is
honest; of an attack, the one that reads most like an attack teaches, and half of the short ones stand in an
honest text. Honest windows that it doubts come more often. The network is written to `model/words.npz` of the
guard; with --second, another draw to `words_again.npz`. With --out FOLD (0 to 4) it is not: the authors and
packages of that fold are left out, and what it makes of them is printed.
"""

import argparse
import codecs
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from prowess.guard.integrity import write_digests
from prowess.guard.word_network import NEIGHBOURS, SECOND, SHIPPED, STEP, WINDOW, WordNetwork
from prowess.guard.word_numbers import Numbers as Words
from prowess.guard.word_numbers import words_of
from train.guard_word_texts import Taught, taught

MOST_WORDS, FEWEST, OFTEN = 30_000, 3, 50
OF_ATTACKS = 5
"""For so many texts an attack counts when frequent words are chosen: there is more documentation."""
MEANING, SIGNS, WEIGHED = 32, 96, 32
PASSES, BATCH, RATE = 8, 256, 2e-3
HONEST_FOR_ONE = 4
FORGOTTEN = 0.25
"""The share of words it does not get to see, so that it relies on no single one."""
UNKNOWN, UNREAD = 0.05, 0.9
"""Of so many honest windows most words are not known: then it has nothing to go by, and passes over them."""
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

    def network(self, known: Words) -> WordNetwork:
        """As it is used, with the words that were given rows."""
        parts = {name: part for name, part in self.parts.items() if name not in ("meanings", "usual_sum")}
        usual = float(self.parts["usual_sum"][0])
        return WordNetwork(known, self.parts["meanings"][:-1], usual_sum=usual, **parts)

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
    """As the network reads them: the last one may reach beyond the end."""
    count = max(1, -(-len(words) // STEP) - WINDOW // STEP + 1)
    padded = np.pad(words, (0, max(0, (count - 1) * STEP + WINDOW - len(words))), constant_values=NO_WORD)
    return [padded[at * STEP : at * STEP + WINDOW] for at in range(count)]


def known_words(texts: Sequence[Taught]) -> Words:
    """The words that occur in a few texts, the most frequent ones, as numbers in their order."""
    counts: Counter[int] = Counter()
    honest: Counter[int] = Counter()
    written: dict[int, str] = {}
    for one in texts:
        small = one.text.lower()
        read = words_of(small)
        places = zip(read.starts.tolist(), read.ends.tolist(), strict=True)
        said = dict(zip(read.numbers.tolist(), places, strict=True))
        counts.update(dict.fromkeys(said, OF_ATTACKS if one.attack else 1))
        honest.update(() if one.attack else said.keys())
        if one.attack:
            written.update({number: small[at:end] for number, (at, end) in said.items()})
    known = [
        number for number, count in counts.items() if count >= FEWEST * (1 if honest[number] else OF_ATTACKS)
    ]
    shifted = {number for number in known if number in written and _is_shifted(number, written, honest)}
    common = sorted((one for one in known if one not in shifted), key=lambda number: -counts[number])
    return np.sort(np.array(common[:MOST_WORDS], np.uint64))


def _is_shifted(number: int, written: dict[int, str], honest: Counter[int]) -> bool:
    """Whether it is an ordinary word with shifted letters, which says nothing by itself."""
    turned = words_of(codecs.encode(written[number], "rot13")).numbers.tolist()
    return bool(turned) and honest[turned[0]] >= OFTEN * max(1, honest[number])


def taught_student(texts: Sequence[Taught], known: Words, seed: int) -> Student:
    chance = np.random.default_rng(seed)
    student = Student.new(len(known), chance)
    read = [(said, one.attack) for one in texts if len(said := words_of(one.text.lower()).numbers)]
    attacks = [ids_of(said, known) for said, attack in read if attack]
    plain = [said for said, attack in read if not attack]
    frames = [ids_of(said, known) for said in plain if len(said) > WINDOW]
    honest = np.array([window for said in plain for window in windows_of(ids_of(said, known))], np.int32)
    honest[honest == NO_WORD] = len(known) + 1
    for number in range(PASSES):
        positive = _telling(student, attacks, frames, len(known) + 1, chance, first=number == 0)
        doubt = np.ones(len(honest))
        if number:
            network = student.network(known)
            # The same windows, read quicker: those of one text share their words.
            score = np.concatenate([network.log_odds(said) for said in plain])
            doubt = 0.05 + 1 / (1 + np.exp(-np.clip(score + 2.5, -20, 20)))
        count = min(len(honest), int(HONEST_FOR_ONE * len(positive)))
        chosen = chance.choice(len(honest), count, False, doubt / doubt.sum())
        windows = np.concatenate([positive, honest[chosen]])
        wanted = np.repeat([SOFT, SOFT_HONEST], [len(positive), count]).astype(np.float32)
        _learn(student, windows, wanted, RATE * (1 - number / PASSES) + 1e-4, chance)
        print(f"pass {number + 1} of {PASSES}", flush=True)
    return student


def _learn(student: Student, windows: Ids, wanted: Numbers, rate: float, chance: np.random.Generator) -> None:
    """Show it all windows once, in any order, without some of their words."""
    known = len(student.parts["meanings"]) - 2
    order = chance.permutation(len(windows))
    for at in range(0, len(order), BATCH):
        chosen = order[at : at + BATCH]
        batch = windows[chosen].copy()
        unread = (wanted[chosen] < SOFT) & (chance.random(len(chosen)) < UNKNOWN)
        lost = chance.random(batch.shape) < np.where(unread, UNREAD, FORGOTTEN)[:, None]
        batch[lost & (batch <= known)] = 0
        student.learn(batch, wanted[chosen], rate)


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


def ids_of(said: Words, known: Words) -> Ids:
    """The row of each word; words that are not known share the first."""
    at = np.minimum(np.searchsorted(known, said), len(known) - 1)
    return np.where(known[at] == said, at + 1, 0)


def write(student: Student, known: Words, file: Path) -> None:
    parts = {name: part.astype(np.float16) for name, part in student.parts.items()}
    parts["meanings"] = parts["meanings"][:-1]
    np.savez_compressed(file, words=known, **parts)
    write_digests()


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--out", type=int, default=-1)
    options.add_argument("--manuals", type=Path)
    options.add_argument("--second", action="store_true")
    given = options.parse_args()
    texts = taught(given.manuals)
    kept = [one for one in texts if one.fold != given.out]
    known = known_words(kept)
    print(f"{len(kept)} texts, {len(known)} words", flush=True)
    student = taught_student(kept, known, 2 if given.second else 1)
    if given.out < 0:
        write(student, known, SECOND if given.second else SHIPPED)
        return
    network = student.network(known)
    scores: dict[str, list[float]] = {}
    for one in texts:
        if one.fold == given.out:
            kind = "attacks" if one.attack else one.kind
            scores.setdefault(kind, []).append(
                float(network.log_odds(words_of(one.text.lower()).numbers).max())
            )
    for kind, said in sorted(scores.items()):
        print(
            kind, len(said), *(f"{at}: {np.mean(np.array(said) >= at):.3f}" for at in (-1, -0.5, 0, 0.5, 1))
        )


if __name__ == "__main__":
    main()
