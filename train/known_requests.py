"""Make `known_requests.npz`: what was asked in the written catalogues, and what the tools said that did it.

    python -m train.known_requests [--folder train/catalogues] [--out FILE]

Vectors are kept by the axes on which they differ most, turned by chance so that each stretch of them tells
about as much, and each stretch is one of 256 (product quantisation): 16 bytes for a request. It belongs to
the encoder that reads them: whoever makes a new encoder makes this anew.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from prowess.discovery.encoder import Encoder
from prowess.discovery.known_requests import SHIPPED
from prowess.discovery.text import embedding_text
from prowess.testing import capability
from train.bench import Tool
from train.catalogues import read_catalogue

Array = npt.NDArray[np.float32]
Codes = npt.NDArray[np.uint8]

REQUEST_AXES = 96
TOOL_AXES = 128
PARTS = 16
CHOICES = 256
ROUNDS = 12
DRAWN = 8000
SEED = 13


def read_pairs(folder: Path) -> Iterator[tuple[str, str]]:
    """Each request with the text of each tool that it asks for."""
    for file in sorted(folder.rglob("*.txt")):
        catalogue = read_catalogue(file)
        texts = {tool.id: _text(tool) for tool in catalogue.tools}
        for query in catalogue.queries:
            for id in query.gold:
                yield query.text, texts[id]


def _text(tool: Tool) -> str:
    parameters = tuple(tool.parameters or ())
    named = capability(f"tool:{tool.id}", tool.description, name=tool.name, parameters=parameters)
    return embedding_text(named)


def axes_of(vectors: Array, count: int) -> tuple[Array, Array]:
    """The middle, and the axes along which the vectors differ most; a sample tells them."""
    chance = np.random.default_rng(SEED)
    drawn = chance.choice(len(vectors), min(DRAWN, len(vectors)), replace=False)
    middle = vectors.mean(0)
    _, _, axes = np.linalg.svd(vectors[drawn] - middle, full_matrices=False)
    turn, _ = np.linalg.qr(chance.normal(size=(count, count)))
    return middle.astype(np.float32), (turn @ axes[:count]).astype(np.float32)


def coded(values: Array) -> tuple[Codes, Array]:
    """For each part of each row which of its choices it is nearest to, and the choices."""
    each = np.split(values, PARTS, axis=1)
    books = [choices_of(part) for part in each]
    codes = [nearest(part, book) for part, book in zip(each, books, strict=True)]
    return np.stack(codes, axis=1).astype(np.uint8), np.stack(books)


def choices_of(part: Array) -> Array:
    """The middles of as many groups (k-means)."""
    book = part[np.random.default_rng(SEED).choice(len(part), CHOICES, replace=len(part) < CHOICES)].copy()
    for _ in range(ROUNDS):
        group = nearest(part, book)
        counts = np.bincount(group, minlength=CHOICES)
        for axis in range(part.shape[1]):
            sums = np.bincount(group, part[:, axis], minlength=CHOICES)
            book[:, axis] = np.where(counts > 0, sums / np.maximum(counts, 1), book[:, axis])
    return book


def nearest(part: Array, book: Array) -> npt.NDArray[np.intp]:
    found: npt.NDArray[np.intp] = np.argmin(np.vecdot(book, book) - 2 * part @ book.T, axis=1)
    return found


def write(out: Path, requests: Array, tools: Array, counts: Sequence[int], digest: str) -> None:
    """Requests stand in the order of their tools; `counts` says how many each tool has."""
    middle, axes = axes_of(requests, REQUEST_AXES)
    tool_middle, tool_axes = axes_of(tools, TOOL_AXES)
    asked, asked_choices = coded(np.asarray((requests - middle) @ axes.T, np.float32))
    said, said_choices = coded(np.asarray((tools - tool_middle) @ tool_axes.T, np.float32))
    np.savez(
        out, encoder=np.array(digest), counts=np.array(counts, np.uint16),
        middle=middle, axes=_half(axes), asked=asked, asked_choices=_half(asked_choices),
        tool_middle=tool_middle, tool_axes=_half(tool_axes), said=said, said_choices=_half(said_choices),
    )  # fmt: skip


def _half(values: Array) -> npt.NDArray[np.float16]:
    return values.astype(np.float16)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--folder", type=Path, default=Path("train/catalogues"))
    options.add_argument("--out", type=Path, default=SHIPPED)
    given = options.parse_args()
    asked: dict[str, dict[str, None]] = {}
    for request, text in read_pairs(given.folder):
        asked.setdefault(text, {})[request] = None
    encoder = Encoder.open()
    requests = encoder([request for each in asked.values() for request in each])
    counts = [len(each) for each in asked.values()]
    write(given.out, requests, encoder(list(asked)), counts, encoder.digest)
    print(f"{sum(counts)} requests, {len(asked)} tools, {given.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
