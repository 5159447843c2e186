"""What a model was shown can be shown again: exactly, until it expires, and without credentials."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from prowess.cli.main import prowess
from prowess.config import JournalConfig
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.errors import NotFound
from prowess.sources.files.cards import CardFiles
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Detail, Message, Outcome, Turn
from tests.support.clock import SteppingClock
from tests.support.gateway import OWNER, served, workshop, write_config
from tests.support.turns import CARD, POLICY
from tests.support.wire import Pipes

KEY = "ghp_" + "k3Yq9ZtW1mX7vB5nC8dF2gH6jL0pR4sT9uVa"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string", "description": "Where. " * 40}}}
SKILL = "Ask for the city first.\n\n" + "Then say what the weather is like there. " * 20

Open = Callable[..., Engine]


@pytest.fixture
def opened(store_url: str, tmp_path: Path) -> Open:
    """Engines over one store with tools, a skill and a card; what it says can be changed."""

    def make(keep_days: int = 30, text: str = "", clock: SteppingClock | None = None) -> Engine:
        (tmp_path / "policy.yaml").write_text(POLICY)
        (tmp_path / "cards").mkdir(exist_ok=True)
        (tmp_path / "cards" / "searching.md").write_text(CARD)
        weather = capability("tool:weather", f"Say the weather of a city {text}", provider="sky")
        forecast = capability("tool:forecast", "Forecast the weather of a city", provider="sky")
        skill = capability("skill:weather", "How to tell the weather of a city", provider="sky")
        source = StaticSource(
            capabilities=[weather, forecast, skill],
            details={"tool:weather": Detail(input_schema=SCHEMA), "skill:weather": Detail(content=SKILL)},
        )
        journal = JournalConfig(keep_days=keep_days)
        options = EngineOptions(
            policy_files=(tmp_path / "policy.yaml",), embedder=word_embedder, journal=journal
        )
        sources = (source, CardFiles(name="cards", paths=(str(tmp_path / "cards"),)))
        return Engine(open_database(store_url, tmp_path), sources, clock or SteppingClock(), {}, options)

    return make


def asked(text: str, agent: str = "default") -> Turn:
    return Turn(messages=(Message("user", text),), agent=agent)


def payloads(engine: Engine) -> int:
    with engine.internals.database.reading() as transaction:
        row = transaction.one("SELECT COUNT(*) FROM payload WHERE workspace = :workspace")
    return int(row[0]) if row else 0


@pytest.mark.parametrize("request_", ["the weather of a city", "search the news", "thanks", ""])
@pytest.mark.parametrize("agent", ["default", "ada", "bob", "nobody"])
def test_an_offer_is_rebuilt_to_the_letter(opened: Open, request_: str, agent: str) -> None:
    with opened() as engine:
        engine.sync()
        offer = engine.offer(asked(request_, agent))
        engine.record(Outcome(offer=offer.id, capability="tool:weather", ok=True, agent=agent))
    with opened() as other:  # another process, later
        trace = other.trace(offer.id)
    assert trace.offer == offer
    assert [entry.type for entry in trace.entries if entry.type != "cards.selected"] == ["offer", "outcome"]


def test_what_is_shown_again_and_again_is_stored_once(opened: Open) -> None:
    with opened() as engine:
        engine.sync()
        first = engine.offer("the weather of a city")
        once = payloads(engine)
        again = [engine.offer("the weather of a city") for _ in range(20)]
        assert payloads(engine) == once
        engine.offer("forecast the weather")
        # Only the offer itself is new, since it says what it was found for; its tools and pages are there.
        assert payloads(engine) <= once + 2
        assert all(engine.trace(offer.id).offer == offer for offer in (first, *again))


def test_a_credential_in_what_was_shown_is_not_kept(opened: Open) -> None:
    with opened(text=f"with the key {KEY}") as engine:
        engine.sync()
        offer = engine.offer("the weather of a city")
        with engine.internals.database.reading() as transaction:
            kept = [
                row[0] for row in transaction.all("SELECT body FROM payload WHERE workspace = :workspace")
            ]
        assert kept and not any(KEY in body for body in kept)
        rebuilt = engine.trace(offer.id).offer
        assert rebuilt and [hit.id for hit in rebuilt.hits] == [hit.id for hit in offer.hits]


def test_what_has_expired_is_gone_and_the_chain_is_whole(opened: Open) -> None:
    clock = SteppingClock()
    with opened(7, clock=clock) as engine:
        engine.sync()
        old = engine.offer("search the news")
        clock.now += timedelta(days=5)
        engine.offer("the weather of a city")
        assert engine.trace(old.id).offer == old
        clock.now += timedelta(days=5)
        new = engine.offer("forecast the weather of a city")
        assert engine.trace(old.id).offer is None
        assert [entry.type for entry in engine.trace(old.id).entries if entry.type == "offer"] == ["offer"]
        # What it shares with an offer that is gone is kept as long as the later one.
        assert engine.trace(new.id).offer == new
        engine.journal.verify()


def test_nothing_is_kept_where_nothing_shall_be(opened: Open) -> None:
    with opened(0) as engine:
        engine.sync()
        offer = engine.offer("the weather of a city")
        assert payloads(engine) == 0
        assert engine.trace(offer.id).offer is None


def test_an_offer_that_nobody_made_is_an_error_that_says_where_to_look(opened: Open) -> None:
    with opened() as engine:
        engine.sync()
        with pytest.raises(NotFound, match="prowess log --type offer"):
            engine.trace("nothing-like-it")


def test_the_command_line_shows_an_offer_as_the_model_saw_it(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        "from prowess import tool\n\n"
        "@tool\ndef send_email(to: str) -> str:\n    '''Send an email to somebody.'''\n    return to\n"
    )
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "prowess.toml").write_text(
        '[policy]\nfiles = ["policy.yaml"]\n[[source]]\ntype = "functions"\nmodule = "tools"\n'
    )

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(prowess, ["--config", str(tmp_path / "prowess.toml"), *arguments])
        assert done.exit_code == 0, done.output
        return done.stdout

    run("sync")
    offered = json.loads(run("offer", "send an email to ada", "--json"))
    seen = run("log", "show", offered["id"])
    assert offered["text"] in seen
    assert all(msgspec.json.encode(tool).decode() in seen for tool in offered["tools"])
    assert "send an email to ada" in seen.partition("--- in the journal")[2]
    shown = json.loads(run("log", "show", offered["id"], "--json"))
    assert shown["offer"]["text"] == offered["text"] and shown["offer"]["left_out"] == offered["left_out"]
    explained = run("why", "default", offered["hits"][0]["id"], "--request", "send an email to ada")
    assert explained.splitlines()[-1].startswith("offered:")


@pytest.mark.slow
def test_a_search_through_the_gateway_is_followed_to_the_result_of_its_call(tmp_path: Path) -> None:
    file = write_config(tmp_path, OWNER, workshop())
    file.write_text(f"{file.read_text()}[journal]\nkeep_arguments = true\nkeep_results = true\n")
    with Pipes(served(file)) as client:
        client.begin()
        query = {"query": "echo a text"}
        client.text(client.ask("tools/call", name="discover_capabilities", arguments=query), 60)
        assert client.text(client.call("tool:shop/echo", {"text": f"hello {KEY}"}), 30).startswith("hello")

    def run(*arguments: str) -> str:
        done = CliRunner().invoke(prowess, ["--config", str(file), *arguments])
        assert done.exit_code == 0, done.output
        return done.stdout

    (search,) = (json.loads(line)["data"] for line in run("log", "--type", "search", "--json").splitlines())
    seen = run("log", "show", search["search"])
    assert '"id":"tool:shop/echo"' in seen  # what the search showed
    assert '{"text":"hello [' in seen and KEY not in seen  # what was given, and answered
    assert "outcome" in seen.partition("--- in the journal")[2]
    assert "intact" in run("log", "--verify", "--json")
