"""How fast, how small and how sure discovery is, beside the goals it was given.

    python bench/discovery.py SETS [PART ...]

The parts are index, find, large, refresh, reopen, names, idle, tokens and dependencies.

SETS is the folder with the labelled sets. Catalogues of 1,000, 10,000 and 100,000 capabilities are real
tools of those sets, shuffled; beyond the 9,411 there are, they come again under other names with other
words. At 100,000 the vectors are random, since only their number costs time; everywhere else they come
from the shipped encoder. Wall time and the processor time of the whole process stand side by side: on a
machine that others use as well, the second says more.
"""

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, median

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.errors import EncoderUnavailable
from prowess.metrics import LabelledSet, hit_positions, read_set, recall, sampled
from prowess.opening import now
from prowess.sources.names import display_name
from prowess.store.opening import open_database
from prowess.testing import StaticSource
from prowess.types import Capability, Detail

DISTINCT = ("metatool", "sealtools", "bfcl", "toollinkos_main", "restbench", "toolalpaca_api", "apibench")
EVERYTHING = 'profiles: {bench: {agents: [default], additional_tools: ["*"]}}\n'
PLACES = ("berlin", "lagos", "osaka", "lima", "quebec", "perth", "cairo", "oslo", "pune", "reno", "turin")
TEAMS = ("billing", "support", "warehouse", "research", "press", "legal", "travel", "security", "campus")
OFFERED_TOOLS = 500
SEED = 13


@dataclass(frozen=True, slots=True)
class Took:
    wall: float
    processor: float

    def __sub__(self, other: "Took") -> "Took":
        return Took(self.wall - other.wall, self.processor - other.processor)


def clock() -> Took:
    return Took(time.perf_counter(), time.process_time())


def timed(work: Callable[[], object]) -> Took:
    start = clock()
    work()
    return clock() - start


def middle(times: Sequence[Took]) -> Took:
    return Took(median(each.wall for each in times), median(each.processor for each in times))


def row(what: str, took: Took | str, goal: str = "") -> None:
    if isinstance(took, str):
        print(f"| {what} | {took} | | {goal} |", flush=True)
        return
    unit, times = ("s", 1) if took.wall >= 1 else ("ms", 1000)
    wall, processor = (f"{value * times:.2f} {unit}" for value in (took.wall, took.processor))
    print(f"| {what} | {wall} | {processor} | {goal} |", flush=True)


@dataclass(frozen=True, slots=True)
class Tools:
    capabilities: list[Capability]
    details: dict[str, Detail]


def catalogue(sets: Path, count: int) -> Tools:
    """Real tools in an order of chance, then the same ones for other places and teams."""
    known = [pair for name in DISTINCT for pair in _of(read_set(sets / name))]
    random.Random(SEED).shuffle(known)
    pairs = [_varied(*known[n % len(known)], n // len(known), n) for n in range(count)]
    return Tools([each for each, _ in pairs], {each.id: detail for each, detail in pairs})


def _of(labelled: LabelledSet) -> Iterator[tuple[Capability, Detail]]:
    for each in labelled.capabilities:
        needed = tuple(f"{labelled.name}/{id}" for id in each.required_tools)
        own = replace(named(each), id=f"{labelled.name}/{each.id}", required_tools=needed)
        yield own, labelled.details[each.id]


def named(each: Capability) -> Capability:
    """As a server's tools are read: their names in words too."""
    return replace(each, display_name=display_name(each.name))


def _varied(each: Capability, detail: Detail, turn: int, n: int) -> tuple[Capability, Detail]:
    if not turn:
        return each, detail
    place, team = PLACES[turn % len(PLACES)], TEAMS[n % len(TEAMS)]
    name, shown = f"{each.name}_{place}", f"{each.display_name} {place.title()}"
    text = f"{each.description} For the {team} team in {place}, group {n % 97}."
    id = f"{each.id}-{place}-{turn}"
    return replace(each, id=id, name=name, display_name=shown, description=text), detail


def engine_at(folder: Path, tools: Tools | None = None, embedder: object = None) -> Engine:
    """An engine over the store in a folder, whose agent may use everything."""
    policy = folder / "policy.yaml"
    policy.write_text(EVERYTHING, encoding="utf-8")
    source = StaticSource("bench", capabilities=tools.capabilities, details=tools.details) if tools else None
    options = EngineOptions(policy_files=(policy,), embedder=embedder)  # type: ignore[arg-type]
    return Engine(open_database("store.db", folder), (source,) if source else (), now, {}, options)


def random_vectors() -> tuple[str, object]:
    import numpy as np  # the children decide for themselves when it is loaded

    def embed(texts: Sequence[str]) -> object:
        vectors = np.empty((len(texts), 384), np.float32)
        for at, text in enumerate(texts):
            vectors[at] = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(384, np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    return "random", embed


def no_vectors() -> tuple[str, object]:
    raise EncoderUnavailable("this measurement goes by words alone", "none needed")


def child(*arguments: str) -> dict[str, float]:
    """Run a part of this file in a new process; a store that is reopened must not be warm."""
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def preload() -> None:
    import numpy  # noqa: F401
    import onnxruntime  # noqa: F401
    import tokenizers  # noqa: F401

    import prowess.discovery.embedders
    import prowess.discovery.index
    import prowess.prompt.builder  # noqa: F401


def index_child(sets: str, folder: str, count: str, how: str) -> None:
    tools = catalogue(Path(sets), int(count))
    engine = engine_at(Path(folder), tools, no_vectors if how == "words" else None)
    if how != "cold":
        preload()
    start = clock()
    engine.sync(vectors=how != "words")
    if how == "words":
        engine.find("find a restaurant nearby and book a table")
    report(clock() - start)


def reopen_child(folder: str, how: str) -> None:
    if how != "cold":
        preload()
    before = resident()
    start = clock()
    engine = engine_at(Path(folder))
    assert engine.find("find a restaurant nearby and book a table"), "the store was not reopened"
    report(clock() - start, before)


def report(took: Took, before: float = 0.0) -> None:
    figures = {"wall": took.wall, "processor": took.processor, "resident": resident(), "before": before}
    print(json.dumps({**figures, "peak": resident("VmHWM")}))


def resident(field: str = "VmRSS") -> float:
    """Megabytes of this process in memory; Linux says it here."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))


def took_of(answer: dict[str, float]) -> Took:
    return Took(answer["wall"], answer["processor"])


class Bench:
    def __init__(self, sets: Path, place: Path) -> None:
        self.sets = sets
        self.place = place

    def store(self, count: int) -> Path:
        """A store with vectors; made in another process, once."""
        folder = self.place / str(count)
        if not folder.exists():
            folder.mkdir()
            answer = child("--child", "index", str(self.sets), str(folder), str(count), "warm")
            goal = {100: "0.5 s", 10_000: "35 s"}.get(count, "")
            row(f"first index with vectors, {count:,}, libraries loaded", took_of(answer), goal)
        return folder

    def index(self) -> None:
        empty = self.place / "cold"
        empty.mkdir()
        cold = child("--child", "index", str(self.sets), str(empty), "100", "cold")
        row("first index with vectors, 100, loading libraries counted", took_of(cold), "0.5 s")
        self.store(100)
        words = self.place / "words"
        words.mkdir()
        answer = child("--child", "index", str(self.sets), str(words), "10000", "words")
        row("searchable by words, 10,000: sync and first find", took_of(answer), "at once")
        self.store(10_000)

    def find(self) -> None:
        for count, goal, warm_goal in ((1000, 5, "0.5 ms"), (10_000, 6, "1.5 ms")):
            for label, needs, requests in self._requests():
                engine = engine_at(self.store(count))  # a new one has no vectors of needs asked before
                cold, warm = latencies(engine, requests)
                row(f"find cold, {label}, p50 at {count:,}", cold, f"{goal + 3 * (needs - 1)} ms")
                if needs == 1:
                    row(f"find warm, {label}, p50 at {count:,}", warm, warm_goal)
                engine.close()

    def large(self) -> None:
        folder = self.place / "100000"
        folder.mkdir()
        engine = engine_at(folder, catalogue(self.sets, 100_000), random_vectors)
        row("first index, 100,000, random vectors", timed(engine.sync))
        for label, needs, requests in self._requests():
            if needs in (1, 3):
                _, warm = latencies(engine, requests)
                row(f"find warm, {label}, p50 at 100,000", warm, "15 ms" if needs == 1 else "")
        engine.close()

    def _requests(self) -> Iterator[tuple[str, int, list[str]]]:
        """Real requests with one need and with several, and plain ones joined to several."""
        users = [query.text for query in sampled(read_set(self.sets / "metatool").queries, limit=300)]
        yield "one need (metatool)", 1, [text for text in users if needs_of(text) == 1]
        known = sampled(read_set(self.sets / "sealtools").queries)
        single = [query.text for query in known if query.kind.endswith("-single")]
        several = [query.text for query in known if query.kind.endswith("-multi")][:400]
        for needs in (1, 2, 3, 4, 5):
            joined = [" ".join(single[at : at + needs]) for at in range(0, len(single) - needs, needs)]
            plain = [text for text in joined if needs_of(text) == needs][:100]
            yield f"{needs} short (Seal-Tools single requests, joined)", needs, plain
            real = [text for text in several if needs_of(text) == needs]
            if len(real) >= 30:
                yield f"{needs} long (Seal-Tools multi requests)", needs, real

    def refresh(self) -> None:
        """Another engine on the same store changes one capability; this one follows."""
        folder = self.store(10_000)
        tools = catalogue(self.sets, 10_000)
        other, engine = engine_at(folder, tools), engine_at(folder)
        asked = "find a restaurant nearby and book a table"
        engine.find(asked)
        steps: dict[str, list[Took]] = {}
        for n in range(20):
            chosen = tools.capabilities[n * 137]
            text = f"{chosen.description} Version {n}."
            other.sources[0].capabilities[n * 137] = replace(chosen, description=text)  # type: ignore
            other.sync()
            if n % 2:
                steps.setdefault("find", []).append(timed(lambda: engine.find(asked)))
                continue
            steps.setdefault("view", []).append(timed(engine.catalogue.view))
            steps.setdefault("follow", []).append(
                timed(lambda: engine.internals.search(engine.internals.world()))
            )
            engine.find(asked)
        view, follow = middle(steps["view"]), middle(steps["follow"])
        both = Took(view.wall + follow.wall, view.processor + follow.processor)
        row("refresh after one change at 10,000: catalogue view and index", both, "20 ms")
        row("- of that, reading the changed catalogue", view)
        row("- of that, the index following", follow)
        row("the whole first find after it, policy and search counted", middle(steps["find"]))
        other.close()
        engine.close()

    def reopen(self) -> None:
        folder = str(self.store(10_000))
        warm = [child("--child", "reopen", folder, "warm") for _ in range(5)]
        cold = [child("--child", "reopen", folder, "cold") for _ in range(5)]
        row("reopen at 10,000, first find done, libraries loaded", middle([*map(took_of, warm)]), "0.5 s")
        row("the same, loading libraries counted", middle([*map(took_of, cold)]))
        held, peak, before = (median(a[name] for a in cold) for name in ("resident", "peak", "before"))
        said = f"{held:.0f} MB (peak {peak:.0f}; {before:.0f} before opening)"
        row("memory at 10,000 after reopening and a find, encoder included", said, "under 300 MB")

    def names(self) -> None:
        """Every name in the catalogue as a request."""
        engine = engine_at(self.store(10_000))
        view = engine.catalogue.view().capabilities
        names = sorted({each.name for each in view.values()})
        first = {name: [hit.id for hit in engine.find(name, only_available=False)][:1] for name in names}
        missed = [name for name in names if not any(view[id].name == name for id in first[name])]
        said = f"{1 - len(missed) / len(names):.4f}" + (f", missed {missed[:5]}" if missed else "")
        row(f"exact-name Recall@1, {len(names):,} names in 10,000", said, "1.00")
        engine.close()

    def idle(self) -> None:
        """Requests left empty; held out is what `bench/tuning/calibrate.py` has not seen."""
        labelled = read_set(self.sets / "metatool")
        engine = self._engine_of("idle", labelled.capabilities, labelled)
        train = {query.text for query in labelled.queries if query.split == "train"}
        lines = (self.sets / "metatool" / "no_tool.jsonl").read_text(encoding="utf-8").splitlines()
        best: dict[tuple[str, bool], list[float]] = {}
        for asked in map(json.loads, lines):
            hits = engine.find(asked["query"], tier1_min_relevance=0.0, tier1_top_k=1)
            half = hashlib.md5(asked["id"].encode()).digest()[0] % 2
            fitted = asked["query"] in train if asked["label"] == "tool" else half == 0
            best.setdefault((asked["label"], fitted), []).append(hits[0].score if hits else -1.0)
        for threshold in (0.2, 0.3, 0.4):
            left, lost = (_below(best[label, False], threshold) for label in ("no_tool", "tool"))
            every = [best[label, False] + best[label, True] for label in ("no_tool", "tool")]
            of_all = " / ".join(f"{_below(scores, threshold):.1%}" for scores in every)
            what = f"metatool, threshold {threshold}: rows without a need left empty / rows with one lost"
            goal = "as shipped; to report" if threshold == 0.3 else ""
            row(what, f"{left:.1%} / {lost:.1%} held out, {of_all} all", goal)
        engine.close()

    def tokens(self) -> None:
        for name in ("metatool", "bfcl", "toollinkos_main"):
            labelled = read_set(self.sets / name)
            count = min(OFFERED_TOOLS, len(labelled.capabilities))
            chosen = random.Random(SEED).sample(labelled.capabilities, count)
            ids = {each.id for each in chosen}
            asked = [q for q in sampled(labelled.queries) if ids.issuperset(q.gold)][:300]
            engine = self._engine_of(f"tokens-{name}", chosen, labelled)
            whole = engine.catalogue.cost_of_everything()
            offers = [engine.offer(query.text, only_available=False) for query in asked]
            cost = fmean(offer.tokens.total for offer in offers)
            shown = [tuple(hit.id for hit in offer.hits) for offer in offers]
            offered = _recall_5(zip(asked, shown, strict=True))
            ranked = _recall_5((query, engine.rank(query.text, depth=5)) for query in asked)
            row(f"{name}, {count} tools: whole catalogue / mean offer", f"{whole:,} / {cost:,.0f} tokens")
            said = f"{1 - cost / whole:.1%}, Recall@5 {offered:.3f} offered, {ranked:.3f} without threshold"
            what = f"{name}, {count} tools: saved ({len(asked)} requests, {offers[0].tokens.counter})"
            row(what, said, "95% saved, Recall@5 no lower")
            engine.close()

    def dependencies(self) -> None:
        labelled = read_set(self.sets / "toollinkos")
        asked = sampled(labelled.queries)[:300]
        engine = self._engine_of("dependencies", labelled.capabilities, labelled)
        offers = [engine.offer(query.text, only_available=False) for query in asked]
        right = [{hit.id for hit in o.hits}.intersection(q.gold) for q, o in zip(asked, offers, strict=True)]
        share = fmean(len(found) / len(query.gold) for query, found in zip(asked, right, strict=True))
        lines = fmean(offer.tokens.tier1 for offer in offers)
        what = f"toollinkos: the right tool and all it depends on, share offered ({len(asked)} requests)"
        row(what, f"{share:.1%} within {lines:.0f} tokens of tier 1", "800 tokens at most")
        engine.close()

    def _engine_of(self, name: str, capabilities: Sequence[Capability], labelled: LabelledSet) -> Engine:
        folder = self.place / name
        folder.mkdir()
        details = {each.id: labelled.details[each.id] for each in capabilities}
        engine = engine_at(folder, Tools([named(each) for each in capabilities], details))
        engine.sync()
        return engine


def needs_of(request: str) -> int:
    from prowess.discovery.needs import Splitter
    from prowess.discovery.text import Words  # here, so that children do not load them early

    return max(1, len(Splitter(Words().terms).split(request)))


def latencies(engine: Engine, requests: Sequence[str]) -> tuple[Took, Took]:
    """Every request, and then every one again, now that its vectors are remembered."""
    for place in PLACES:
        engine.find(f"find a restaurant in {place}")
    cold, warm = ([timed(lambda text=text: engine.find(text)) for text in requests] for _ in range(2))
    return middle(cold), middle(warm)


def _below(scores: Sequence[float], threshold: float) -> float:
    return sum(score < threshold for score in scores) / len(scores)


def _recall_5(answers: Iterable[tuple[object, Sequence[str]]]) -> float:
    return fmean(recall(hit_positions(q, ids), len(q.gold), 5) for q, ids in answers)  # type: ignore


PARTS = ("index", "find", "large", "refresh", "reopen", "names", "idle", "tokens", "dependencies")


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        {"index": index_child, "reopen": reopen_child}[sys.argv[2]](*sys.argv[3:])
        return
    reader = argparse.ArgumentParser()
    reader.add_argument("sets", type=Path)
    reader.add_argument("parts", nargs="*", metavar="PART")
    asked = reader.parse_args()
    print("| what | wall | processor | goal |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="prowess-bench-") as place:
        bench = Bench(asked.sets, Path(place))
        for part in PARTS:
            if part in (asked.parts or PARTS):
                getattr(bench, part)()


if __name__ == "__main__":
    main()
