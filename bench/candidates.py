"""What a searching model is shown on catalogues that the encoder never learnt from.

    python -m bench.candidates FOLDER_OF_SETS [--queries 150]

For each set: how often a right tool is called fitting, or shown at all, from which relevance on; and how
often something is called fitting for requests of the other sets, which none of its tools can do. Then the
same for the tasks of bench/tasks, by language. Nothing is fitted here: the lines are those that are in use.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from bench.tasks.catalogue import own_catalogue
from bench.tasks.task import SETS, read_tasks
from prowess.discovery.corpus import Corpus
from prowess.discovery.encoder import Encoder
from prowess.discovery.fusion import Calibration
from prowess.discovery.known_requests import KnownRequests
from prowess.discovery.ranking import Options, Ranker
from prowess.discovery.text import embedding_text
from prowess.engine.candidates import FITS_FROM, NEAREST_FROM, WEAK_FROM
from prowess.engine.model_query import USUAL_HITS
from prowess.metrics import LabelledSet, read_set, sampled
from prowess.types import Capability

UNSEEN = ("restbench", "toolalpaca")
LINES = (NEAREST_FROM, WEAK_FROM, 0.2, 0.3, FITS_FROM, 0.5)
RESULTS = Path(__file__).parent / "results" / "candidates.md"
TRIED = "## Tried"
"""What was written by hand begins here, and stays."""

Asked = tuple[str, frozenset[str]]
"""A request, and the tools that are right for it; none where nothing is."""


def ranker_of(capabilities: Sequence[Capability], encoder: Encoder) -> Ranker:
    corpus = Corpus()
    corpus.put(capabilities)
    vectors = encoder([embedding_text(each) for each in capabilities])
    corpus.give_vectors({each.id: vector for each, vector in zip(capabilities, vectors, strict=True)})
    return Ranker(corpus, Calibration.read(), encoder, KnownRequests.open())


def right_of(data: LabelledSet, count: int) -> list[Asked]:
    return [
        (query.text, frozenset(query.gold).union(*query.alternatives.values()))
        for query in sampled(data.queries, "test", count)
    ]


def shares(ranker: Ranker, asked: Sequence[Asked]) -> list[str]:
    """For each line, the share of requests with something right shown, or, where nothing is, anything."""
    best = []
    for text, right in asked:
        hits = ranker.search(
            text, None, Options(top_k=USUAL_HITS, min_relevance=0.0, use_graph=False, by_known=True)
        )
        best.append(max((hit.score for hit in hits if not right or hit.id in right), default=0.0))
    return [f"{100 * sum(one >= line for one in best) / max(len(best), 1):.0f}" for line in LINES]


def of_sets(folder: Path, count: int, encoder: Encoder) -> list[str]:
    sets = {name: read_set(folder / name) for name in UNSEEN}
    rows = []
    for name, data in sets.items():
        ranker = ranker_of(data.capabilities, encoder)
        rows.append(row(name, "its own", shares(ranker, right_of(data, count))))
        others = [
            (text, frozenset[str]())
            for other, its in sets.items()
            if other.split("_")[0] != name.split("_")[0]
            for text, _ in right_of(its, count // 2)
        ]
        rows.append(row(name, "of other sets", shares(ranker, others)))
    return rows


def of_tasks(encoder: Encoder) -> list[str]:
    ranker = ranker_of(own_catalogue(), encoder)
    tasks = read_tasks(SETS["own"], "a page")
    rows = []
    for language in ("en", "de", "fr", "zh"):
        steps = [(step.need[language], step.calls) for task in tasks for step in task.steps]
        there = set(ranker.corpus.state().ids)
        possible = [one for one in steps if one[1] & there]
        rows.append(row(f"stand-ins, {language}", "its own", shares(ranker, possible)))
        impossible = [(need, frozenset[str]()) for need, calls in steps if not calls]
        rows.append(row(f"stand-ins, {language}", "that nothing does", shares(ranker, impossible)))
    return rows


def row(*cells: object) -> str:
    *named, last = cells
    return f"| {' | '.join(map(str, (*named, *last)))} |" if isinstance(last, list) else ""


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--queries", type=int, default=150)
    given = options.parse_args()
    encoder = Encoder.open()
    lines = [
        "# What a searching model is shown",
        "",
        f"`python -m bench.candidates FOLDER`: percent of requests with something right among the first"
        f" {USUAL_HITS} that has at least this relevance; of what nothing does, with anything that has."
        f" From {FITS_FROM} on it is called fitting, from {WEAK_FROM} on it is shown as weak, or from"
        f" {NEAREST_FROM} on where nothing fits. The encoder learnt from none of these sets.",
        "",
        f"| catalogue | requests | {' | '.join(map(str, LINES))} |",
        f"|---|---|{'---|' * len(LINES)}",
        *of_sets(given.folder, given.queries, encoder),
        *of_tasks(encoder),
    ]
    text = "\n".join(lines) + "\n"
    kept = RESULTS.read_text(encoding="utf-8").partition(TRIED) if RESULTS.exists() else ("", "", "")
    RESULTS.write_text(text + "".join(("\n", *kept[1:]) if kept[1] else ()), encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
