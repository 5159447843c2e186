"""A promotion that passed its gates and is killed inside its transaction has not happened."""

import subprocess
import sys
from pathlib import Path

import pytest

from prowess.journal import Journal
from prowess.learning import lessons as skills
from prowess.opening import now
from prowess.store.opening import open_database
from tests.learning.promoter import SKILLS

pytestmark = pytest.mark.slow


def stopped(url: str, number: int) -> str:
    """Promote in a process that stops at the given look at the clock, and kill it there."""
    command = [sys.executable, "-m", "tests.hostile.stopping_promoter", url, str(number)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = process.stdout.readline().strip()
        process.kill()
    return said


@pytest.mark.timeout(120)
def test_a_promotion_killed_between_its_row_and_its_journal_entry_is_undone(
    store_url: str, tmp_path: Path
) -> None:
    database = open_database(store_url, tmp_path)
    with database.writing() as transaction:
        skills.keep(transaction, SKILLS[0])
    journal = Journal(database, now)
    told = []
    for number in range(1, 10):
        told.append(stopped(store_url, number))
        with database.reading() as transaction:
            status = skills.get(transaction, SKILLS[0].id).status
        promoted = [entry for entry in journal.latest(100) if entry.type == "skill.promoted"]
        journal.verify()
        done = told[-1] == "done"
        assert (status == "stable") is done and len(promoted) == int(done)
        if done:
            break
    assert "inside" in told and told[-1] == "done"
    database.close()
