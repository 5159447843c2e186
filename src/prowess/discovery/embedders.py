"""Other ways to turn texts into vectors, and the shipped one, behind one seam.

Each function here returns what opens an embedder. Its name, under which vectors are kept, is known before
anything is loaded; numpy and the model come with the first search.
"""

import hashlib
import inspect
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, NoReturn

from prowess.errors import ConfigError, EncoderUnavailable

if TYPE_CHECKING:
    import numpy.typing as npt

    from prowess.discovery.dense import Matrix
    from prowess.discovery.ranking import Embed

    Given = Callable[[Sequence[str]], npt.ArrayLike]
    Opened = tuple[str, Embed]

TIMEOUT = 30.0
REMEMBERED_TEXTS = 10_000


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens an embedder that answers with rows of length one, and tells its name without opening it."""

    naming: Callable[[], str]
    load: "Callable[[], Embed]"

    @property
    def name(self) -> str:
        return self.naming()

    def __call__(self) -> "Opened":
        return self.name, self.load()


def _shipped_name() -> str:
    from prowess.discovery.encoder import digest, shipped_as  # numpy, at the first search

    return shipped_as(digest())


def _shipped_encoder() -> "Embed":
    from prowess.discovery.encoder import Encoder  # numpy, at the first search

    return Encoder.open()


shipped = Opener(_shipped_name, _shipped_encoder)
"""The encoder inside the package: offline, no key."""


def opened_once(opener: Opener) -> Opener:
    """The same, loaded by the first who needs it and shared with whoever comes later.

    What one of them had encoded is not encoded again for the next: many workspaces offer the same tools.
    """
    loading, loaded = Lock(), list["Embed"]()

    def load() -> "Embed":
        with loading:
            if not loaded:
                loaded.append(_remembering(opener.load()))
        return loaded[0]

    return Opener(opener.naming, load)


def _remembering(embed: "Embed") -> "Embed":
    """The same, which keeps the vectors of the texts it had last, by their digests."""
    import numpy as np

    known: OrderedDict[bytes, Matrix] = OrderedDict()
    looking = Lock()

    def remembering(texts: Sequence[str]) -> "Matrix":
        keys = [hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in texts]
        with looking:
            rows = {key: known[key] for key in keys if key in known}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in rows}
        if missing:
            rows |= dict(zip(missing, embed(list(missing.values())), strict=True))
        with looking:
            for key in keys:
                known[key] = rows[key]
                known.move_to_end(key)
            while len(known) > REMEMBERED_TEXTS:
                known.popitem(last=False)
        return np.stack([rows[key] for key in keys])

    return remembering


def given(embed: "Given", name: str) -> Opener:
    """A callable of the user's own; without a name, a function of a module goes by its own."""
    if not name:
        own = getattr(embed, "__qualname__", "<")
        # What is made at run time may be something else next time, and be called the same.
        if "<" in own or not inspect.isfunction(embed):
            what = f"{embed!r} has no name of its own, under which its vectors could be kept"
            raise ConfigError("embedder", what, "name its model by embedding_model_id")
        name = f"{embed.__module__}.{own}"
    return Opener(lambda: f"given:{name}", lambda: checked(embed))


def sentence_transformers(name: str) -> Opener:
    """A model of the package sentence-transformers, by the name it knows it under."""

    def load() -> "Embed":
        try:
            from sentence_transformers import SentenceTransformer  # the user's own choice and install
        except ImportError as missing:
            remedy = "pip install sentence-transformers, or leave embedding_model_id empty"
            raise EncoderUnavailable("sentence-transformers is not installed", remedy) from missing
        try:
            model = SentenceTransformer(name)
        except Exception as failure:  # whatever its loaders, and theirs, may raise
            reason = f"sentence-transformers cannot load {name!r} ({failure})"
            remedy = "check the name and the connection, or leave embedding_model_id empty"
            raise EncoderUnavailable(reason, remedy) from failure
        return checked(lambda texts: model.encode(list(texts), convert_to_numpy=True))

    return Opener(lambda: f"sentence-transformers:{name}", load)


def openai_compatible(url: str, model: str, key: str, environment: Mapping[str, str]) -> Opener:
    """An HTTP service with OpenAI's embeddings interface; `key` names the variable with the key."""

    def ask(texts: Sequence[str]) -> list[list[float]]:
        import http.client  # these load ssl, which only a service needs
        import urllib.error
        import urllib.request

        body = json.dumps({"model": model, "input": list(texts)}).encode()
        headers = {"Content-Type": "application/json"}
        if environment.get(key):
            headers["Authorization"] = f"Bearer {environment[key]}"
        request = urllib.request.Request(f"{url.rstrip('/')}/embeddings", body, headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                rows = json.load(answer)["data"]
            return [row["embedding"] for row in sorted(rows, key=lambda row: row["index"])]
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as failure:
            if isinstance(failure, urllib.error.HTTPError):
                failure.close()  # it holds the connection
            reason = f"{url} did not answer with embeddings ({failure})"
            raise EncoderUnavailable(reason, f"check the address, the model and {key}") from failure

    def load() -> "Embed":
        embed = checked(ask)
        embed(["ready?"])
        return embed

    return Opener(lambda: f"openai:{url}#{model}", load)


def chosen(model_id: str, environment: Mapping[str, str]) -> Opener:
    """What `embedding_model_id` means: empty, `sentence-transformers:NAME` or `http(s)://HOST/v1#MODEL`."""
    if not model_id:
        return shipped
    scheme, _, rest = model_id.partition(":")
    if scheme == "sentence-transformers":
        return sentence_transformers(rest)
    url, hash, model = model_id.partition("#")
    if scheme in ("http", "https") and hash:
        return openai_compatible(url, model, "OPENAI_API_KEY", environment)

    def unknown() -> NoReturn:
        raise EncoderUnavailable(
            f"no embedder is called {model_id!r}",
            "leave embedding_model_id empty, or use sentence-transformers:NAME or http://HOST/v1#MODEL",
        )

    return Opener(unknown, unknown)


def named(name: str, environment: Mapping[str, str]) -> Opener | None:
    """What vectors that are kept under a name were made by, if it can still be had."""
    kind, _, rest = name.partition(":")
    if kind == "sentence-transformers":
        return sentence_transformers(rest)
    url, hash, model = rest.rpartition("#")
    if kind == "openai" and hash:
        return openai_compatible(url, model, "OPENAI_API_KEY", environment)
    return shipped if name == shipped.name else None


def checked(embed: "Given") -> "Embed":
    """Whatever an embedder answers, as rows of length one or as `EncoderUnavailable`."""
    from prowess.discovery.dense import unit_rows  # numpy, at the first search

    return lambda texts: unit_rows(embed(texts), len(texts))
