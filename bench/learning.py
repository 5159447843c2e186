"""Does it get better with use? Replays requests as use, learns, gates, promotes, and measures again.

    python -m bench.learning SETS [--model FOLDER] [--quick]

SETS is a folder of labelled sets. On metatool, 1, 3 and 10 train requests of each tool are offered, used and
recorded; other train requests judge the skills, all gated in one batch; no test request is ever recorded.
On every set, every other tool is taught, and tools with and without examples are told apart; sets without
train requests are taught by every other test request and measured on the rest. Writes tables to stdout;
`bench/results/learning.md` keeps the last full run. Seeds are fixed; the times depend on the machine.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from prowess.config import LearningConfig
from prowess.discovery.dense import Matrix
from prowess.discovery.encoder import SHIPPED, Encoder
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.learning import lessons as skills
from prowess.learning.lessons import Skill
from prowess.metrics import LabelledSet, Query, measure, read_set, sampled
from prowess.opening import now
from prowess.store.opening import open_database
from prowess.testing import StaticSource
from prowess.types import Message, Outcome, Turn

EVERYTHING = 'profiles: {bench: {agents: [default, ada, eve], additional_tools: ["*"]}}\n'
COUNTS = (1, 3, 10)
SEED = 29


class Remembering:
    """An encoder that encodes a text once, so that a long run is not spent on the same texts."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[str, Matrix] = {}

    def __call__(self, texts: Sequence[str]) -> Matrix:
        for text in texts:
            if text not in self._known:
                self._known[text] = self._encoder([text])[0]
        return np.stack([self._known[text] for text in texts])


Encoders = tuple[Encoder, Remembering]


@contextmanager
def opened(
    labelled: LabelledSet, folder: Path, encoder: Encoder, embed: Remembering | Encoder
) -> Iterator[Engine]:
    with tempfile.TemporaryDirectory(prefix="prowess-learning-") as name:
        place = Path(name)
        (place / "policy.yaml").write_text(EVERYTHING, encoding="utf-8")
        options = EngineOptions(
            policy_files=(place / "policy.yaml",),
            embedder=lambda: (encoder.digest, embed),
            learning=LearningConfig(mode="accumulate", benchmark=str(folder), auto=True),
        )
        source = StaticSource(labelled.name, capabilities=list(labelled.capabilities))
        with Engine(open_database("store.db", place), (source,), now, {}, options) as engine:
            engine.sync()
            yield engine


def demonstrations(queries: Sequence[Query], count: int) -> dict[str, list[str]]:
    """Train requests with one right tool, the same on every machine; more of them contain the fewer."""
    found: dict[str, list[str]] = {}
    for query in queries:
        if query.split == "train" and len(query.gold) == 1:
            found.setdefault(query.gold[0], []).append(query.text)
    chosen = {}
    for tool in sorted(found):
        texts = list(dict.fromkeys(found[tool]))
        random.Random(f"{SEED} {tool}").shuffle(texts)
        chosen[tool] = texts[:count]
    return chosen


def practise(engine: Engine, shown: dict[str, list[str]], agent: str = "ada") -> None:
    for tool, requests in shown.items():
        for request in requests:
            offer = engine.offer(Turn(messages=(Message("user", request),), agent=agent))
            engine.record(Outcome(offer=offer.id, capability=tool, ok=True, agent=agent))
    engine.learning.learn()


def promoted(engine: Engine) -> tuple[Skill, ...]:
    engine.learning.gate(*(skill.id for skill in engine.learning.skills("proposed")))
    done = engine.learning.promote_all()
    engine.sync()
    return done


def latency(one: Engine, other: Engine, queries: Sequence[Query]) -> tuple[float, float]:
    """The median of both in milliseconds, each request asked of both in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for query in queries:
        for engine, taken in zip((one, other), times, strict=True):
            start = time.perf_counter()
            engine.find(query.text)
            taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(times[0]), statistics.median(times[1])


def teach(engine: Engine, shown: dict[str, list[str]]) -> None:
    """Rely on all of it at once, past the gates: what examples alone are worth."""
    with engine.internals.database.writing() as transaction:
        for number, (tool, texts) in enumerate(shown.items()):
            spans = tuple(texts)
            made = Skill(id=f"skill_{number}", method=tool, status="stable", spans=spans, examples=spans)
            skills.keep(transaction, made)
    engine.sync()


def scored(engine: Engine, queries: Sequence[Query]) -> float:
    return 100 * measure(queries, engine.rank, time.perf_counter).scores.ndcg_10


def curve(labelled: LabelledSet, folder: Path, encoders: Encoders, queries: Sequence[Query]) -> None:
    print("| demonstrations | proposed | promoted | NDCG@10 | all taught | gates, CPU s |")
    print("|---|---|---|---|---|---|")
    for count in (0, *COUNTS):
        shown = demonstrations(labelled.queries, count)
        with opened(labelled, folder, *encoders) as engine:
            practise(engine, shown)
            start = time.process_time()
            proposed = len(engine.learning.skills())
            done = len(promoted(engine)) if proposed else 0
            took = time.process_time() - start
            gated = scored(engine, queries)
        with opened(labelled, folder, *encoders) as engine:
            teach(engine, shown)
            cells = (count, proposed, done, f"{gated:.1f}", f"{scored(engine, queries):.1f}", f"{took:.0f}")
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def beside(sets: Path, encoders: Encoders, limit: int) -> None:
    """What teaching half of the tools does to the others, on every set."""
    print("\n| set | requests each | taught tools | tools without examples |\n|---|---|---|---|")
    for folder in sorted(path.parent for path in sets.glob("*/queries.jsonl")):
        labelled = read_set(folder)
        queries, teaching = sampled(labelled.queries, limit=limit), labelled.queries
        if all(query.split != "train" for query in labelled.queries):
            teaching = tuple(replace(query, split="train") for query in queries[::2])
            queries = queries[1::2]
        for count in COUNTS if labelled.name == "metatool" else COUNTS[1:2]:
            shown = demonstrations(teaching, count)
            cells = [before_and_after(labelled, folder, encoders, shown, queries, half) for half in (0, 1)]
            taught, rest = (
                f"{a[0]:.1f} -> {a[1]:.1f}, {b[0]:.1f} -> {b[1]:.1f}" for a, b in zip(*cells, strict=True)
            )
            print(f"| {labelled.name} | {count} | {taught} | {rest} |", flush=True)


def before_and_after(
    labelled: LabelledSet, folder: Path, encoders: Encoders, shown: dict[str, list[str]],
    queries: Sequence[Query], first: int,
) -> list[tuple[float, float]]:  # fmt: skip
    """NDCG@10 without and with every other tool taught: for requests of those, and of the rest."""
    half = {capability.id for capability in labelled.capabilities[first::2]}
    theirs = [query for query in queries if set(query.gold) <= half]
    others = [query for query in queries if not half & set(query.gold)]
    with opened(labelled, folder, *encoders) as engine:
        before = [scored(engine, theirs), scored(engine, others)]
        teach(engine, {tool: texts for tool, texts in shown.items() if tool in half})
        return list(zip(before, [scored(engine, theirs), scored(engine, others)], strict=True))


def speed(labelled: LabelledSet, folder: Path, encoder: Encoder) -> None:
    """How long `find` takes cold, with and without what was learnt."""
    queries = sampled(labelled.queries)
    with (
        opened(labelled, folder, encoder, encoder) as plain_one,
        opened(labelled, folder, encoder, encoder) as taught_one,
    ):
        teach(taught_one, demonstrations(labelled.queries, 10))
        for engine in (plain_one, taught_one):
            engine.find("warm up")
        plain, taught = latency(plain_one, taught_one, queries[:300])
    ratio = f"{plain:.2f} ms before, {taught:.2f} ms with 10 examples for each tool ({taught / plain:.2f}x)"
    print(f"\nfind, median of 300 requests, cold: {ratio}")
    kept = sum(len(texts) for texts in demonstrations(labelled.queries, 10).values())
    print(f"examples in the store: {kept} vectors of 768 bytes; in memory 4 bytes for each capability")


def poisoned(labelled: LabelledSet, folder: Path, encoders: Encoders, queries: Sequence[Query]) -> None:
    """Somebody repeats requests and claims that wrong tools answered them: those of others, and new ones."""
    tools = [capability.id for capability in labelled.capabilities]
    shown = demonstrations(labelled.queries, 3)
    more = demonstrations(labelled.queries, 6)
    chosen = sorted(shown)[:40]
    wrong = {tools[(tools.index(tool) + 7) % len(tools)]: shown[tool] for tool in chosen[:20]}
    wrong |= {tools[(tools.index(tool) + 7) % len(tools)]: more[tool][3:] for tool in chosen[20:]}
    with opened(labelled, folder, *encoders) as engine:
        practise(engine, shown)
        for _ in range(5):
            practise(engine, wrong, agent="eve")
        done = promoted(engine)
        lies = {(tool, text) for tool, texts in wrong.items() for text in texts}
        told = {(skill.method, span) for skill in engine.learning.skills() for span in skill.spans} & lies
        taught = {(skill.method, span) for skill in done for span in skill.examples} & lies
        print(
            f"\npoisoned use: {len(told)} wrong requests for {len(wrong)} tools, {len(taught)} promoted;",
            end=" ",
        )
        print(f"{len(done)} skills promoted, NDCG@10 {scored(engine, queries):.1f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sets", type=Path)
    parser.add_argument("--model", type=Path, default=SHIPPED)
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    folder, encoder = chosen.sets / "metatool", Encoder.open(chosen.model)
    labelled, limit = read_set(folder), 400 if chosen.quick else 2000
    encoders, queries = (encoder, Remembering(encoder)), sampled(labelled.queries, limit=limit)
    print(f"### metatool, encoder {encoder.digest[:12]}\n")
    curve(labelled, folder, encoders, queries)
    poisoned(labelled, folder, encoders, queries)
    speed(labelled, folder, encoder)
    beside(chosen.sets, encoders, limit)


if __name__ == "__main__":
    main()
