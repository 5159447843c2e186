"""kill -9 at random instants: nothing acknowledged is lost and nothing is half done.

This is the quick form; `bench/kill.py` does it 200 times on each database.
"""

from pathlib import Path

import pytest

from tests.store.killing import kill_writers

pytestmark = [pytest.mark.slow, pytest.mark.new_store]


def test_writers_killed_at_random_instants_lose_nothing_they_acknowledged(
    store_url: str, tmp_path: Path
) -> None:
    outcome = kill_writers(store_url, tmp_path, rounds=4, writers=3, seed=7)
    assert outcome.kills == 12
    assert outcome.acknowledged >= 12  # each had acknowledged something before it was killed
    assert outcome.lost == ()
    assert outcome.half_done == ()
