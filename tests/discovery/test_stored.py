"""A catalogue that is too large to be held answers as one that is: offers, searches, policy and changes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from prowess import Turn
from prowess.discovery.dense import Matrix
from prowess.discovery.embedders import shipped
from prowess.discovery.ranking import Embed
from prowess.discovery.stored import encodings, queries, tables
from prowess.discovery.stored.conditions import EVERYTHING
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Capability, Message
from tests.support.clock import SteppingClock
from tests.support.large import POLICY, opened

VERBS = ("create", "search", "delete", "export", "approve", "archive")
THINGS = ("invoice", "ticket", "calendar event", "mail", "contract", "flight", "report", "room")
REQUESTS = (
    "find the contract of last year",
    "delete a ticket",
    "export the report as a file",
    "book a flight",
)


def tools() -> list[Capability]:
    return [
        replace(
            capability(f"tool:{server}/{verb}_{thing}".replace(" ", "_"), f"{verb.title()} one {thing}."),
            provider=server,
        )
        for server in ("office", "home")
        for verb in VERBS
        for thing in THINGS
    ]


def office() -> StaticSource:
    return StaticSource("tools", capabilities=tools())


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Engine]:
    (tmp_path / "held").mkdir()
    with opened("held.db", tmp_path / "held", office(), 1000) as engine:
        yield engine


@pytest.fixture
def stored(store_url: str, tmp_path: Path) -> Iterator[Engine]:
    with opened(store_url, tmp_path, office()) as engine:
        yield engine


@pytest.mark.parametrize("agent", ["default", "ada", "stranger"])
def test_it_ranks_as_a_catalogue_in_memory_does(held: Engine, stored: Engine, agent: str) -> None:
    for request in REQUESTS:
        assert stored.rank(request, agent) == held.rank(request, agent)


def test_an_offer_shows_the_same_tools_and_lines(held: Engine, stored: Engine) -> None:
    for agent in ("default", "ada", "few"):
        for request in REQUESTS:
            turn = Turn(messages=(Message("user", request),), agent=agent)
            one, other = (engine.offer(turn, few_tools_whole=True) for engine in (held, stored))
            assert [hit.id for hit in other.hits] == [hit.id for hit in one.hits]
            assert other.tools == one.tools
            assert other.left_out.counts == one.left_out.counts
            assert other.mode == one.mode and ("they are few" in one.mode) == (agent == "few")


def test_what_is_added_changed_or_removed_is_found_so_after_the_sync(store_url: str, tmp_path: Path) -> None:
    source = office()
    with opened(store_url, tmp_path, source) as engine:
        source.capabilities.append(capability("tool:home/water_plants", "Waters the plants on the balcony."))
        engine.sync()
        assert engine.rank("water the plants")[0] == "tool:home/water_plants"
        source.capabilities[-1] = capability("tool:home/water_plants", "Plays a tune on the trumpet.")
        engine.sync()
        assert engine.rank("play the trumpet")[0] == "tool:home/water_plants"
        assert "trumpet" in engine.catalogue.get("tool:home/water_plants").description
        source.capabilities.pop()
        engine.sync()
        assert "tool:home/water_plants" not in engine.rank("play the trumpet")


def test_many_small_changes_leave_few_segments_and_the_same_ranking(
    held: Engine, store_url: str, tmp_path: Path
) -> None:
    source = office()
    held.sources = (source,)
    with opened(store_url, tmp_path, source) as engine:
        for number in range(20):
            name = f"tool:home/gadget_{number}"
            source.capabilities.append(capability(name, f"Gadget of the number word{number}x."))
            engine.sync()
        held.sync()
        for number in range(20):
            assert engine.rank(f"word{number}x") == held.rank(f"word{number}x")
        with engine.internals.database.reading() as transaction:
            assert len(tables.sizes(transaction)) <= 13


def test_a_change_of_policy_holds_in_the_next_search(stored: Engine, tmp_path: Path) -> None:
    assert "tool:office/create_invoice" in stored.rank("create an invoice", "ada")
    (tmp_path / "policy.yaml").write_text(POLICY.replace("office/delete_*", "office/create_*"))
    assert "tool:office/create_invoice" not in stored.rank("create an invoice", "ada")
    assert "tool:office/delete_invoice" in stored.rank("delete an invoice", "ada")


def test_what_is_switched_off_or_not_allowed_is_neither_found_nor_looked_up(stored: Engine) -> None:
    stored.providers.deactivate("office", reason="not now")
    assert stored.rank("delete a ticket") and all(
        id.startswith("tool:home/") for id in stored.rank("delete a ticket")
    )
    assert stored.rank("delete a ticket", "ada") == []
    stored.providers.activate("office")
    visible = stored.catalogue.visible("ada").capabilities
    assert "tool:office/search_mail" in visible
    assert "tool:home/search_mail" not in visible
    assert "tool:office/delete_mail" not in visible
    assert [c.id for c in stored.catalogue.list("ada")] == sorted(
        each.id for each in tools() if each.provider == "office" and "delete" not in each.id
    )


def test_another_process_searches_what_one_has_indexed(store_url: str, tmp_path: Path) -> None:
    source = office()
    with opened(store_url, tmp_path, source) as first, opened(store_url, tmp_path, source) as second:
        assert second.rank("archive a report") == first.rank("archive a report")
        source.capabilities.append(capability("tool:home/feed_cat", "Feeds the cat."))
        first.sync()
        assert second.rank("feed the cat")[0] == "tool:home/feed_cat"


def test_another_embedder_means_another_index(store_url: str, tmp_path: Path) -> None:
    source = office()
    with opened(store_url, tmp_path, source) as engine:
        before = engine.rank("export a report")
    options = EngineOptions(
        embedder=lambda: ("other words", word_embedder()[1]), policy_files=(tmp_path / "policy.yaml",),
        in_memory=10,
    )  # fmt: skip
    database = open_database(store_url, tmp_path)
    with Engine(database, (source,), SteppingClock(), {}, options) as engine:
        engine.sync()
        assert engine.rank("export a report") == before
        with database.reading() as transaction:
            assert [each.model for each in encodings.every(transaction)] == ["words", "other words"]


def test_where_the_embedder_fails_words_serve(store_url: str, tmp_path: Path) -> None:
    def broken() -> tuple[str, Embed]:
        raise OSError("no model here")

    (tmp_path / "policy.yaml").write_text(POLICY)
    options = EngineOptions(embedder=broken, policy_files=(tmp_path / "policy.yaml",), in_memory=10)
    with Engine(open_database(store_url, tmp_path), (office(),), SteppingClock(), {}, options) as engine:
        engine.sync()
        assert engine.rank("archive a contract")[0].endswith("archive_contract")


def test_while_the_embedder_fails_what_is_new_is_found_by_words_and_gets_its_vector_later(
    store_url: str, tmp_path: Path
) -> None:
    _, embed = word_embedder()
    fails: list[bool] = []

    def sometimes(texts: Sequence[str]) -> Matrix:
        if fails:
            raise OSError("the service is away")
        return embed(texts)

    (tmp_path / "policy.yaml").write_text(POLICY)
    options = EngineOptions(
        embedder=lambda: ("words", sometimes), policy_files=(tmp_path / "policy.yaml",), in_memory=10
    )
    source = office()
    with Engine(open_database(store_url, tmp_path), (source,), SteppingClock(), {}, options) as engine:
        engine.sync()
        fails.append(True)
        source.capabilities.append(capability("tool:home/feed_cat", "Feeds the cat."))
        engine.sync()
        assert engine.rank("feed the cat")[0] == "tool:home/feed_cat"
        assert vectors_and_rows(engine) == (len(tools()), len(tools()) + 1)
        fails.clear()
        engine.sync()
        assert vectors_and_rows(engine) == (len(tools()) + 1, len(tools()) + 1)
        assert engine.rank("feed the cat")[0] == "tool:home/feed_cat"


def vectors_and_rows(engine: Engine) -> tuple[int, int]:
    """How many capabilities in use have a vector in the index, and how many there are."""
    with engine.internals.database.reading() as transaction:
        rows = queries.selected(transaction, EVERYTHING)
        (encoding,) = encodings.every(transaction)
        return len(encodings.vectors_of(transaction, encoding.encoding, rows)), len(rows)


def test_a_catalogue_that_grows_beyond_the_limit_and_shrinks_again_is_served_throughout(
    store_url: str, tmp_path: Path
) -> None:
    source = StaticSource("tools", capabilities=tools()[:8])
    with opened(store_url, tmp_path, source) as engine:
        assert not engine.catalogue.view().is_stored
        source.capabilities = tools()
        engine.sync()
        assert engine.catalogue.view().is_stored
        assert engine.rank("approve a flight")[0].endswith("approve_flight")
        source.capabilities = tools()[:8]
        engine.sync()
        assert not engine.catalogue.view().is_stored
        assert "tool:office/create_invoice" in engine.rank("create an invoice")


def test_what_a_model_searches_and_calls_is_answered_alike(stored: Engine, held: Engine) -> None:
    for query in REQUESTS:
        one, other = held.discover(query), stored.discover(query)
        assert other["capabilities"] == one["capabilities"]
    result = stored.call("tool:office/delete_invoice", {}, agent="ada")
    assert result.is_error
    assert "delete_invoice" not in str(stored.journal.latest(1)[0].data.get("shown", ""))


def test_a_model_sees_first_what_does_it_and_not_what_only_sounds_like_it(
    store_url: str, tmp_path: Path
) -> None:
    rooms = [
        capability("tool:create_booking", "Book a room for a time."),
        capability("tool:cancel_booking", "Cancel a booking of a room."),
        capability("tool:list_rooms", "List the rooms of the building with their seats."),
    ]
    source = StaticSource("tools", capabilities=rooms)
    request = "we do not need the room any more"
    with opened(store_url, tmp_path, source, in_memory=2, embedder=shipped) as engine:
        assert engine.catalogue.view().is_stored
        assert engine.rank(request)[0] != "tool:cancel_booking"
        assert engine.discover(request)["capabilities"][0]["id"] == "tool:cancel_booking"
