"""Does it get better with use? Replays requests as use, learns, gates, promotes, and measures again.

    python -m bench.learning SET [--model FOLDER] [--quick] [--no-gates]

SET is a folder with tools.jsonl and queries.jsonl that has a split `train` beside `test`. Of each tool, 1, 3
and 10 train requests are offered, used and recorded; other train requests judge the skills, all gated in
one batch; no test request is ever recorded. Writes its table to stdout; `bench/results/learning.md` keeps
the last full run. Seeds are fixed; the times depend on the machine.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from prowess.config import LearningConfig
from prowess.discovery.dense import Matrix
from prowess.discovery.encoder import SHIPPED, Encoder
from prowess.engine import Engine
from prowess.engine.ways import Ways
from prowess.learning import skills
from prowess.learning.skills import Skill
from prowess.measure import LabelledSet, Query, measure, read_set, sampled
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


@contextmanager
def opened(
    labelled: LabelledSet, folder: Path, encoder: Encoder, embed: Remembering | Encoder
) -> Iterator[Engine]:
    with tempfile.TemporaryDirectory(prefix="prowess-learning-") as name:
        place = Path(name)
        (place / "policy.yaml").write_text(EVERYTHING, encoding="utf-8")
        ways = Ways(
            policy_files=(place / "policy.yaml",),
            embedder=lambda: (encoder.digest, embed),
            learning=LearningConfig(mode="accumulate", benchmark=str(folder), auto=True),
        )
        source = StaticSource(labelled.name, capabilities=list(labelled.capabilities))
        with Engine(open_database("store.db", place), (source,), now, {}, ways) as engine:
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
    engine.learn()


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
    with engine._database.writing() as transaction:
        for number, (tool, texts) in enumerate(shown.items()):
            spans = tuple(texts)
            made = Skill(id=f"skill_{number}", method=tool, status="stable", spans=spans, examples=spans)
            skills.keep(transaction, made)
    engine.sync()


def curve(labelled: LabelledSet, folder: Path, encoder: Encoder, chosen: argparse.Namespace) -> None:
    queries = sampled(labelled.queries, limit=400 if chosen.quick else 2000)
    embed = Remembering(encoder)
    print(
        "| demonstrations | proposed | promoted | NDCG@10 | all taught | half taught | the rest | gates, s |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for count in (0, *COUNTS):
        shown = demonstrations(labelled.queries, count)
        proposed, done, gated, took = 0, 0, "-", 0.0
        if not chosen.no_gates:
            with opened(labelled, folder, encoder, embed) as engine:
                start = time.perf_counter()
                practise(engine, shown)
                proposed = len(engine.learning.skills())
                done = len(promoted(engine)) if proposed else 0
                took = time.perf_counter() - start
                gated = f"{100 * measure(queries, engine.rank, time.perf_counter).scores.ndcg_10:.1f}"
        with opened(labelled, folder, encoder, embed) as engine:
            teach(engine, shown)
            everything = 100 * measure(queries, engine.rank, time.perf_counter).scores.ndcg_10
        taught, rest = halves(labelled, folder, (encoder, embed), shown, queries)
        cells = [
            count,
            proposed,
            done,
            gated,
            f"{everything:.1f}",
            f"{taught:.1f}",
            f"{rest:.1f}",
            f"{took:.0f}",
        ]
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def halves(
    labelled: LabelledSet,
    folder: Path,
    encoders: tuple[Encoder, Remembering],
    shown: dict[str, list[str]],
    queries: Sequence[Query],
) -> tuple[float, float]:
    """NDCG@10 when only every other tool is taught: for requests of those, and of the rest."""
    half = {capability.id for capability in labelled.capabilities[::2]}
    with opened(labelled, folder, *encoders) as engine:
        teach(engine, {tool: texts for tool, texts in shown.items() if tool in half})
        taught = measure([q for q in queries if set(q.gold) <= half], engine.rank, time.perf_counter)
        rest = measure([q for q in queries if not half & set(q.gold)], engine.rank, time.perf_counter)
    return 100 * taught.scores.ndcg_10, 100 * rest.scores.ndcg_10


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
    print(f"examples in the store: {kept} vectors of 768 bytes; in memory each capability keeps one vector")


def poisoned(labelled: LabelledSet, folder: Path, encoder: Encoder) -> None:
    """Somebody repeats requests and claims that wrong tools answered them."""
    embed = Remembering(encoder)
    tools = [capability.id for capability in labelled.capabilities]
    shown = demonstrations(labelled.queries, 3)
    wrong = {tools[(tools.index(tool) + 7) % len(tools)]: texts for tool, texts in sorted(shown.items())[:20]}
    with opened(labelled, folder, encoder, embed) as engine:
        practise(engine, shown)
        for _ in range(5):
            practise(engine, wrong, agent="eve")
        done = promoted(engine)
        taught = [skill for skill in done if "eve" in skill.agents]
        poison = [skill for skill in engine.learning.skills() if "eve" in skill.agents]
        print(f"\npoisoned use: {len(poison)} skills proposed for 20 wrong tools, {len(taught)} promoted")
        for skill in poison[:3]:
            print(f"- {engine.learning.results(skill.id)[-1].verdict}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("set", type=Path)
    parser.add_argument("--model", type=Path, default=SHIPPED)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--no-gates", action="store_true", help="only what examples are worth")
    chosen = parser.parse_args()
    labelled, encoder = read_set(chosen.set), Encoder.open(chosen.model)
    print(f"### {labelled.name}, encoder {encoder.digest[:12]}\n")
    curve(labelled, chosen.set, encoder, chosen)
    speed(labelled, chosen.set, encoder)
    if not chosen.no_gates:
        poisoned(labelled, chosen.set, encoder)


if __name__ == "__main__":
    main()
