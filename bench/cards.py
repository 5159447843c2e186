"""How well cards are selected, and how fast.

    python -m bench.cards            measure, and write bench/results/cards.md
    python -m bench.cards --tune     fit the shipped weights of `relevance` on the tuning half, and print them

The labelled messages in tests/data/cards were written before the scorer. The tuning half is for fitting
and looking at; the frozen half is only counted.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from prowess.cards.card import Card, Guarded, card_of
from prowess.cards.fitting import Labelled, fit
from prowess.cards.guard import shipped_guard
from prowess.cards.history import CardHistory
from prowess.cards.language import language_of, spoken
from prowess.cards.relevance import Embedder, Meanings, Relevance
from prowess.cards.scorers import Scoring, keyword, one_by_one
from prowess.cards.selection import CardRules, select
from prowess.cards.weights import CardWeights
from prowess.config import CardsConfig
from prowess.discovery.encoder import Encoder
from prowess.engine.cards import CardDependencies, CardService
from prowess.engine.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.journal import Journal
from prowess.opening import now
from prowess.sources.files.cards import CardFiles
from prowess.store.opening import open_database
from prowess.testing import StaticSource
from prowess.token_counts import Counter, estimate
from prowess.types import Capability, Detail, Message, Turn

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data" / "cards"
RESULTS = ROOT / "bench" / "results" / "cards.md"
NOON = datetime(2026, 1, 5, 12, tzinfo=UTC)
NOTHING = CardWeights(0.0, 0.0, 0.0, 0.0, 0.0)
REPEATS = 5
HELD = 0.3
"""How strongly nothing pulls when the shipped weights are fitted."""


class Case(NamedTuple):
    turn: Turn
    relevant: frozenset[str]


class Quality(NamedTuple):
    """Shares, each with what it is a share of."""

    relevant_injected: float
    irrelevant_injected: float
    wrong_among_injected: float
    relevant: int
    irrelevant: int
    injected: int


def deck(folder: Path = DATA / "deck") -> list[Card]:
    reading = CardFiles(name="deck", paths=(str(folder),)).read({})
    drafts = [draft for entry in reading.entries for draft in entry.drafts or ()]
    guard = shipped_guard()
    return [card_of(draft.capability, draft.detail.content or "", guard, estimate) for draft in drafts]


def cases(half: str) -> Iterator[Case]:
    for line in (DATA / f"messages-{half}.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        messages = tuple(Message(message["role"], message["text"]) for message in case["messages"])
        yield Case(Turn(messages=messages), frozenset(case["relevant"]))


def thing(card: Card) -> str:
    """The label of a card: its name without the language."""
    return card.name.removesuffix(f"-{card.language}") if card.language else card.name


def quality(cards: Sequence[Card], scoring: Scoring, half: str) -> Quality:
    """What a scorer injects at each card's own threshold, the budget never being the reason."""
    hits = wrong = relevant = pairs = 0
    for case in cases(half):
        chosen = select(cards, case.turn, scoring, CardRules(budget=1_000_000), NOON).chosen
        injected = {thing(one.card) for one in chosen}
        hits += len(injected & case.relevant)
        wrong += len(injected - case.relevant)
        relevant += len(case.relevant)
        pairs += len({thing(card) for card in cards}) - len(case.relevant)
    share = wrong / (hits + wrong) if hits + wrong else 0.0
    return Quality(hits / relevant, wrong / pairs, share, relevant, pairs, hits + wrong)


def failed(id: str, why: str) -> None:
    raise AssertionError(f"{id}: {why}")


def scorers(cards: Sequence[Card], embed: Embedder) -> dict[str, Scoring]:
    return {
        "keyword": one_by_one(keyword, failed),
        "relevance, words alone": Relevance(cards, Meanings(None)),
        "relevance": Relevance(cards, Meanings(embed)),
    }


# --- fitting -----------------------------------------------------------------------------------


def labels(cards: Sequence[Card], embed: Embedder | None) -> list[Labelled]:
    """The tuning half as what the scorer reads; only single messages, where it is clear which one counts."""
    relevance = Relevance(cards, Meanings(embed))
    found: list[Labelled] = []
    for case in cases("tuning"):
        if len(case.turn.messages) == 1:
            used, _ = spoken(cards, language_of(case.turn.text))
            ids = {card.id for card in used}
            for card, row in zip(cards, relevance.features(case.turn.text), strict=True):
                if card.id in ids:
                    found.append(Labelled(tuple(map(float, row)), thing(card) in case.relevant))
    return found


def tune(cards: Sequence[Card], embed: Embedder) -> None:
    for name, embedder in (("WITH_MEANING", embed), ("WORDS_ALONE", None)):
        weights = fit(labels(cards, embedder), NOTHING, HELD)
        print(f"{name} = {weights}")
        print("  tuning half:", quality(cards, Relevance(cards, Meanings(embedder), weights), "tuning"))


# --- speed -------------------------------------------------------------------------------------


def copies(cards: Sequence[Card], count: int) -> list[Card]:
    """A deck of any size: the same cards again under other names and with words of their own."""
    return [
        replace(
            card,
            id=f"{card.id}-{number}",
            name=f"{card.name}-{number}",
            title=f"{card.title} {number}",
            keywords=(*card.keywords, f"topic{number}"),
            language="",
        )
        for number, card in enumerate(cards[n % len(cards)] for n in range(count))
    ]


def milliseconds(work: Callable[[Turn], object], turns: Sequence[Turn]) -> tuple[float, float]:
    """Median and 95th percentile over the turns, each at its best of a few: neighbours do not count."""
    taken = [min(_once(work, _unheard(turn, again)) for again in range(REPEATS)) for turn in turns]
    return statistics.median(taken), float(np.percentile(taken, 95))


def _once(work: Callable[[Turn], object], turn: Turn) -> float:
    start = time.perf_counter()
    work(turn)
    return (time.perf_counter() - start) * 1000


def _unheard(turn: Turn, again: int) -> Turn:
    """The same turn with spaces behind its words, so that its vector is not remembered."""
    return replace(turn, messages=tuple(Message(m.role, m.text + " " * again) for m in turn.messages))


def speeds(cards: Sequence[Card], embed: Embedder) -> Iterator[tuple[str, float, float]]:
    large = copies(cards, 200)
    turns = [case.turn for case in cases("tuning")]
    for name, scoring in scorers(large, embed).items():

        def work(turn: Turn, scoring: Scoring = scoring) -> object:
            return select(large, turn, scoring, CardRules(), NOON)

        yield name, *milliseconds(work, turns)
    with tempfile.TemporaryDirectory() as folder:
        cards_of = carding(large, embed, Path(folder))
        name = "relevance, placed and durably journalled in SQLite"
        yield name, *milliseconds(lambda turn: cards_of.inject((), turn), turns)


def carding(cards: Sequence[Card], embed: Embedder, folder: Path) -> CardService:
    """Cards as an engine has them, over a store of their own."""
    (folder / "policy.yaml").write_text('profiles: {bench: {agents: [default], additional_tools: ["*"]}}')
    database = open_database(f"sqlite:{folder / 'store.db'}", folder)
    source = StaticSource(capabilities=[_capability(card) for card in cards])
    chosen = EngineOptions(policy_files=(folder / "policy.yaml",))
    engine = Engine(database, (source,), now, {}, chosen)
    engine.sync(vectors=False)
    options = CardDependencies(
        clock=now,
        counter=Counter("estimate", estimate),
        worlds=engine.internals.worlds,
        detail_of=lambda id: Detail(content="The text of a card. " * 20),
        embed=lambda: embed,
        guard=Guarded,
    )
    # Every turn here wants cards, which the kill switch would rightly find odd.
    config = CardsConfig(auto_disable_threshold=1.0, log_level="none")
    return CardService(CardHistory(database, Journal(database, now), now), config, options)


FIRST = """
import time
import prowess
from prowess import Message, Turn
with prowess.open(config="prowess.toml") as engine:
    turn = Turn(messages=(Message("user", "Who is on call when the site is down?"),))
    start, used = time.perf_counter(), time.process_time()
    engine.inject([], turn)
    print((time.perf_counter() - start) * 1000, (time.process_time() - used) * 1000)
"""
PROCESSES = 9


def first_injections() -> list[tuple[float, float]]:
    """Milliseconds of the first injection of a process, and of its processors, after a sync by another."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "policy.yaml").write_text('profiles: {b: {agents: [default], additional_tools: ["*"]}}')
        (folder / "prowess.toml").write_text(
            f'[policy]\nfiles = ["policy.yaml"]\n[[source]]\ntype = "cards"\npath = "{DATA / "deck"}"\n'
        )
        environment = {
            **os.environ,
            "PYTHONPYCACHEPREFIX": str(folder / "pyc"),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        synced = [sys.executable, "-m", "prowess", "sync"]
        subprocess.run(synced, cwd=folder, check=True, capture_output=True, env=environment)
        found = []
        for _ in range(PROCESSES):
            said = subprocess.run(
                [sys.executable, "-c", FIRST], cwd=folder, check=True, capture_output=True, text=True,
                env=environment,
            )  # fmt: skip
            wall, used = map(float, said.stdout.split())
            found.append((wall, used))
        return found[1:]


def _capability(card: Card) -> Capability:
    keywords = ", ".join(f'"{word}"' for word in card.keywords)
    text = f"---\nid: {card.name}\nname: {card.title}\ntriggers:\n  keywords: [{keywords}]\n---\nText.\n"
    (draft,) = CardFiles(name="bench", paths=()).parse(text, card.name).drafts
    return draft.capability


def report(cards: Sequence[Card], embed: Embedder) -> str:
    total = sum(1 for half in ("tuning", "frozen") for _ in cases(half))
    lines = [
        "# Cards: how well they are selected, and how fast",
        "",
        f"{len(cards)} cards on {len({thing(card) for card in cards})} things in four languages and {total}"
        " labelled messages (`tests/data/cards`), each card at its own threshold of 0.6."
        " `python -m bench.cards` writes this.",
        "",
        "| scorer | half | relevant cards injected | irrelevant ones injected | wrong among those injected |",
        "|---|---|---|---|---|",
    ]
    for name, scoring in scorers(cards, embed).items():
        for half in ("tuning", "frozen"):
            q = quality(cards, scoring, half)
            lines.append(
                f"| {name} | {half} | {q.relevant_injected:.1%} of {q.relevant} |"
                f" {q.irrelevant_injected:.2%} of {q.irrelevant} |"
                f" {q.wrong_among_injected:.1%} of {q.injected} |"
            )
    lines += ["", "Selecting from 200 cards, one new message each time, best of 5:", ""]
    lines += ["| scorer | median | 95th percentile |", "|---|---|---|"]
    lines += [f"| {name} | {median:.2f} ms | {late:.2f} ms |" for name, median, late in speeds(cards, embed)]
    lines += ["", "The last row waits for the disk: what is told to have happened is written down first."]
    walls, used = zip(*first_injections(), strict=True)
    lines += [
        "",
        f"The first injection of a process, everything loaded for it, {len(walls)} processes: at best"
        f" {min(walls):.0f} ms, median {statistics.median(walls):.0f} ms; of one processor at best"
        f" {min(used):.0f} ms. Asked: under 300 ms.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tune", action="store_true")
    chosen = parser.parse_args()
    cards, encoder = deck(), Encoder.open()
    if chosen.tune:
        tune(cards, encoder)
        return
    text = report(cards, encoder)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
