"""Turn texts into vectors whose nearness is nearness of meaning, from files shipped beside it.

Above stands the index, which keeps the vectors; below is one ONNX model in `model/`, made by `train/`.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from prowess.errors import EncoderUnavailable
from prowess.processors import in_threads

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

Matrix = npt.NDArray[np.float32]

DIMENSIONS = 384
SHIPPED = Path(__file__).parent / "model"

FEWEST_EACH = 4
"""Texts that are worth a thread of their own; a request has fewer, and waits for none."""

# Far more characters than the tokens the model reads; it spares splitting the rest of a huge text.
MAX_TEXT_LENGTH = 8192
REINSTALL = "reinstall it: pip install --force-reinstall --no-deps prowess"


class Encoder:
    """Encode each text alone, so that a text's vector never depends on its neighbours."""

    def __init__(self, session: "InferenceSession", tokenizer: "Tokenizer", digest: str) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self.digest = digest

    @classmethod
    def open(cls, folder: Path = SHIPPED) -> Self:
        """Load the model without touching the network; refuse files that are missing or altered."""
        try:
            # Loaded at the first search: they cost 150 ms that other uses need not pay.
            from onnxruntime import InferenceSession, SessionOptions
            from tokenizers import Tokenizer
        except ImportError as missing:
            reason = f"the package {missing.name} is not installed"
            raise EncoderUnavailable(reason, "pip install onnxruntime tokenizers") from missing
        digests = _digests(folder)
        options = SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        model = _read(folder, "model.onnx", digests)
        tokenizer = _read(folder, "tokenizer.json", digests).decode()
        try:
            session = InferenceSession(model, options, providers=["CPUExecutionProvider"])
            return cls(session, Tokenizer.from_str(tokenizer), digests["model.onnx"])
        except Exception as failed:  # both have failures of their own, without a common base
            remedy = "pip install --force-reinstall onnxruntime tokenizers"
            raise EncoderUnavailable(f"the model cannot be loaded ({failed})", remedy) from failed

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Return one row of length 1 for each text."""
        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        for row, vector in enumerate(in_threads(self._encode, texts, FEWEST_EACH)):
            vectors[row] = vector
        return vectors

    def _encode(self, text: str) -> Matrix:
        # Half of a surrogate pair is no character, and the tokenizer refuses it.
        readable = text[:MAX_TEXT_LENGTH].encode("utf-8", "replace").decode()
        ids = np.array([self._tokenizer.encode(readable).ids], np.int64)
        (embedding,) = self._session.run(["embedding"], {"input_ids": ids})
        return np.asarray(embedding[0], np.float32)


def digest(folder: Path = SHIPPED) -> str:
    """Which model lies there, without loading it."""
    return _digests(folder)["model.onnx"]


def shipped_as(digest: str) -> str:
    """What vectors of a shipped model are kept under."""
    return f"shipped:{digest[:16]}"


def _digests(folder: Path) -> dict[str, str]:
    path = folder / "digests.json"
    try:
        digests = json.loads(path.read_text(encoding="utf-8"))
    except OSError as failed:
        raise EncoderUnavailable(f"{path} cannot be read", REINSTALL) from failed
    except ValueError as failed:
        raise EncoderUnavailable(f"{path} is not JSON", REINSTALL) from failed
    if not isinstance(digests, dict) or "model.onnx" not in digests:
        raise EncoderUnavailable(f"{path} does not name files", REINSTALL)
    return digests


def _read(folder: Path, name: str, digests: dict[str, str]) -> bytes:
    path = folder / name
    try:
        content = path.read_bytes()
    except OSError as failed:
        raise EncoderUnavailable(f"{path} cannot be read", REINSTALL) from failed
    if hashlib.sha256(content).hexdigest() != digests.get(name):
        raise EncoderUnavailable(f"{path} is not the file that was shipped", REINSTALL)
    return content
