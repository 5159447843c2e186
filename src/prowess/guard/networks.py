"""The network that reads stretches of a text and says how much each reads like an attack.

Above stands the classifier, which adds up what it, the words and the rules say. It grew out of the shipped
encoder: all of its layers were taught by texts of many authors (`model/taught.onnx`, made by
`train/guard_teach.py`). It has the encoder's words, and letters besides that the encoder does not know
(`model/letters.json`). A stretch is read alone, so the same text gets the same answer every time.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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

STRETCH = 420
"""How many characters are read at a time: whole sentences, and half of them again with the next."""
MAX_STRETCHES, MAX_HIDDEN_STRETCHES = 12, 6
"""Stretches read of one text, and of one that it hides: those around the places others find most telling."""
TOKENS = 128
NOTHING_READ = -20.0

UNUSED = re.compile(r"\[unused\d+\]")

SPELLED, SPELLED_FROM = 3, 0x250
"""What a letter counts that the encoder spells, and where such letters begin."""

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


def stretches(text: str) -> list[tuple[int, int]]:
    """Overlapping runs of sentences, each from where it begins to where it ends."""
    sizes = sizes_of(text)
    places = [part for piece in pieces(text) for part in _parted(piece, sizes)]
    measured = places if sizes is None else [(int(sizes[start]), int(sizes[end])) for start, end in places]
    return [(places[start][0], places[end - 1][1]) for start, end in runs_of(measured, STRETCH)]


def sizes_of(text: str) -> Sizes | None:
    """How much there is to read before each place; nothing for a text in which every character counts one.

    The encoder knows Latin words as wholes and spells other scripts, so a letter of those counts for more.
    """
    if text.isascii():
        return None
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return np.append(0, np.cumsum(np.where(codes < SPELLED_FROM, 1, SPELLED)))


def _parted(piece: tuple[int, int], sizes: Sizes | None) -> Iterator[tuple[int, int]]:
    """A sentence, or the parts of one that is too long to be read at once."""
    start, end = piece
    if sizes is None or sizes[end] - sizes[start] <= STRETCH:
        yield piece
        return
    step = STRETCH // SPELLED
    yield from ((at, min(at + step, end)) for at in range(start, end, step))


def telling(runs: Sequence[tuple[int, int]], places: Sequence[int]) -> list[tuple[int, int]]:
    """All runs of a short text; of a longer one those that hold the places given, the first of them first."""
    if len(runs) <= MAX_STRETCHES:
        return list(runs)
    held = [[run for run in runs if run[0] <= place < run[1]] for place in places]
    return list(dict.fromkeys(run for found in held for run in found[-1:]))[:MAX_STRETCHES]


def folded(text: str) -> str:
    return fold(text, look_alikes=False).text


def asked(said: str, channel: str, hidden: bool = False) -> str:
    """What the network sees of a stretch: where the text stands, whether openly, and what it says."""
    return f"{'hidden ' if hidden else ''}{channel.replace('_', ' ')}: {said}"


def opened_tokenizer(words: Path, letters: Sequence[str]) -> "Tokenizer":
    """The encoder's tokenizer, which also knows letters that the encoder has not learnt.

    They stand in the places of its vocabulary that it keeps free; the network was taught what they say.
    """
    from tokenizers import Tokenizer

    held = json.loads(words.read_text(encoding="utf-8"))
    vocabulary = held["model"]["vocab"]
    free = [name for name in vocabulary if UNUSED.fullmatch(name)]
    for piece, name in zip(letters, free, strict=False):
        vocabulary[piece] = vocabulary.pop(name)
    # Scripts without spaces have long words.
    held["model"]["max_input_chars_per_word"] = STRETCH
    tokenizer = Tokenizer.from_str(json.dumps(held))
    tokenizer.no_padding()
    tokenizer.enable_truncation(TOKENS)
    return tokenizer


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
                for start, end in telling(stretches(plain.text), places)]  # fmt: skip
        for one in hidden:
            said = folded(one.said)
            read += [replace(one, said=asked(said[start:end], channel, hidden=True))
                     for start, end in stretches(said)[:MAX_HIDDEN_STRETCHES]]  # fmt: skip
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
        readable = said.encode("utf-8", "replace").decode()
        ids = np.array([self._tokenizer.encode(readable).ids], np.int64)
        (found,) = self._network.run(["log_odds"], {"input_ids": ids})
        return float(found[0, 0])
