"""Nothing that a model or an agent's own credential can read names or counts what policy denies.

Every public method of the engine and every command is either tried here, as the agent, or listed as
being for people and the host program. One that is in neither list fails the test that looks for it.
"""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prowess.cli.main import COMMANDS, prowess
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.opening import now
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import CallResult, Message, ToolCall, Turn

AGENT = "ada"
SECRETS = ("zebra-vault", "zebra_wire", "zebraSpy")
"""Names no honest answer contains: if one shows up anywhere, something denied has leaked."""

DISCOVERY = ToolCall(name="discover_capabilities", arguments={"query": "the vault"})


def shown(result: CallResult) -> object:
    """What a model sees of a result; the error is for the program."""
    return result.content, result.structured


def in_a_chat(engine: Engine, request: str) -> object:
    talk = engine.conversation(AGENT, format="anthropic")
    text = talk.turn(request).text
    return text, talk.instructions, talk.tools, shown(talk.call(DISCOVERY.name, DISCOVERY.arguments))


Answer = Callable[[Engine, str], object]

AS_AGENT: dict[str, Answer] = {
    "catalogue.list": lambda engine, request: engine.catalogue.list(AGENT),
    "catalogue.visible": lambda engine, request: [*engine.catalogue.visible(AGENT).capabilities],
    "catalogue.cost_of_everything": lambda engine, request: engine.catalogue.cost_of_everything(AGENT),
    "find": lambda engine, request: engine.find(request, AGENT, tier1_top_k=50, tier1_min_relevance=0.0),
    "rank": lambda engine, request: engine.rank(request, AGENT),
    "discover": lambda engine, request: engine.discover(request, agent=AGENT),
    "offer": lambda engine, request: model_side(engine, request),
    "inject": lambda engine, request: engine.inject((), turn(request)),
    "call": lambda engine, request: [
        shown(engine.call(name, {}, agent=AGENT)) for name in (request, "zebra_wir", "tool:zebra-vaul")
    ],
    "acall": lambda engine, request: shown(
        asyncio.run(engine.acall("discover_capabilities", {"query": request}, agent=AGENT))
    ),
    "call_many": lambda engine, request: [
        shown(result) for result in engine.call_many([ToolCall(name="nowhere"), DISCOVERY], agent=AGENT)
    ],
    "acall_many": lambda engine, request: [
        shown(result) for result in asyncio.run(engine.acall_many([DISCOVERY], agent=AGENT))
    ],
    "definitions": lambda engine, request: engine.definitions(AGENT, "openai"),
    "conversation": lambda engine, request: in_a_chat(engine, request),
    "policy.pinned": lambda engine, request: engine.policy.pinned(AGENT),
    "cards.list": lambda engine, request: engine.cards.list(AGENT),
    "cards.list_capabilities": lambda engine, request: engine.cards.list_capabilities("full", AGENT),
    "cards.baseline": lambda engine, request: engine.cards.baseline(AGENT),
}

FOR_PEOPLE = {
    *("check", "close", "decide", "diagnose", "explain", "preview", "record", "sync", "trace", "watch"),
    *(f"catalogue.{verb}" for verb in (
        "cost_of", "dependents", "detail", "get", "history", "lint", "problems", "related", "relations",
        "stats", "usage", "view",
    )),
    *(f"policy.{verb}" for verb in (
        "allowed", "change", "changes", "diff", "limits", "problems", "propose", "propose_undo", "replay",
        "resolve", "review", "reviews",
    )),
    *(f"cards.{verb}" for verb in (
        "drop", "fit", "keep", "read_reference", "recent", "report", "resume", "review", "rollout",
    )),
}  # fmt: skip
NAMESPACES_FOR_PEOPLE = (
    *(
        "agents",
        "approvals",
        "calls",
        "evolution",
        "findings",
        "journal",
        "learning",
        "providers",
        "quarantine",
    ),
    *("tokens", "internals"),
)

COMMANDS_AS_AGENT = {
    "list": ["list", "--agent", AGENT],
    "find": ["find", "REQUEST", "--agent", AGENT, "--why"],
    "offer": ["offer", "REQUEST", "--agent", AGENT],
}
COMMANDS_FOR_PEOPLE = {
    *(
        "call",
        "calls",
        "init",
        "sync",
        "show",
        "graph",
        "lint",
        "sources",
        "policy",
        "agent",
        "approval",
        "why",
        "bench",
    ),
    *("connect", "disconnect", "secret", "lock", "workspaces", "jobs"),
    *("provider", "import", "log", "login", "doctor", "version", "evolve", "quarantine"),
    *("inject", "cards", "guard", "serve", "access-token", "lessons", "gaps", "backup", "restore"),
}


def turn(request: str) -> Turn:
    return Turn(messages=(Message("user", request),), agent=AGENT)


def model_side(engine: Engine, request: str) -> object:
    """What of an offer goes to a model; `left_out` is for people."""
    offer = engine.offer(turn(request))
    return offer.text, offer.hits, offer.tools, offer.tool_ids, offer.cards


@contextmanager
def engine_over(place: Path, allowed: list[str]) -> Iterator[Engine]:
    """A catalogue in which what is allowed and what is denied resemble and need each other."""
    place.mkdir(parents=True, exist_ok=True)
    policy = place / "policy.yaml"
    listed = ", ".join(f'"tool:{name}"' for name in allowed)
    policy.write_text(f"profiles: {{p: {{agents: [{AGENT}], additional_tools: [{listed}]}}}}")
    capabilities = [
        capability(f"tool:{name}", f"Open the {name} door", category=f"{name} things", tags=("door", "open"))
        for name in SECRETS
    ]
    capabilities += [
        capability(f"tool:{name}", "Open a door", tags=("door", "open"), required_tools=SECRETS)
        for name in allowed
    ]
    options = EngineOptions(policy_files=(policy,), embedder=word_embedder)
    source = StaticSource(capabilities=capabilities)
    with Engine(open_database("store.db", place), (source,), now, {}, options) as engine:
        engine.sync()
        yield engine


def public_methods(of: object) -> set[str]:
    return {name for name, _ in inspect.getmembers(of, inspect.ismethod) if not name.startswith("_")}


def test_every_public_method_of_the_engine_is_tried_or_is_for_people(tmp_path: Path) -> None:
    with engine_over(tmp_path, []) as engine:
        members = {name for name in dir(engine) if not name.startswith("_")}
        parts = members - public_methods(engine) - {"sources", "store", *NAMESPACES_FOR_PEOPLE}
        found = public_methods(engine)
        for part in parts:
            found |= {f"{part}.{name}" for name in public_methods(getattr(engine, part))}
        assert found == AS_AGENT.keys() | FOR_PEOPLE
    assert not AS_AGENT.keys() & FOR_PEOPLE


def test_every_command_is_tried_or_is_for_people() -> None:
    assert set(COMMANDS) == COMMANDS_AS_AGENT.keys() | COMMANDS_FOR_PEOPLE


words = st.sampled_from(
    ["open", "door", "zebra-vault", "tool:zebra_wire", "zebraSpy", "vault", "list", "the"]
)


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(words, min_size=1, max_size=6), st.sampled_from([[], ["alpha"], ["alpha", "beta", "gamma"]]))
def test_no_answer_to_an_agent_names_or_counts_what_it_is_denied(
    tmp_path_factory: pytest.TempPathFactory, request_words: list[str], allowed: list[str]
) -> None:
    request = " ".join(request_words)
    with engine_over(tmp_path_factory.mktemp("leak"), allowed) as engine:
        for name, answer in AS_AGENT.items():
            said = repr(answer(engine, request)).replace(repr(request), "")
            for secret in SECRETS:
                assert secret not in said, name
        assert engine.discover(request, agent=AGENT)["total_indexed"] == len(allowed)


def test_no_command_run_as_an_agent_names_what_it_is_denied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with engine_over(tmp_path, ["alpha"]):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "prowess.toml").write_text(
            'store = "store.db"\n[[source]]\ntype = "manifests"\npath = "m"\n'
            '[policy]\nfiles = ["policy.yaml"]\n'
        )
        for name, command in COMMANDS_AS_AGENT.items():
            asked = [word.replace("REQUEST", "open the door") for word in command]
            result = CliRunner().invoke(prowess, asked)
            assert result.exit_code == 0, result.output
            for secret in SECRETS:
                assert secret not in result.output, name
