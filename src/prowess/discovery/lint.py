"""What keeps a catalogue from being found in: twins, and descriptions that say too little or too much.

Twins are found by meaning. What has no vector is compared by its words, and a finding says so.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, islice, product

import numpy as np

from prowess.discovery.corpus import Corpus
from prowess.discovery.dense import Matrix
from prowess.discovery.proposals import fuller, told_apart
from prowess.discovery.text import Words
from prowess.types import Capability, Problem

TWINS = 0.93
"""Above this cosine the shipped encoder, and a model that reads the same text, cannot tell two apart."""
FEWEST_WORDS = 4
MOST_CHARACTERS = 1200
BLOCK = 1024
MOST_FINDINGS = 200


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One thing to change: in which capabilities (none: in no one alone), what is wrong, what to do."""

    ids: tuple[str, ...]
    what: str
    remedy: str
    proposals: Mapping[str, str] = field(default_factory=dict)
    """By id, a description that says more, made of what the capability says elsewhere."""


def lint(capabilities: Mapping[str, Capability], corpus: Corpus) -> tuple[LintFinding, ...]:
    encoded = {id for id in capabilities if _has_vector(id, corpus)}
    found = chain(
        without_vectors(len(capabilities) - len(encoded), len(capabilities)),
        in_presets(corpus.graph.problems()),
        _twins(encoded, capabilities, corpus),
        twins_by_words(capabilities.values(), encoded, corpus.words),
        (finding for c in capabilities.values() for finding in of_description(c)),
    )
    return tuple(islice(found, MOST_FINDINGS))


def without_vectors(missing: int, of: int) -> Iterable[LintFinding]:
    if missing > 0:
        what = f"{missing} of {of} have no vector and were compared by words alone"
        yield LintFinding((), what, "run: prowess sync; if they stay away, prowess doctor says why")


def in_presets(problems: Iterable[Problem]) -> Iterable[LintFinding]:
    for problem in problems:
        yield LintFinding((), f"{problem.place}: {problem.what}", problem.remedy)


def of_description(capability: Capability) -> Iterable[LintFinding]:
    """What one description says too little or too much of."""
    text = capability.description
    if len(text.split()) < FEWEST_WORDS and len(text) < 4 * FEWEST_WORDS:
        what = f"its description says too little ({text!r})"
        remedy = "say what it does, on what, and when to use it"
        yield LintFinding((capability.id,), what, remedy, {capability.id: fuller(capability)})
    if len(text) > MOST_CHARACTERS:
        what = f"its description has {len(text)} characters"
        yield LintFinding(
            (capability.id,), what, "keep what tells it from others; move the rest to its content"
        )


def _twins(
    encoded: Collection[str], capabilities: Mapping[str, Capability], corpus: Corpus
) -> Iterable[LintFinding]:
    rows = [row for id in capabilities if id in encoded and (row := corpus.row(id)) is not None]
    for one, other, alike in close_pairs(corpus.dense.matrix[rows]):
        yield twins((corpus.at(rows[one]), corpus.at(rows[other])), alike)


def twins(pair: Sequence[Capability], alike: float) -> LintFinding:
    """Two that mean the same, by a cosine."""
    what = f"they cannot be told apart (similarity {alike:.2f})"
    return LintFinding((pair[0].id, pair[1].id), what, _difference(pair), told_apart(pair))


def twins_by_words(
    capabilities: Iterable[Capability], encoded: Collection[str], words: Words
) -> Iterable[LintFinding]:
    """Pairs that use the same words, where at least one cannot be compared by meaning."""
    alike: dict[tuple[str, ...], list[Capability]] = {}
    for each in capabilities:
        said = words.terms(each.description) or words.terms(each.name)
        if said:
            alike.setdefault(tuple(sorted(said)), []).append(each)
    for group in alike.values():
        having = [each for each in group if each.id in encoded]
        without = [each for each in group if each.id not in encoded]
        for pair in chain(combinations(without, 2), product(without, having)):
            ids = tuple(sorted(each.id for each in pair))
            what = "they cannot be told apart (the same words)"
            yield LintFinding(ids, what, _difference(pair), told_apart(pair))


def _has_vector(id: str, corpus: Corpus) -> bool:
    row = corpus.row(id)
    return row is not None and bool(corpus.dense.known[row])


def _difference(pair: Sequence[Capability]) -> str:
    if pair[0].description == pair[1].description:
        return "their descriptions are the same: say in each what the other does not do"
    if pair[0].provider != pair[1].provider:
        return "name in each description what is particular to its provider, or switch one off"
    return "begin each description with what it alone does"


def close_pairs(vectors: Matrix) -> Iterable[tuple[int, int, float]]:
    """Pairs above the line, a block of rows at a time so that memory stays small."""
    for start in range(0, len(vectors), BLOCK):
        alike = vectors[start : start + BLOCK] @ vectors.T
        for row, column in np.argwhere(alike > TWINS).tolist():
            if start + row < column:
                yield start + row, column, float(alike[row, column])
