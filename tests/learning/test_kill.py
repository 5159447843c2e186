"""kill -9 in the middle of a promotion leaves it undone or done."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from prowess.journal import Journal
from prowess.learning import lessons as lessons
from prowess.opening import now
from prowess.store.opening import open_database
from tests.learning.promoter import SKILLS

pytestmark = pytest.mark.slow

STATUS = {"skill.promoted": "stable", "skill.deprecated": "deprecated"}


def killed(url: str, output: Path, first: int, chance: random.Random) -> set[str]:
    """Run a promoter until a random instant; returns the rounds whose promotion it was told is done."""
    with output.open("w") as stdout:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.learning.promoter", url, str(first)], stdout=stdout
        )
    while "promoted" not in output.read_text():
        assert process.poll() is None, "the promoter ended before it was killed"
        time.sleep(0.005)
    time.sleep(chance.uniform(0, 0.1))
    process.kill()
    process.wait(30)
    whole = [line.split() for line in output.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return {words[2] for words in whole if words[0] == "promoted"}


def test_a_promotion_killed_at_a_random_instant_is_undone_or_done(store_url: str, tmp_path: Path) -> None:
    chance = random.Random(11)
    database = open_database(store_url, tmp_path)
    with database.writing() as transaction:
        for lesson in SKILLS:
            lessons.keep(transaction, lesson)
    seen = 0
    for number in range(5):
        acknowledged = killed(store_url, tmp_path / f"acknowledged-{number}", 10_000 * number, chance)
        journal = Journal(database, now)
        journal.verify()
        decided = [entry for entry in journal.latest(10_000) if entry.type in STATUS]
        said = {str(e.data["by"]).removeprefix("round ") for e in decided if e.type == "skill.promoted"}
        assert acknowledged <= said
        last = {str(entry.data["skill"]): STATUS[entry.type] for entry in decided}
        with database.reading() as transaction:
            held = {lesson.id: lesson.status for lesson in lessons.every(transaction)}
        assert {id: held[id] for id in last} == last
        seen += len(acknowledged)
    assert seen >= 5
    database.close()
