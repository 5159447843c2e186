"""Other ways to turn texts into vectors, and the shipped one, behind one seam.

Each function returns what opens an embedder: a name for the model, under which its vectors are
kept, and the callable itself. Nothing is loaded before the first search.
"""

import json
import urllib.request
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from prowess.discovery.dense import Matrix
from prowess.discovery.encoder import Encoder
from prowess.discovery.ranking import Embed
from prowess.errors import EncoderUnavailable

Opened = tuple[str, Embed]
TIMEOUT = 30.0


def shipped() -> Opened:
    """The encoder inside the package: offline, no key."""
    encoder = Encoder.open()
    return f"shipped:{encoder.digest[:16]}", encoder


def sentence_transformers(name: str) -> Callable[[], Opened]:
    """A model of the package sentence-transformers, by the name it knows it under."""

    def open() -> Opened:
        try:
            from sentence_transformers import SentenceTransformer  # the user's own choice and install
        except ImportError as missing:
            remedy = "pip install sentence-transformers, or leave embedding_model_id empty"
            raise EncoderUnavailable("sentence-transformers is not installed", remedy) from missing
        model = SentenceTransformer(name)

        def embed(texts: Sequence[str]) -> Matrix:
            return _unit(model.encode(list(texts), convert_to_numpy=True))

        return f"sentence-transformers:{name}", embed

    return open


def openai_compatible(url: str, model: str, key: str, environment: Mapping[str, str]) -> Callable[[], Opened]:
    """An HTTP service with OpenAI's embeddings interface; `key` names the variable with the key."""

    def embed(texts: Sequence[str]) -> Matrix:
        body = json.dumps({"model": model, "input": list(texts)}).encode()
        headers = {"Content-Type": "application/json"}
        if environment.get(key):
            headers["Authorization"] = f"Bearer {environment[key]}"
        request = urllib.request.Request(f"{url.rstrip('/')}/embeddings", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                rows = json.load(answer)["data"]
            vectors = [row["embedding"] for row in sorted(rows, key=lambda row: row["index"])]
        except (OSError, ValueError, KeyError, TypeError) as failure:
            reason = f"{url} did not answer with embeddings ({failure})"
            raise EncoderUnavailable(reason, f"check the address, the model and {key}") from failure
        return _unit(np.array(vectors, np.float32))

    def open() -> Opened:
        embed(["ready?"])
        return f"openai:{url}#{model}", embed

    return open


def chosen(model_id: str, environment: Mapping[str, str]) -> Callable[[], Opened]:
    """What `embedding_model_id` means: empty, `sentence-transformers:NAME` or `http(s)://HOST/v1#MODEL`."""
    if not model_id:
        return shipped
    scheme, _, rest = model_id.partition(":")
    if scheme == "sentence-transformers":
        return sentence_transformers(rest)
    url, hash, model = model_id.partition("#")
    if scheme in ("http", "https") and hash:
        return openai_compatible(url, model, "OPENAI_API_KEY", environment)

    def unknown() -> Opened:
        raise EncoderUnavailable(
            f"no embedder is called {model_id!r}",
            "leave embedding_model_id empty, or use sentence-transformers:NAME or http://HOST/v1#MODEL",
        )

    return unknown


def _unit(vectors: Matrix) -> Matrix:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)
