"""Doubles for tests, ours and the users': a source that holds what it is told, a cheap embedder."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from prowess.sources.source import Known, Progress, silent
from prowess.types import Capability, Detail, Draft, Problem, Provider, SourceEntry, SourceReading

if TYPE_CHECKING:
    from prowess.discovery.dense import Matrix
    from prowess.discovery.ranking import Embed


def capability(id: str, description: str = "", **fields: object) -> Capability:
    """A capability from its id, the rest filled in as a source would."""
    kind, _, name = id.partition(":")
    usual = {"name": name, "display_name": name, "description": description or f"Does {name}."}
    return Capability(id=id, kind=kind, **{**usual, **fields})  # type: ignore[arg-type]


@dataclass
class StaticSource:
    """A source whose content is set by the test. One entry, read every time."""

    name: str = "static"
    kind: str = "static"
    capabilities: list[Capability] = field(default_factory=list)
    details: dict[str, Detail] = field(default_factory=dict)
    providers: list[Provider] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    down: str = ""
    place: str = "memory"
    server: str = ""

    def read(self, known: Known, progress: Progress = silent) -> SourceReading:
        if self.down:
            return SourceReading(down=self.down, problems=tuple(self.problems))
        drafts = tuple(Draft(c, self.details.get(c.id, Detail())) for c in self.capabilities)
        return SourceReading(
            entries=(SourceEntry(self.place, "", drafts),),
            providers=tuple(self.providers),
            problems=tuple(self.problems),
            server=self.server,
        )


def word_embedder() -> "tuple[str, Embed]":
    """An embedder for tests: texts that share words are near, nothing is loaded."""
    import numpy as np  # only tests that search need it

    def embed(texts: Sequence[str]) -> "Matrix":
        vectors = np.full((len(texts), 64), 1e-3, np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                vectors[row, zlib.crc32(word.strip(".,:;()").encode()) % 64] += 1
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    return "words", embed
