"""The network that reads stretches of a text and says how much each reads like an attack.

Above stands the classifier, which adds up what it, the words and the rules say. It grew out of the shipped
encoder: all of its layers were taught by texts of many authors (`model/taught.onnx`, made by
`train/guard_teach.py`). It has the encoder's words, and letters besides that the encoder does not know
(`model/letters.json`). A stretch is read alone, so the same text gets the same answer every time.
"""

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from prowess.guard.concepts import pieces
from prowess.guard.integrity import fault
from prowess.text.characters import fold

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

SHIPPED = Path(__file__).parent / "model" / "taught.onnx"
LETTERS = "letters.json"
"""Beside it: the letters it knows besides, and the digest of the tokenizer they were added to."""
# The encoder's files, not its code: nothing here knows how they are searched with.
ENCODER = Path(__file__).parents[1] / "discovery" / "model"

STRETCH = 112
"""How many tokens are read at a time: whole sentences, and half of them again with the next."""
MAX_STRETCHES, MAX_HIDDEN_STRETCHES = 40, 6
"""Stretches read of one text, and of one that it hides: all, as far as it goes."""
MOST_TELLING = 28
"""Of a longer text those around the places others find most telling; the others are spread over the rest."""
TOKENS = 128
NOTHING_READ = -20.0

FREE = re.compile(r"\[unused\d+\]|##[\u4e00-\u9fff]")
"""Places of the vocabulary that no text reaches: some are kept free, and Chinese letters stand alone."""

LONGEST_WORD = 420
"""Scripts without spaces have long words; of a longer one no token says anything."""
WIDEST = 24
"""A token of more letters stands for a word that was not read, and counts as much as its letters."""

Sizes = npt.NDArray[np.int64]


def runs_of(places: Sequence[tuple[int, int]], longest: int) -> Iterator[tuple[int, int]]:
    """Which sentences are read together, from one to before another, given where each begins and ends.

    Each run begins in the middle of the one before, so that nothing is cut in two everywhere.
    """
    start = 0
    while start < len(places):
        end = start + 1
        while end < len(places) and places[end][1] - places[start][0] <= longest:
            end += 1
        yield start, end
        if end == len(places):
            return
        start = max(start + 1, (start + end + 1) // 2)


def stretches(text: str, tokenizer: "Tokenizer") -> list[tuple[int, int]]:
    """Overlapping runs of sentences, each from where it begins to where it ends."""
    sizes = sizes_of(text, tokenizer)
    places = [part for piece in pieces(text) for part in _parted(piece, sizes)]
    measured = [(int(sizes[start]), int(sizes[end])) for start, end in places]
    return [(places[start][0], places[end - 1][1]) for start, end in runs_of(measured, STRETCH)]


def sizes_of(text: str, tokenizer: "Tokenizer") -> Sizes:
    """How many tokens there are before each place: a Korean letter is two, an English word often one."""
    offsets = tokenizer.encode(readable(text), add_special_tokens=False).offsets
    counts = np.zeros(len(text) + 1, np.int64)
    if offsets:
        starts, ends = np.array(offsets, np.int64).T
        wide = ends - starts > WIDEST
        np.add.at(counts, starts[~wide] + 1, 1)
        for start, end in zip(starts[wide].tolist(), ends[wide].tolist(), strict=True):
            counts[start + 1 : end + 1] += 1
    return np.cumsum(counts)


def _parted(piece: tuple[int, int], sizes: Sizes) -> Iterator[tuple[int, int]]:
    """A sentence, or the parts of one that is too long to be read at once."""
    start, end = piece
    while sizes[end] - sizes[start] > STRETCH:
        middle = max(start + 1, int(np.searchsorted(sizes, sizes[start] + STRETCH, "right")) - 1)
        yield start, middle
        start = middle
    yield start, end


def readable(text: str) -> str:
    """A text without halves of characters, of the same length."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def telling(runs: Sequence[tuple[int, int]], places: Sequence[int]) -> list[tuple[int, int]]:
    """All runs of a short text; of a longer one those that hold the places given, and some of the others."""
    if len(runs) <= MAX_STRETCHES:
        return list(runs)
    starts = [start for start, _ in runs]
    held = (runs[max(0, bisect_right(starts, place) - 1)] for place in places)
    chosen = list(islice(dict.fromkeys(held), MOST_TELLING))
    rest = [run for run in runs if run not in set(chosen)]
    left = MAX_STRETCHES - len(chosen)
    return [*chosen, *(rest[(2 * number + 1) * len(rest) // (2 * left)] for number in range(left))]


def folded(text: str) -> str:
    return fold(text, look_alikes=False).text


def asked(said: str, channel: str, hidden: bool = False) -> str:
    """What the network sees of a stretch: where the text stands, whether openly, and what it says."""
    return f"{'hidden ' if hidden else ''}{channel.replace('_', ' ')}: {said}"


def opened_tokenizer(words: Path, letters: Sequence[str]) -> "Tokenizer":
    """The encoder's tokenizer, which also knows letters that the encoder has not learnt.

    They stand in places of its vocabulary that are free; the network was taught what they say.
    """
    from tokenizers import Tokenizer

    held = json.loads(words.read_text(encoding="utf-8"))
    vocabulary = held["model"]["vocab"]
    free = [name for name in vocabulary if FREE.fullmatch(name)]
    for piece, name in zip(letters, free, strict=False):
        vocabulary[piece] = vocabulary.pop(name)
    # Scripts without spaces have long words.
    held["model"]["max_input_chars_per_word"] = LONGEST_WORD
    tokenizer = Tokenizer.from_str(json.dumps(held))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def ids_of(said: str, tokenizer: "Tokenizer") -> list[int]:
    """The tokens of one stretch, as many as are read at a time."""
    ids: list[int] = tokenizer.encode(readable(said)).ids
    return ids if len(ids) <= TOKENS else [*ids[: TOKENS - 1], ids[-1]]


@dataclass(frozen=True, slots=True)
class NetworkScore:
    """What the network says of the stretch it finds worst, in log-odds, and where that one stands."""

    log_odds: float = NOTHING_READ
    place: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a text as the network sees it, and where in the text it stands."""

    said: str
    start: int
    end: int


class Reader:
    def __init__(self, network: "InferenceSession", tokenizer: "Tokenizer") -> None:
        self._network = network
        self._tokenizer = tokenizer

    @classmethod
    def open(cls, file: Path = SHIPPED, encoder: Path = ENCODER) -> Self | None:
        """The shipped network, or none where a part is missing or the words are those of another encoder."""
        try:
            # Loaded when something is first judged: they cost 150 ms that other uses need not pay.
            from onnxruntime import InferenceSession, SessionOptions
        except ImportError:
            return None
        words = encoder / "tokenizer.json"
        if not (file.exists() and words.exists()) or (file == SHIPPED and fault()):
            return None
        known = json.loads(file.with_name(LETTERS).read_text(encoding="utf-8"))
        if hashlib.sha256(words.read_bytes()).hexdigest() != known["tokenizer"]:
            return None
        options = SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        network = InferenceSession(file.read_bytes(), options, providers=["CPUExecutionProvider"])
        return cls(network, opened_tokenizer(words, known["letters"]))

    def read(
        self, text: str, channel: str, places: Sequence[int], hidden: Sequence[Stretch] = ()
    ) -> NetworkScore:
        """What the network says of a text and of what it hides; of a long one, around the places given."""
        plain = fold(text, look_alikes=False)
        read = [Stretch(asked(plain.text[start:end], channel), *plain.span(start, end))
                for start, end in telling(stretches(plain.text, self._tokenizer), places)]  # fmt: skip
        for one in hidden:
            said = folded(one.said)
            read += [replace(one, said=asked(said[start:end], channel, hidden=True))
                     for start, end in stretches(said, self._tokenizer)[:MAX_HIDDEN_STRETCHES]]  # fmt: skip
        scores = (NetworkScore(self.log_odds(one.said), one.start, one.end) for one in read)
        return max(scores, key=lambda seen: seen.log_odds, default=NetworkScore())

    def worst_sentence(self, text: str, channel: str, seen: NetworkScore) -> tuple[int, int]:
        """Where in the stretch that reads worst the sentence stands that does so by itself."""
        stretch = text[seen.place : seen.end]
        places = list(pieces(stretch))
        if len(places) < 2:
            return seen.place, seen.end
        scores = [self.log_odds(asked(folded(stretch[a:b]), channel)) for a, b in places]
        start, end = places[scores.index(max(scores))]
        return seen.place + start, seen.place + end

    def log_odds(self, said: str) -> float:
        """What the network makes of one stretch."""
        ids = np.array([ids_of(said, self._tokenizer)], np.int64)
        (found,) = self._network.run(["log_odds"], {"input_ids": ids})
        return float(found[0, 0])
