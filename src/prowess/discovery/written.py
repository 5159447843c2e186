"""A corpus written down, so that opening a large store is quick."""

from collections.abc import Mapping

import msgspec
import numpy as np

from prowess.discovery.corpus import CorpusState
from prowess.discovery.lexical import LexicalState

FORMAT = 1


class Written(msgspec.Struct, array_like=True):
    """A corpus as bytes; arrays are little-endian, vectors in half precision."""

    format: int
    model: str
    ids: list[str]
    digests: list[str]
    vocabulary: list[str]
    starts: bytes
    terms: bytes
    weights: bytes
    lengths: bytes
    vectors: bytes
    known: bytes

    @property
    def state(self) -> CorpusState:
        size = len(self.ids)
        vectors = np.frombuffer(self.vectors, "<f2").astype(np.float32)
        return CorpusState(
            ids=tuple(self.ids),
            lexical=LexicalState(
                vocabulary=tuple(self.vocabulary),
                starts=np.frombuffer(self.starts, "<i8").astype(np.int64),
                terms=np.frombuffer(self.terms, "<i4").astype(np.int32),
                weights=np.frombuffer(self.weights, "<f4").astype(np.float32),
                lengths=np.frombuffer(self.lengths, "<f4").astype(np.float32),
            ),
            vectors=vectors.reshape(size, -1) if size else vectors.reshape(0, 0),
            known=np.frombuffer(self.known, np.bool_),
        )


def write(state: CorpusState, marks: Mapping[str, str], model: str) -> bytes:
    """The corpus with what each row was made from, and the model its vectors are of."""
    return msgspec.msgpack.encode(
        Written(
            format=FORMAT,
            model=model,
            ids=list(state.ids),
            digests=[marks[id] for id in state.ids],
            vocabulary=list(state.lexical.vocabulary),
            starts=state.lexical.starts.astype("<i8").tobytes(),
            terms=state.lexical.terms.astype("<i4").tobytes(),
            weights=state.lexical.weights.astype("<f4").tobytes(),
            lengths=state.lexical.lengths.astype("<f4").tobytes(),
            vectors=state.vectors.astype("<f2").tobytes(),
            known=state.known.tobytes(),
        )
    )


def read(content: bytes) -> Written | None:
    """What was written; nothing where it was written in another way."""
    try:
        written = msgspec.msgpack.decode(content, type=Written)
    except msgspec.MsgspecError:
        return None
    return written if written.format == FORMAT else None
