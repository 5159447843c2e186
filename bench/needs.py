"""A plan beside one sentence: requests that need several tools, with equally many tools offered.

    python -m bench.needs FOLDER_OF_SETS [--queries 300]

The plan is the sentence cut at every comma, full stop, `and` and `then`, as a model would write it down
without knowing a tool: each step is searched for by itself and the places are shared in turn. The sentence is
searched for as it is, with the engine's own cutting and without.
"""

import argparse
import re
from pathlib import Path

from bench.candidates import ranker_of
from prowess.discovery.encoder import Encoder
from prowess.discovery.ranking import Options, Ranker
from prowess.discovery.sharing import in_turn, merged
from prowess.metrics import read_set, sampled

SETS = ("sealtools", "restbench")
PLACES = (5, 10)
WAYS = ("one sentence, not cut", "one sentence", "needs as a list")
FEWEST_WORDS = 3
RESULTS = Path(__file__).parent / "results" / "needs.md"
CUT = re.compile(r"[,.;?!]\s+|\s+(?:and|then|also)\s+", re.IGNORECASE)


def planned(request: str) -> list[str]:
    """The steps; a stretch of fewer than three words belongs to the one before."""
    steps: list[str] = []
    for stretch in CUT.split(request):
        if len(stretch.split()) < FEWEST_WORDS and steps:
            steps[-1] = f"{steps[-1]} {stretch}"
        elif stretch.strip():
            steps.append(stretch.strip())
    return steps or [request]


def as_plan(ranker: Ranker, request: str, places: int) -> set[str]:
    wanted = Options(top_k=places, min_relevance=0.0, use_graph=False, split=False)
    found = [ranker.search(step, None, wanted) for step in planned(request)]
    return {hit.id for hit in merged(in_turn(found, places))}


def as_sentence(ranker: Ranker, request: str, places: int, split: bool) -> set[str]:
    wanted = Options(top_k=places, min_relevance=0.0, use_graph=False, split=split)
    return {hit.id for hit in ranker.search(request, None, wanted)}


def offered(ranker: Ranker, request: str, places: int, way: str) -> set[str]:
    if way == WAYS[-1]:
        return as_plan(ranker, request, places)
    return as_sentence(ranker, request, places, split=way == WAYS[1])


def rows(folder: Path, name: str, count: int, encoder: Encoder) -> list[str]:
    data = read_set(folder / name)
    asked = [query for query in sampled(data.queries, "test", 10_000) if len(query.gold) > 1][:count]
    ranker = ranker_of(data.capabilities, encoder)
    found = []
    for places in PLACES:
        for way in WAYS:
            shown = [(set(query.gold), offered(ranker, query.text, places, way)) for query in asked]
            whole = 100 * sum(gold <= ids for gold, ids in shown) / len(shown)
            recall = 100 * sum(len(gold & ids) / len(gold) for gold, ids in shown) / len(shown)
            found.append(f"| {name} | {len(asked)} | {places} | {way} | {whole:.1f} | {recall:.1f} |")
    return found


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--sets", default=",".join(SETS))
    options.add_argument("--queries", type=int, default=300)
    given = options.parse_args()
    encoder = Encoder.open()
    lines = [
        "# Needs as a list",
        "",
        "`python -m bench.needs FOLDER`: requests that need several tools, percent. The plan is"
        " the sentence cut at commas, full stops, `and` and `then`.",
        "",
        "| set | requests | tools offered | way | all right tools offered | right tools offered |",
        "|---|---|---|---|---|---|",
    ]
    for name in given.sets.split(","):
        lines += rows(given.folder, name, given.queries, encoder)
    text = "\n".join(lines) + "\n"
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
