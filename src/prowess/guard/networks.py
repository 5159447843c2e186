"""Two networks that read stretches of a text and say how much each reads like an attack.

Above stands the classifier, which adds up what they say. Both grew out of the shipped encoder. One has all of
its layers taught by texts of many authors (`model/taught.onnx`, made by `train/guard_teach.py`). The other
is the encoder itself, its layers turned to what is subtle: `model/reader.npz`, made by
`train/guard_reader.py`, holds two narrow matrices for each weight, and they are worked into a copy of the
encoder when something is first judged. A stretch is read alone, so the same text gets the same answer every
time.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
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

SHIPPED = Path(__file__).parent / "model" / "reader.npz"
TAUGHT = "taught.onnx"
# The encoder's files, not its code: nothing here knows how they are searched with.
ENCODER = Path(__file__).parents[1] / "discovery" / "model"

STRETCH = 420
"""How many characters are read at a time: whole sentences, and half of them again with the next."""
MAX_STRETCHES, MAX_HIDDEN_STRETCHES = 12, 6
"""Stretches read of one text, and of one that it hides: those around the places others find most telling."""
TOKENS = 128
NOTHING_READ = -20.0
SHARPNESS = 8.0
"""The encoder's vectors have length 1; the head was taught with longer ones."""

SPELLED, SPELLED_FROM = 3, 0x250
"""What a letter counts that the encoder spells, and where such letters begin."""

Floats = npt.NDArray[np.float32]
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


def turned(encoder: bytes, changes: Mapping[str, npt.NDArray[np.generic]]) -> bytes:
    """The encoder with its weights changed; rounded to 8 bits again, each column with a scale of its own.

    A change is a product of two narrow matrices, in 8 bits as well. `at_N` says where in the file the weights
    and their scales stand, `left_N` and `right_N` are the matrices, `scale_N` is what each pair counts.
    """
    content = bytearray(encoder)
    for number in range(len(changes) // 4):
        kernel_at, scale_at = changes[f"at_{number}"].tolist()
        left, right = (changes[f"{side}_{number}"].astype(np.float32) for side in ("left", "right"))
        left *= changes[f"scale_{number}"].astype(np.float32)
        shape = (left.shape[0], right.shape[1])
        kernel = np.frombuffer(content, np.int8, shape[0] * shape[1], kernel_at).reshape(shape)
        scale = np.frombuffer(content, np.float32, shape[1], scale_at)
        weights = left @ right
        weights += kernel * scale
        largest = np.maximum(weights.max(axis=0), -weights.min(axis=0))
        rounded_scale = np.maximum(largest, np.float32(1e-12)) / np.float32(127)
        weights /= rounded_scale
        rounded = np.rint(weights, out=weights).astype(np.int8)
        content[kernel_at : kernel_at + rounded.size] = rounded.tobytes()
        content[scale_at : scale_at + rounded_scale.nbytes] = rounded_scale.tobytes()
    return bytes(content)


@dataclass(frozen=True, slots=True)
class LinearHead:
    """From the vector of a stretch to the log-odds that it is an attack."""

    inner: Floats
    inner_bias: Floats
    outer: Floats
    outer_bias: float

    def __call__(self, vector: Floats) -> float:
        seen = np.tanh(self.inner @ (np.float32(SHARPNESS) * vector) + self.inner_bias)
        return float(self.outer @ seen) + self.outer_bias


@dataclass(frozen=True, slots=True)
class NetworkScores:
    """What each network says of the stretch it finds worst, in log-odds, and where the first one's begins."""

    taught: float = NOTHING_READ
    turned: float = NOTHING_READ
    place: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a text as the networks see it, and where in the text it stands."""

    said: str
    start: int
    end: int


class Reader:
    def __init__(
        self, taught: "InferenceSession", turned: "InferenceSession", tokenizer: "Tokenizer", head: LinearHead
    ) -> None:
        self._taught = taught
        self._turned = turned
        self._tokenizer = tokenizer
        self._head = head

    @classmethod
    def open(cls, file: Path = SHIPPED, encoder: Path = ENCODER) -> Self | None:
        """The shipped networks, or none where a part is missing or belongs to another encoder."""
        try:
            # Loaded when something is first judged: they cost 150 ms that other uses need not pay.
            from onnxruntime import InferenceSession, SessionOptions
            from tokenizers import Tokenizer
        except ImportError:
            return None
        taught = file.with_name(TAUGHT)
        missing = not (file.exists() and taught.exists() and (encoder / "model.onnx").exists())
        if missing or (file == SHIPPED and fault()):
            return None
        content = (encoder / "model.onnx").read_bytes()
        with np.load(file, allow_pickle=False) as kept:
            parts = {name: kept[name] for name in kept.files}
        if hashlib.sha256(content).hexdigest() != str(parts.pop("encoder")):
            return None
        inner, inner_bias, outer = (parts.pop(f"head_{number}").astype(np.float32) for number in range(3))
        head = LinearHead(inner, inner_bias, outer, float(parts.pop("head_3")))
        options = SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        first, second = (
            InferenceSession(model, options, providers=["CPUExecutionProvider"])
            for model in (taught.read_bytes(), turned(content, parts))
        )
        tokenizer = Tokenizer.from_file(str(encoder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(TOKENS)
        return cls(first, second, tokenizer, head)

    def read(
        self, text: str, channel: str, places: Sequence[int], hidden: Sequence[Stretch] = ()
    ) -> NetworkScores:
        """What the networks say of a text and of what it hides; of a long one, around the places given."""
        plain = fold(text, look_alikes=False)
        read = [Stretch(asked(plain.text[start:end], channel), *plain.span(start, end))
                for start, end in telling(stretches(plain.text), places)]  # fmt: skip
        for one in hidden:
            said = folded(one.said)
            read += [replace(one, said=asked(said[start:end], channel, hidden=True))
                     for start, end in stretches(said)[:MAX_HIDDEN_STRETCHES]]  # fmt: skip
        seen = NetworkScores()
        for stretch in read:
            seen = worse(seen, stretch, *self.log_odds(stretch.said))
        return seen

    def worst_sentence(self, text: str, channel: str, seen: NetworkScores) -> tuple[int, int]:
        """Where in the stretch that reads worst the sentence stands that does so by itself."""
        stretch = text[seen.place : seen.end]
        places = list(pieces(stretch))
        if len(places) < 2:
            return seen.place, seen.end
        scores = [sum(self.log_odds(asked(folded(stretch[a:b]), channel))) for a, b in places]
        start, end = places[scores.index(max(scores))]
        return seen.place + start, seen.place + end

    def log_odds(self, said: str) -> tuple[float, float]:
        """What both networks make of one stretch."""
        readable = said.encode("utf-8", "replace").decode()
        ids = {"input_ids": np.array([self._tokenizer.encode(readable).ids], np.int64)}
        (taught,) = self._taught.run(["log_odds"], ids)
        (vector,) = self._turned.run(["embedding"], ids)
        return float(taught[0, 0]), self._head(np.asarray(vector[0], np.float32))


def worse(seen: NetworkScores, stretch: Stretch, taught: float, turned: float) -> NetworkScores:
    """What is known after one more stretch: the highest of each; the place is where the sum is highest."""
    before = seen.taught + seen.turned
    here = taught + turned > before
    place = (stretch.start, stretch.end) if here else (seen.place, seen.end)
    return NetworkScores(max(seen.taught, taught), max(seen.turned, turned), *place)
