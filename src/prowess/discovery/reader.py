"""Reads a request and a tool together and says which tool is likelier to do what is asked.

The encoder reads both apart and compares what is left of them; this network sees each word of the one beside
each of the other, which takes longer and is done for the nearest few alone. Above: the ranker, for a model
that searches. Below: `model/reader.onnx`, which `train/reader_fit.py` makes; its words are the encoder's.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from prowess.discovery.encoder import MAX_TEXT_LENGTH, REINSTALL, SHIPPED, digest, shipped_as
from prowess.discovery.glossary import in_other_words
from prowess.discovery.reranking import Candidate
from prowess.errors import EncoderUnavailable

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

START, END = 101, 102
"""The tokens around and between texts."""
REQUEST, TOOL = 56, 72
"""How many tokens of each are read."""
MOST_READ = 6
CLOSE = 2.0
"""How far in strength behind the best a candidate may be to be read; most of those further off stay there."""
SHARE = 0.4
"""What the log-odds of reading count beside the strength; see bench/results/candidates.md."""
REMEMBERED = 2048
DIGITS = 3
"""How exactly two are compared; further digits depend on the processor."""

Words = npt.NDArray[np.int8]
Scales = npt.NDArray[np.float32]
Reads = Callable[[str, Sequence[str]], Sequence[float]]
"""The log-odds, for each of the tools, that it does what is asked."""


class PairReader:
    """Reads each pair alone, so that what it says of one never depends on the others."""

    def __init__(
        self, session: "InferenceSession", tokenizer: "Tokenizer", words: Words, scales: Scales
    ) -> None:
        self._session, self._tokenizer = session, tokenizer
        self._words, self._scales = words, scales
        # Two searches follow each other for every need of a model, and conversations repeat themselves.
        self._remembered = lru_cache(REMEMBERED)(self._read)

    @classmethod
    def open(cls, folder: Path = SHIPPED) -> Self:
        """Load the network; refuse files that are missing, altered, or made for another encoder."""
        from onnxruntime import InferenceSession, SessionOptions  # as costly to load as for the encoder
        from tokenizers import Tokenizer

        about = _about(folder)
        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        try:
            network = (folder / "reader.onnx").read_bytes()
            if hashlib.sha256(network).hexdigest() != about["digest"] or digest(folder) != about["encoder"]:
                raise EncoderUnavailable(
                    f"{folder / 'reader.onnx'} is not the file that was shipped", REINSTALL
                )
            session = InferenceSession(network, options, providers=["CPUExecutionProvider"])
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            count, width = about["words"]
            encoder = folder / "model.onnx"
            words = np.memmap(encoder, np.int8, "r", about["words_at"], (count, width))
            scales = np.fromfile(encoder, np.float32, count, offset=about["scales_at"])
        except EncoderUnavailable:
            raise
        except Exception as failed:  # the runtime and the tokenizer have failures without a common base
            raise EncoderUnavailable(f"the reader cannot be loaded ({failed})", REINSTALL) from failed
        return cls(session, tokenizer, words, scales)

    def __call__(self, request: str, tools: Sequence[str]) -> list[float]:
        """For each tool, as the encoder reads it, the log-odds that it and no other does what is asked.

        request: in English, which is all that was learnt.
        """
        return [self._remembered(request, tool) for tool in tools]

    def _read(self, request: str, tool: str) -> float:
        ids = [START, *self._tokens(request, REQUEST), END, *self._tokens(tool, TOOL), END]
        words = self._words[ids].astype(np.float32) * self._scales[ids, np.newaxis]
        (odds,) = self._session.run(["log_odds"], {"words": words[np.newaxis]})
        return round(float(odds[0, 0]), DIGITS)

    def _tokens(self, text: str, most: int) -> list[int]:
        readable = text[:MAX_TEXT_LENGTH].encode("utf-8", "replace").decode()
        return self._tokenizer.encode(readable, add_special_tokens=False).ids[:most]


@cache
def reader_for(embedder: str) -> PairReader | None:
    """The reader, for the shipped encoder; nothing for others, and where its files are missing or altered.

    embedder: the name that its vectors are kept under.
    """
    try:
        return PairReader.open() if embedder == shipped_as(digest()) else None
    except EncoderUnavailable:
        return None


def in_read_order(
    found: Sequence[Candidate], said_by: Callable[[str], str], request: str, read: Reads
) -> list[Candidate]:
    """The same candidates, of which those close to the best come in the order in which reading puts them.

    How strong the first is, and how strong the second, stays the same: only which of them is first changes.
    Where the request calls something by name, everything keeps its place.

    found: best first.
    said_by: what the encoder reads of a capability.
    """
    near = [each for each in found[:MOST_READ] if each.strength >= found[0].strength - CLOSE]
    if len(near) < 2 or any(each.called for each in found):
        return list(found)
    # What was learnt is English; a request in another language is read as far as it can be said so.
    odds = read(in_other_words(request) or request, [said_by(each.id) for each in near])
    worth = {each.id: each.strength + SHARE * odd for each, odd in zip(near, odds, strict=True)}
    order = sorted(near, key=lambda each: (-worth[each.id], each.id))
    ranked = [now._replace(strength=was.strength) for now, was in zip(order, near, strict=True)]
    return [*ranked, *found[len(near) :]]


def _about(folder: Path) -> dict[str, Any]:
    path = folder / "reader.json"
    try:
        about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as failed:
        raise EncoderUnavailable(f"{path} cannot be read", REINSTALL) from failed
    return about
