"""The index of a catalogue is kept in the store where that saves work at the next opening."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from tests.support.stores import OWNER


def opened(url: str, folder: Path, count: int) -> Engine:
    (folder / "policy.yaml").write_text(OWNER)
    tools = [capability(f"tool:t{n}", f"Order item number {n} from shelf {n % 7}") for n in range(count)]
    options = EngineOptions(policy_files=(folder / "policy.yaml",), embedder=word_embedder)
    source = StaticSource("office", capabilities=tools)
    return Engine(open_database(url, folder), (source,), lambda: datetime.now(UTC), {}, options)


@pytest.mark.parametrize(("count", "is_kept"), [(40, True), (8, False)])
def test_the_index_of_a_small_catalogue_is_kept_and_finds_the_same_when_it_is_read_again(
    store_url: str, tmp_path: Path, count: int, is_kept: bool
) -> None:
    with opened(store_url, tmp_path, count) as engine:
        engine.sync()
        first = engine.find("order item number 3", "ada")
    with opened(store_url, tmp_path, count) as engine:
        with engine.internals.database.reading() as transaction:
            kept = transaction.one("SELECT COUNT(*) FROM search_index WHERE workspace = :workspace")
        assert kept == (int(is_kept),)
        assert engine.find("order item number 3", "ada") == first != ()
