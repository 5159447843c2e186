"""What keeps a catalogue from being found in: twins, and descriptions that say too little or too much.

Twins are found by meaning. What has no vector is compared by its words, and a finding says so.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations, islice, product

import numpy as np

from prowess.discovery.corpus import Corpus
from prowess.discovery.dense import Matrix
from prowess.discovery.proposals import fuller, told_apart
from prowess.types import Capability

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
    found = chain(
        _vectors(capabilities, corpus),
        _presets(corpus),
        _twins(capabilities, corpus),
        _twins_by_words(capabilities, corpus),
        (finding for c in capabilities.values() for finding in _description(c)),
    )
    return tuple(islice(found, MOST_FINDINGS))


def _vectors(capabilities: Mapping[str, Capability], corpus: Corpus) -> Iterable[LintFinding]:
    missing = sum(not _has_vector(id, corpus) for id in capabilities)
    if missing:
        what = f"{missing} of {len(capabilities)} have no vector and were compared by words alone"
        yield LintFinding((), what, "run: prowess sync; if they stay away, prowess doctor says why")


def _presets(corpus: Corpus) -> Iterable[LintFinding]:
    for problem in corpus.graph.problems():
        yield LintFinding((), f"{problem.place}: {problem.what}", problem.remedy)


def _description(capability: Capability) -> Iterable[LintFinding]:
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


def _twins(capabilities: Mapping[str, Capability], corpus: Corpus) -> Iterable[LintFinding]:
    rows = [row for id in capabilities if (row := corpus.row(id)) is not None and _has_vector(id, corpus)]
    for one, other, alike in _close_pairs(corpus.dense.matrix[rows]):
        pair = (corpus.at(rows[one]), corpus.at(rows[other]))
        yield LintFinding(
            (pair[0].id, pair[1].id),
            f"they cannot be told apart (similarity {alike:.2f})",
            _difference(pair),
            told_apart(pair),
        )


def _twins_by_words(capabilities: Mapping[str, Capability], corpus: Corpus) -> Iterable[LintFinding]:
    """Pairs that use the same words, where at least one cannot be compared by meaning."""
    alike: dict[tuple[str, ...], list[Capability]] = {}
    for each in capabilities.values():
        words = corpus.words.terms(each.description) or corpus.words.terms(each.name)
        if words:
            alike.setdefault(tuple(sorted(words)), []).append(each)
    for group in alike.values():
        encoded = [each for each in group if _has_vector(each.id, corpus)]
        without = [each for each in group if not _has_vector(each.id, corpus)]
        for pair in chain(combinations(without, 2), product(without, encoded)):
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


def _close_pairs(vectors: Matrix) -> Iterable[tuple[int, int, float]]:
    """Pairs above the line, a block of rows at a time so that memory stays small."""
    for start in range(0, len(vectors), BLOCK):
        alike = vectors[start : start + BLOCK] @ vectors.T
        for row, column in np.argwhere(alike > TWINS).tolist():
            if start + row < column:
                yield start + row, column, float(alike[row, column])
