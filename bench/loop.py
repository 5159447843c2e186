"""Does the loop close by itself? Simulated agents work through the library and a real gateway.

    python -m bench.loop SETS [--turns N] [--database sqlite|postgres] [--learning off|on] [--seed N]

SETS is a folder of labelled sets; metatool is used. Each agent has a job of four tools and asks for them in
the words of train requests. Every fifth turn is a search and a call of an MCP client through the gateway, the
rest are offers and outcomes of the library. One agent in twenty poisons: whatever it asks, it reports that
one tool answered it. One outcome in twenty of the others says the opposite of what happened. Tools fail and
recover, and tools vanish and come back. Halfway a provider comes that does harm: half of the honest agents
use its tool in place of the right one in six turns of ten, and it fails. Agents are evaluated after every two
outcomes; with learning on, lessons are gated and promoted twice. Test requests are never asked, and measure
retrieval. Prints a table; `bench/results/loop.md` has the last runs.
"""

import argparse
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import anyio
from anyio import to_thread
from mcp import Client

from bench.loop_tools import INTRUDER, INTRUDING, grouped, slug, tool_of
from prowess.calling.caller import Caller
from prowess.calling.mcp.upstreams import Upstreams
from prowess.config import CallsConfig, EvolutionConfig, GatewayConfig, LearningConfig
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.gateway.gateway import Gateway
from prowess.gateway.server import build
from prowess.journal import stamp
from prowess.metrics import Query, measure, read_set, sampled
from prowess.opening import now
from prowess.sources.python.functions import Functions
from prowess.store.opening import open_database
from prowess.types import JournalEntry, Message, Outcome, Turn

TOOLS_OF_A_JOB = 4
TURNS_OF_AN_AGENT = 100
GATEWAY_EVERY = 5
POISONERS = 20
"""One agent in so many."""
NOISE = 0.05
SPELLS = 2
"""So many tools fail in a run, one after the other, and so many vanish."""
TELLING = ("EvolutionWarning", "EvolutionRollback", "EvolutionBreach", "EvolutionTrial")
HELD_OUT = 300
EVERY = 2
"""Outcomes after which an agent is evaluated."""
MAX_GATED = 60
"""Lessons that are gated at once: those shown most often come first."""
INTRUDES = 0.6
"""In how many turns the provider that does harm is used by those it harms."""
FEWEST = 10
"""Calls while a tool fails, of which an agent must have made so many to be counted."""


@dataclass(frozen=True, slots=True)
class Spell:
    """A while during which a tool fails, or is not there."""

    tool: str
    begins: int
    ends: int


@dataclass(slots=True)
class Town:
    """Everything that is simulated."""

    chance: random.Random
    requests: dict[str, list[Query]]
    """Tool -> the train requests it answers."""
    failing: set[str] = field(default_factory=set)
    jobs: dict[str, list[str]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    ranks: list[tuple[int, float]] = field(default_factory=list)
    """Turn -> how well the offer ranked what was right: one over its place."""
    first_told: dict[tuple[str, str], int] = field(default_factory=dict)
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(Agent, tool that broke) -> its calls since then."""


@asynccontextmanager
async def opened(
    url: str, folder: Path, town: Town, sources: tuple[Functions, ...], learns: bool
) -> AsyncIterator[tuple[Engine, Gateway]]:
    names = ", ".join(town.jobs)
    (folder / "policy.yaml").write_text(
        f'profiles: {{town: {{agents: [{names}], additional_tools: ["*"]}}}}\n'
    )
    options = EngineOptions(
        policy_files=(folder / "policy.yaml",),
        learning=LearningConfig(mode="accumulate" if learns else "off", auto=True),
        evolution=EvolutionConfig(every_outcomes=EVERY),
    )
    upstreams = Upstreams(sources, CallsConfig())
    with Engine(open_database(url, folder), upstreams.sources, now, {}, options) as engine:
        await to_thread.run_sync(engine.sync)
        gateway = Gateway(engine, upstreams, {}, GatewayConfig(poll=0, rate=0))
        async with gateway.running():
            await gateway.synced(60)
            yield engine, gateway


def library_turn(engine: Engine, town: Town, agent: str, query: Query, tool: str, pushed: str) -> float:
    """An offer, and the outcome of what was chosen from it; returns how well it was ranked."""
    offer = engine.offer(Turn(messages=(Message("user", query.text),), agent=agent))
    hits = [hit.id for hit in offer.hits]
    used = pushed or (tool if tool in hits or town.chance.random() < 0.5 else next(iter(hits), ""))
    if used:
        poison = bool(pushed) and pushed != INTRUDING
        worked = poison or (used == tool and used not in town.failing)
        ok = worked if town.chance.random() >= NOISE else not worked
        engine.record(Outcome(offer=offer.id, capability=used, ok=ok, agent=agent))
    return 1 / (hits.index(tool) + 1) if tool in hits else 0.0


async def gateway_turn(client: Client, query: Query, tool: str) -> float:
    found = await client.call_tool("discover_capabilities", {"query": query.text})
    shown = (found.structured_content or {}).get("capabilities", [])
    hits = [str(one["id"]) for one in shown]
    await client.call_tool("call_with_effects", {"id": tool, "arguments": {}})
    return 1 / (hits.index(tool) + 1) if tool in hits else 0.0


async def live(args: argparse.Namespace, folder: Path, url: str) -> tuple[tuple[str, str], ...]:
    labelled = read_set(args.sets / "metatool")
    chance = random.Random(args.seed)
    ids = {one.id: f"tool:{slug(one.name)}" for one in labelled.capabilities}
    requests: dict[str, list[Query]] = {}
    for query in labelled.queries:
        if query.split == "train" and len(query.gold) == 1:
            requests.setdefault(ids[query.gold[0]], []).append(query)
    town = Town(chance, requests)
    agents = [f"agent{number}" for number in range(max(20, args.turns // TURNS_OF_AN_AGENT))]
    asked = sorted(tool for tool, known in requests.items() if len(known) >= 10)
    town.jobs = {agent: chance.sample(asked, TOOLS_OF_A_JOB) for agent in agents}
    poison = {agent: chance.choice(asked) for agent in agents[::POISONERS]}
    span = args.turns // (SPELLS + 1)
    working = [tool for agent in agents if agent not in poison for tool in town.jobs[agent]]
    broken = [
        Spell(tool, (n + 1) * span, (n + 2) * span)
        for n, tool in enumerate(chance.sample(sorted(set(working)), SPELLS))
    ]
    away = [
        Spell(tool, n * span + span // 2, (n + 1) * span)
        for n, tool in enumerate(chance.sample(sorted(set(working) - {one.tool for one in broken}), SPELLS))
    ]
    functions = {
        ids[one.id]: tool_of(town.failing, ids[one.id], slug(one.name), one.description)
        for one in labelled.capabilities
    }
    sources = grouped(sorted(functions), functions, False)
    test = tuple(one for one in sampled(labelled.queries, "test", HELD_OUT) if len(one.gold) == 1)
    async with opened(url, folder, town, sources, args.learning == "on") as (engine, gateway):
        world = Run(engine, gateway, town, args, poison, broken, away, functions)
        before = await to_thread.run_sync(quality, engine, test, ids)
        await world.go()
        after = await to_thread.run_sync(quality, engine, test, ids)
        return tuple(report(world, before, after))


@dataclass(slots=True)
class Run:
    engine: Engine
    gateway: Gateway
    town: Town
    args: argparse.Namespace
    poison: dict[str, str]
    broken: list[Spell]
    away: list[Spell]
    functions: dict[str, Callable[[], str]]
    began: dict[str, str] = field(default_factory=dict)
    """Tool -> when it began to fail."""
    promoted: int = 0
    teaching: float = 0.0

    async def go(self) -> None:
        agents = sorted(self.town.jobs)
        for turn in range(self.args.turns):
            await self.change(turn)
            agent = self.town.chance.choice(agents)
            tool = self.town.chance.choice(self.town.jobs[agent])
            query = self.town.chance.choice(self.town.requests[tool])
            started = time.perf_counter()
            if turn % GATEWAY_EVERY == 0 and agent not in self.poison:
                server = build(self.gateway, lambda context, agent=agent: Caller(agent))  # type: ignore[misc]
                async with Client(server, mode="auto", cache=None) as client:
                    started = time.perf_counter()  # beginning a session is no turn
                    rank = await gateway_turn(client, query, tool)
            else:
                poison = self.poison.get(agent) or self.pushed(turn, agent)
                rank = await to_thread.run_sync(
                    library_turn, self.engine, self.town, agent, query, tool, poison
                )
            self.town.seconds.append(time.perf_counter() - started)
            if agent not in self.poison and tool not in self.gone(turn):
                self.town.ranks.append((turn, rank))
            self.watch(turn, agent)
            if self.args.learning == "on" and turn in (self.args.turns // 2, self.args.turns * 3 // 4):
                await to_thread.run_sync(self.teach)

    def pushed(self, turn: int, agent: str) -> str:
        """The tool that does harm, where the agent uses it now in place of the right one."""
        if turn < self.intrudes or agent not in self.harmed or self.town.chance.random() >= INTRUDES:
            return ""
        is_off = (INTRUDER, agent) in self.engine.catalogue.view().switched_off
        return "" if is_off else INTRUDING

    @property
    def intrudes(self) -> int:
        return int(self.args.turns) // 2

    @property
    def harmed(self) -> list[str]:
        return [agent for agent in sorted(self.town.jobs) if agent not in self.poison][::2]

    def gone(self, turn: int) -> set[str]:
        return {one.tool for one in self.away if one.begins <= turn < one.ends}

    async def change(self, turn: int) -> None:
        for one in self.broken:
            if turn == one.begins:
                self.began[one.tool] = stamp(now())
        self.town.failing.clear()
        self.town.failing.update(one.tool for one in self.broken if one.begins <= turn < one.ends)
        if turn == self.intrudes or any(turn in (one.begins, one.ends) for one in self.away):
            gone = self.gone(turn)
            there = {id: run for id, run in self.functions.items() if id not in gone}
            self.engine.sources = grouped(sorted(self.functions), there, turn >= self.intrudes)
            await to_thread.run_sync(self.engine.sync)

    def watch(self, turn: int, agent: str) -> None:
        """How many calls it takes until an agent that uses a failing tool is told of it."""
        for one in self.broken:
            key = (agent, one.tool)
            if (
                one.tool in self.town.jobs[agent]
                and one.begins <= turn < one.ends
                and agent not in self.poison
            ):
                self.town.calls[key] += 1
                if key not in self.town.first_told and self.told(agent, one):
                    self.town.first_told[key] = self.town.calls[key]

    def told(self, agent: str, spell: Spell) -> bool:
        """Whether something was said of the agent since the tool began to fail."""
        entries = self.engine.journal.latest(40, agent, "Evolution*")
        return any(_is_alarm(entry) for entry in entries if entry.at >= self.began[spell.tool])

    def teach(self) -> None:
        started, learning = time.perf_counter(), self.engine.learning
        learning.learn()
        shown = sorted(learning.lessons("proposed"), key=lambda one: -one.successes)
        waiting = [one.id for one in shown if one.successes > 1][:MAX_GATED]
        if waiting:
            learning.gate(*waiting)
        self.promoted += len(learning.promote_all())
        self.engine.sync()
        self.teaching += time.perf_counter() - started


def _is_alarm(entry: JournalEntry) -> bool:
    return entry.type in TELLING or entry.data.get("trigger") == "Regression"


def quality(engine: Engine, test: tuple[Query, ...], ids: dict[str, str]) -> float:
    back = {capability: id for id, capability in ids.items()}

    def rank(text: str) -> list[str]:
        return [back.get(id, id) for id in engine.rank(text, "agent1")]

    return measure(test, rank, time.perf_counter).scores.ndcg_10


def report(run: Run, before: float, after: float) -> Iterator[tuple[str, str]]:
    """What was measured, and what it came to."""
    town, turns, learns = run.town, run.args.turns, run.args.learning == "on"
    yield "turns, agents, of those poisoning", f"{turns:,}, {len(town.jobs)}, {len(run.poison)}"
    yield "NDCG@10 of held-out requests, before and after", f"{before:.3f}, {after:.3f}"
    yield "one over the rank of what was right, by quarter", ", ".join(_by_quarter(run))
    if learns:
        run.engine.learning.learn()
        closed = [bool(one.closed_by) for one in run.engine.learning.gaps(closed=True)]
        yield "lessons promoted; seconds for gates", f"{run.promoted}; {run.teaching:.0f}"
        yield "gaps opened, of those closed", f"{len(closed)}, {sum(closed)}"
    yield from _alarms(run)
    times = sorted(1000 * one for one in town.seconds)
    yield (
        "ms a turn: median, 95 of 100",
        f"{statistics.median(times):.1f}, {times[len(times) * 19 // 20]:.1f}",
    )


def _by_quarter(run: Run) -> Iterator[str]:
    quarter = run.args.turns // 4
    for n in range(4):
        ranks = [rank for turn, rank in run.town.ranks if n * quarter <= turn < (n + 1) * quarter]
        yield f"{statistics.fmean(ranks):.3f}"


def _alarms(run: Run) -> Iterator[tuple[str, str]]:
    town, status = run.town, run.engine.evolution.status
    honest = [agent for agent in town.jobs if agent not in run.poison]
    users = [
        (agent, one.tool) for one in run.broken for agent in honest if town.calls[agent, one.tool] >= FEWEST
    ]
    told = sorted(town.first_told[key] for key in users if key in town.first_told)
    changing = {one.tool for one in (*run.broken, *run.away)}
    steady = {agent for agent in honest if not changing & set(town.jobs[agent])} - set(run.harmed)
    entries = [entry for entry in run.engine.journal.after(()) if entry.type.startswith("Evolution")]
    false = [
        entry for entry in entries
        if entry.chain in steady and (_is_alarm(entry) or entry.data.get("trigger") == "Rebalance")
    ]  # fmt: skip
    tried = {(entry.chain, name) for entry in entries for name in entry.data.get("switched_off") or ()}
    right = {(agent, INTRUDER) for agent in run.harmed}
    off = {(agent, name) for name, agent in run.engine.catalogue.view().switched_off}
    evaluated = sum(status(agent).evaluations for agent in town.jobs)
    at = f"; after {statistics.median(told):.0f} of their calls (median), {told[-1]} (most)" if told else ""
    yield "evaluations", f"{evaluated:,}"
    yield "agents with a failing tool that were told", f"{len(told)} of {len(users)}{at}"
    yield "told within 30 calls", f"{sum(one <= 30 for one in told)} of {len(users)}"
    in_all = sum(status(agent).evaluations for agent in steady)
    yield "false alarms of steady agents, in evaluations", f"{len(false)} in {in_all:,}"
    yield "agents with the harmful provider off at the end", f"{len(off & right)} of {len(right)}"
    yield "innocent ones ever off; still off at the end", f"{len(tried - right)}; {len(off - right)}"


@contextmanager
def database(kind: str, folder: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield f"sqlite:{folder / 'store.db'}"
        return
    from tests.support.postgres import running_postgres  # only where it is asked for

    with running_postgres() as url:
        yield url


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path)
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--database", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--learning", choices=("off", "on"), default="on")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="prowess-loop-") as name:
        folder = Path(name)
        with database(args.database, folder) as url:
            for what, value in anyio.run(live, args, folder, url):
                print(f"| {what} | {value} |", flush=True)


if __name__ == "__main__":
    main()
