"""Faults drawn at random under load, and what must hold whatever happens, checked from the journal.

    python -m bench.chaos [MINUTES] [SEED]          (default 10 minutes, seed 1)

Nodes are processes that serve four agents through proxies over a PostgreSQL and its copy, while a program
beside them leads an agent called probe from one profile to the next. Faults: kill -9 of a node, PostgreSQL
stopped or killed and started again, its copy promoted (sometimes the old one comes back), its disk full
(where this user may mount one), a network that hangs for up to 8 s or loses everything for up to 14 s, a
clock that jumps by up to an hour.
"""

import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any

from bench.chaos_node import AGENTS, EVERY_OUTCOMES, STEPS, opened, policy
from bench.chaos_store import ChaosStore, chaos_store
from prowess.errors import ProwessError
from tests.support.evolution import inconsistencies

NODES = 2
SECONDS_TO_SERVE = 5.0
KILLED, JUMPS = "node killed", "clock jumps"
OFTEN = {KILLED: 2.5, "network hangs": 1.5}
"""What is drawn more often than once."""
Said = dict[str, Any]


@dataclass(slots=True)
class Steps:
    """The profiles the probe was led through: when each was asked for, and when that was acknowledged."""

    asked: list[tuple[int, float]] = field(default_factory=list)
    known: list[tuple[int, float]] = field(default_factory=list)

    def lead(self, url: str, folder: Path, stop: Event) -> None:
        engine, number = opened(url, folder, lambda: datetime.now(UTC)), 0
        while not stop.wait(0.7):
            self.asked.append((number, time.monotonic()))
            try:
                engine.agents.bind("probe", f"step{number % STEPS}")
                self.known.append((number, time.monotonic()))
            except ProwessError:
                pass  # nobody knows whether it holds
            number += 1
        engine.close()

    def allowed(self, begun: float, ended: float) -> set[str]:
        """The profiles of which one may hold at some moment between these."""
        last = max((number for number, at in self.known if at <= begun), default=-1)
        return {f"tool:step{number % STEPS}" for number, at in self.asked if number >= last and at <= ended}


@dataclass(slots=True)
class Chaos:
    folder: Path
    store: ChaosStore
    chance: random.Random
    nodes: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    back: list[tuple[str, float]] = field(default_factory=list)
    """What was wrong for all nodes, and when it was over."""
    starts: list[float] = field(default_factory=list)

    def start(self, number: int) -> "subprocess.Popen[bytes]":
        name = f"node{number}"
        command = [sys.executable, "-m", "bench.chaos_node", self.store.url_of_nodes, str(self.folder), name]
        return subprocess.Popen(command)

    def run(self, minutes: float) -> None:
        self.nodes = [self.start(number) for number in range(NODES)]
        time.sleep(8)
        until = time.monotonic() + 60 * minutes
        kinds = (KILLED, JUMPS, *self.store.faults)
        while time.monotonic() < until:
            fault = self.chance.choices(kinds, [OFTEN.get(kind, 1) for kind in kinds])[0]
            self._carry_out(fault)
            self.faults[fault] += 1
            time.sleep(self.chance.uniform(5.2, 7))
        (self.folder / "ahead").write_text("0")
        time.sleep(6)
        for node in self.nodes:
            node.kill()
            node.wait(20)

    def _carry_out(self, fault: str) -> None:
        match fault:
            case "node killed":
                number = self.chance.randrange(NODES)
                self.nodes[number].kill()
                self.nodes[number].wait(20)
                self.nodes[number] = self.start(number)
            case "clock jumps":
                (self.folder / "ahead").write_text(str(self.chance.uniform(-3600, 3600)))
            case _:
                self.back.append((fault, self.store.suffer(fault, self.chance)))


def violations(chaos: Chaos, steps: Steps) -> tuple[dict[str, list[str]], Counter[str], list[float]]:
    said: list[Said] = []
    for file in sorted(chaos.folder.glob("node*.jsonl")):
        lines = file.read_text().splitlines(keepends=True)
        said += [json.loads(line) for line in lines if line.endswith("\n")]
    counted = Counter(f"{one['kind']}{' refused' if 'refused' in one else ''}" for one in said)
    counted["find from memory"] = sum(bool(one.get("stale")) for one in said)
    found = {"crashed": [str(one) for one in said if "crashed" in one]}
    found["older policy"] = [
        f"{one['node']} saw {one['sees']} instead of {sorted(allowed)}"
        for one in said
        if one["kind"] in ("probe", "find") and one.get("sees") and not one.get("stale")
        if not set(one["sees"]) <= (allowed := steps.allowed(one["begun"], one["ended"]))
    ]
    found["memory older than what was seen"] = _backwards(said)
    late, seconds = _late(chaos, said)
    found["not serving within 5 s"] = late
    engine = opened(chaos.store.url, chaos.folder, lambda: datetime.now(UTC))
    entries = engine.journal.after(())
    engine.journal.verify()
    offers = {entry.data["offer"] for entry in entries if entry.type == "offer"}
    outcomes = {entry.data["offer"] for entry in entries if entry.type == "outcome"}
    found["offers lost"] = [one["id"] for one in said if one["kind"] == "offer" and one["id"] not in offers]
    turns = [one["id"] for one in said if one["kind"] == "turn" and "id" in one]
    found["outcomes lost"] = [id for id in turns if id not in outcomes]
    found["generations that do not agree"] = [
        why for agent in AGENTS for why in inconsistencies(engine, agent)
    ]
    for agent in AGENTS:
        reported = sum(entry.type == "outcome" and entry.chain == agent for entry in entries)
        done = engine.evolution.status(agent).evaluations
        counted["evaluations"] += done
        if done * EVERY_OUTCOMES > reported:
            found["generations that do not agree"].append(
                f"{agent}: {done} evaluations of {reported} outcomes"
            )
    counted["entries of the journal"] = len(entries)
    engine.close()
    return found, counted, seconds


def _backwards(said: list[Said]) -> list[str]:
    """A node that answers from memory with what is older than something it had seen before that."""
    wrong: list[str] = []
    for name in {one["node"] for one in said}:
        seen: list[tuple[float, int]] = []
        for one in sorted((o for o in said if o["node"] == name and "ended" in o), key=lambda o: o["ended"]):
            if one["kind"] == "started":
                seen = []
            if not one.get("sees"):
                continue
            number = int(one["sees"][0].removeprefix("tool:step"))
            before = [n for at, n in seen if at <= one["begun"]]
            if one.get("stale") and before and 0 < (before[-1] - number) % STEPS < STEPS / 2:
                wrong.append(f"{name} answered step {number} after step {before[-1]}")
            if not one.get("stale"):
                seen = [*seen[-20:], (one["ended"], number)]
    return wrong


def _late(chaos: Chaos, said: list[Said]) -> tuple[list[str], list[float]]:
    """Nodes that lived through the end of a fault and did not make an offer soon after it."""
    wrong: list[str] = []
    took: list[float] = []
    for fault, at in chaos.back:
        for name in {one["node"] for one in said}:
            mine = [one for one in said if one["node"] == name]
            starts = [one["ended"] for one in mine if one["kind"] == "started"]
            if not any(start < at for start in starts) or any(at < start < at + 15 for start in starts):
                continue
            good = [
                one["ended"] for one in mine if one["kind"] == "turn" and "id" in one and one["ended"] > at
            ]
            took.append(min(good, default=at + 999) - at)
            if took[-1] > SECONDS_TO_SERVE:
                told = _meanwhile(mine, at, at + took[-1])
                wrong.append(f"{name} served {took[-1]:.1f} s after: {fault} ({told})")
    return wrong, sorted(took)


def _meanwhile(said: list[Said], begun: float, ended: float) -> str:
    """What a node was told in between, with how long that took."""
    told = [one for one in said if "begun" in one and one["ended"] >= begun and one["begun"] <= ended]
    return "; ".join(
        f"{one['kind']} {one['begun'] - begun:.1f} to {one['ended'] - begun:.1f} s: {one.get('why', 'done')}"
        for one in told[:12]
    )


def main() -> None:
    minutes, seed = (float(word) for word in (*sys.argv[1:], *("10", "1")[len(sys.argv) - 1 :]))
    with (
        tempfile.TemporaryDirectory() as name,
        chaos_store() as store,
    ):
        folder = Path(name)
        (folder / "policy.yaml").write_text(policy())
        first = opened(store.url, folder, lambda: datetime.now(UTC))
        first.sync()
        first.close()
        chaos, steps, stop = Chaos(folder, store, random.Random(seed)), Steps(), Event()
        leading = Thread(target=steps.lead, args=(store.url, folder, stop))
        leading.start()
        chaos.run(minutes)
        stop.set()
        leading.join(60)
        found, counted, seconds = violations(chaos, steps)
    print(f"{minutes:g} minutes, seed {seed:g}, {NODES} nodes, {sum(chaos.faults.values())} faults\n")
    print("| fault | times |\n|---|---|")
    print("\n".join(f"| {fault} | {times} |" for fault, times in sorted(chaos.faults.items())))
    print("\n| what happened | times |\n|---|---|")
    print("\n".join(f"| {what} | {count} |" for what, count in sorted(counted.items())))
    if seconds:
        middle, last = seconds[len(seconds) // 2], seconds[-1]
        print(
            f"\nServing again after a fault: median {middle:.2f} s, longest {last:.2f} s, of {len(seconds)}."
        )
    print("\n| what must not happen | times |\n|---|---|")
    print("\n".join(f"| {what} | {len(which)} |" for what, which in found.items()), flush=True)
    for what, which in found.items():
        for one in which[:10]:
            print(f"{what}: {one}", file=sys.stderr)
    if any(found.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
