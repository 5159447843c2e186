"""Kill writers in the middle of their work, and see what the store says afterwards."""

import random
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from prowess.catalogue.catalogue import Catalogue
from prowess.journal import Journal
from prowess.opening import now
from prowess.store.database import Database
from prowess.store.opening import open_database

Acknowledged = dict[tuple[str, int], str]


@dataclass(frozen=True, slots=True)
class KillOutcome:
    kills: int
    acknowledged: int
    lost: tuple[str, ...]
    half_done: tuple[str, ...]


def kill_writers(url: str, folder: Path, rounds: int, writers: int, seed: int) -> KillOutcome:
    """Start writers, kill each at a random instant, check the whole store; again and again."""
    chance = random.Random(seed)
    acknowledged: Acknowledged = {}
    lost: list[str] = []
    half_done: list[str] = []
    open_database(url, folder).close()
    for _ in range(rounds):
        outputs = _run_and_kill(url, folder, writers, chance)
        for output in outputs:
            acknowledged |= _read(output)
        database = open_database(url, folder)
        lost += _lost(database, acknowledged)
        half_done += _half_done(database)
        database.close()
    return KillOutcome(rounds * writers, len(acknowledged), tuple(lost), tuple(half_done))


def _run_and_kill(url: str, folder: Path, writers: int, chance: random.Random) -> list[Path]:
    outputs = [folder / f"acknowledged-{number}" for number in range(writers)]
    running = []
    for number, output in enumerate(outputs):
        with output.open("w") as stdout:
            command = [sys.executable, "-m", "tests.store.writer", url, f"w{number}"]
            running.append(subprocess.Popen(command, stdout=stdout))
    for process, output in zip(running, outputs, strict=True):
        # Each has something to lose before it is killed, however slow the machine is.
        while not _read(output):
            assert process.poll() is None, "a writer ended before it was killed"
            time.sleep(0.005)
    for process in running:
        time.sleep(chance.uniform(0, 0.15))
        process.kill()
        process.wait(30)
    return outputs


def _read(output: Path) -> Acknowledged:
    """What a writer was told is safe; a line cut by the kill itself does not count."""
    lines = [line.split() for line in output.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return {(words[0], int(words[1])): words[2] for words in lines if len(words) == 3}


def _lost(database: Database, acknowledged: Acknowledged) -> list[str]:
    journal = Journal(database, now)
    journal.verify()
    stored = {(e.chain, e.number): e.hash for e in journal.after(())}
    return [
        f"{chain} {number}"
        for (chain, number), hash in acknowledged.items()
        if stored.get((chain, number)) != hash
    ]


def _half_done(database: Database) -> list[str]:
    """Every writer's twenty capabilities must be of one round, or not there at all."""
    rounds: dict[str, list[str]] = {}
    for found in Catalogue(database).view().capabilities.values():
        rounds.setdefault(found.source, []).append(found.description)
    return [f"{name}: {said}" for name, said in rounds.items() if len(said) != 20 or len(set(said)) != 1]
