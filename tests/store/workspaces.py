"""A store with something of everything in it, under words of its own, and all that it then lists."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from prowess.alerts.service import AlertService
from prowess.cards.history import CardHistory
from prowess.cards.weights import WITH_MEANING
from prowess.config import EvolutionConfig, LearningConfig
from prowess.config_alerts import AlertsConfig, WebhookConfig
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.errors import ApprovalNeeded
from prowess.policy.approvals import ApprovalAnswer
from prowess.sources.stored_cards import StoredCards
from prowess.store.database import Database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Detail, Message, Outcome, Problem, Provider, Turn
from prowess.web.idempotency import Answers
from prowess.web.users import Users
from tests.support.clock import SteppingClock
from tests.support.evolution import scores

POLICY = """
grants:
  reading: {{event_patterns: ["tool:{word}-*"]}}
profiles:
  owner: {{agents: [default, {word}], additional_tools: ["*"]}}
  careful: {{agents: [ada], additional_tools: ["*"], ask: ["tool:{word}-mail"]}}
  costly: {{agents: [cy], additional_tools: ["*"], limits: {{max_resource_intensive: 3}}}}
"""

CARD = """---
id: {word}-card
name: All about {word}
description: What to know about {word}
triggers: {{keywords: [{word}, pages], confidence_threshold: 0.1}}
---
The {word} come first.
"""


def engine_over(open_store: Callable[[], Database], folder: Path, word: str) -> Engine:
    """An engine whose catalogue, policy and cards are about one word."""
    file = folder / f"{word}.yaml"
    file.write_text(POLICY.format(word=word))
    own = StaticSource(
        "own",
        capabilities=[
            capability(f"tool:{word}-read", f"Read pages about {word}", provider="books"),
            capability(f"tool:{word}-mail", f"Send mail about {word}", has_side_effects=True),
            capability(f"skill:{word}-summary", f"Summarise {word}", required_tools=(f"{word}-read",)),
            capability(f"tool:{word}-train", f"Train on {word}", metadata={"resource_intensive": True}),
        ],
        details={f"tool:{word}-read": Detail(input_schema={"type": "object", "properties": {}})},
        providers=[Provider(name="books", source="own", faculties=(word.title(),))],
        problems=[Problem("own", f"{word}.txt", "cannot be read", "look at it")],
    )
    # Named alike in every store: only what it offers is told apart.
    server = StaticSource(
        "server",
        kind="mcp",
        capabilities=[
            capability("tool:server/ask", f"Ask the {word}"),
            capability("resource:server/page", f"The page of {word}", metadata={"uri": f"file:///{word}"}),
        ],
    )
    options = EngineOptions(
        policy_files=(file,),
        embedder=word_embedder,
        learning=LearningConfig(mode="accumulate"),
        evolution=EvolutionConfig(every_outcomes=1000),
        trust={"server": "pinned"},
        owner=f"owner-of-{word}",
        definitions={"own": f"own {word}", "server": "server", "kept": "kept"},
    )
    cards = StoredCards(name="kept", open=open_store)
    return Engine(open_store(), (own, server, cards), SteppingClock(), {}, options)


def fill(engine: Engine, word: str) -> None:
    """One of everything that a store keeps."""
    engine.cards.keep(CARD.format(word=word))
    engine.sync()
    _change_what_the_server_says(engine, word)
    for asked in (f"read pages about {word}", f"mail about {word}", "something that nobody can do"):
        _use(engine, asked, f"tool:{word}-read", f"skill:{word}-summary")
    _use(engine, f"train on {word}", f"tool:{word}-train", ok=False)
    engine.call(f"skill:{word}-summary", key=f"{word}-key").raise_for_error()
    engine.providers.deactivate("server", reason=f"{word} are noisy")
    engine.providers.deactivate("books", "ada", f"no {word} for ada")
    _decide(engine, word)
    engine.evolution.evaluate("default")
    engine.evolution.evaluate("default", scores(0.9, 0.8, 1.0, "L2", 0.3))
    engine.learning.learn()
    engine.learning.gate(*(lesson.id for lesson in engine.learning.lessons()))
    _judge_cards(engine, word)
    _let_people_in(engine, word)
    _raise_alerts(engine)


def _use(engine: Engine, request: str, *ids: str, ok: bool = True) -> None:
    offer = engine.offer(Turn(messages=(Message("user", request),)))
    for id in ids:
        engine.record(Outcome(offer=offer.id, capability=id, ok=ok))


def _change_what_the_server_says(engine: Engine, word: str) -> None:
    (server,) = (source for source in engine.sources if source.name == "server")
    assert isinstance(server, StaticSource)
    server.capabilities[0] = capability("tool:server/ask", f"Ask all the {word}, and nobody else")
    engine.sync()


def _decide(engine: Engine, word: str) -> None:
    """Agents, approvals, reviews and tokens."""
    engine.agents.bind(f"{word}-helper", "owner")
    engine.policy.review("reading", "ann", f"it is about {word}")
    for answered in (True, False):
        try:
            engine.check("ada", f"tool:{word}-mail", arguments={"about": word, "first": answered})
        except ApprovalNeeded as needed:
            if answered:
                engine.approvals.answer(
                    needed.approval, ApprovalAnswer(yes=True, by="ann", note=f"yes to {word}")
                )
    engine.check("cy", f"tool:{word}-train")
    engine.tokens.issue(word)


def _raise_alerts(engine: Engine) -> None:
    """What waits for a person and what is held back, for a webhook that is not there."""
    hook = WebhookConfig(url="http://127.0.0.1:9/hook")
    inner = engine.internals
    inner.options = replace(inner.options, alerts=AlertsConfig(webhook=[hook]))
    AlertService(inner).look()


def _judge_cards(engine: Engine, word: str) -> None:
    engine.cards.review(str(engine.cards.recent()[0]["selection"]), f"{word}-card", right=True)
    CardHistory(engine.internals.database, engine.internals.journal, SteppingClock()).keep_weights(
        WITH_MEANING, 1
    )


def _let_people_in(engine: Engine, word: str) -> None:
    clock = SteppingClock()
    Users(engine.internals.database, engine.internals.journal, clock).issue(f"{word}-person", "viewer")
    assert Answers(engine.internals.database, clock).begin(word, "one key", b"a write") is None


def listed(engine: Engine) -> dict[str, Any]:
    """All that a store lists, as plain values."""
    clock = SteppingClock()
    found = {
        "capabilities": {c.id: engine.catalogue.detail(c.id) for c in engine.catalogue.list()},
        "all": engine.catalogue.view().capabilities,
        "history": {id: engine.catalogue.history(id) for id in engine.catalogue.view().capabilities},
        "providers": engine.providers.list("ada"),
        "quarantined": engine.quarantine.list(),
        "problems": engine.catalogue.problems(),
        "cards": engine.cards.report(),
        "agents": engine.agents.list(),
        "approvals": engine.approvals.list(every=True),
        "reviews": engine.policy.reviews(),
        "tokens": engine.tokens.list(),
        "people": Users(engine.internals.database, engine.internals.journal, clock).tokens(),
        "evolution": [engine.evolution.history(agent) for agent in engine.evolution.agents()],
        "fitness": engine.evolution.fitness(),
        "skills": [(lesson, engine.learning.results(lesson.id)) for lesson in engine.learning.lessons()],
        "gaps": engine.learning.gaps(),
        "counts": engine.internals.teaching.counts(),
        "found": [hit.id for hit in engine.find("read pages")],
        "alerts": AlertService(engine.internals).list(),
        "log": engine.journal.latest(limit=500),
        "heads": engine.journal.heads(),
    }
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(found, enc_hook=str))
    return plain
