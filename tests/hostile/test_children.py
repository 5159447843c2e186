"""A child loses at once what its parent loses: nobody gets around a stop by way of a child."""

from functools import partial
from pathlib import Path

import pytest

from prowess.engine import Engine
from prowess.errors import Denied
from tests.support.evolution import AB, FAIR, exhaust
from tests.support.gateway import make_engine, shelf

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

POLICY = """
profiles:
  parent: {agents: [ada], additional_tools: ["tool:shop/*"], capabilities: {spawn_agents: true}}
  child: {additional_tools: ["tool:shop/*"]}
"""
BUY = "tool:shop/buy"
TOOLS = [{"name": "buy", "description": "Buy something.", "inputSchema": {"type": "object"}}]


@pytest.fixture
def engine(tmp_path: Path, store_url: str, request: pytest.FixtureRequest) -> Engine:
    engine = make_engine(tmp_path, [shelf(tmp_path, "shop", tools=TOOLS)], POLICY, store=store_url)
    request.addfinalizer(engine.close)
    engine.sync(vectors=False)
    engine.agents.spawn("ada", "kid", "child")
    assert engine.check("kid", BUY).verdict == "allow" and BUY in engine.catalogue.visible("kid").capabilities
    return engine


def test_the_child_of_a_stopped_agent_may_use_nothing(engine: Engine) -> None:
    engine.evolution.evaluate("ada", FAIR, AB)
    exhaust(partial(engine.evolution.evaluate, "ada"))
    assert BUY not in engine.catalogue.visible("kid").capabilities
    with pytest.raises(Denied, match="stopped: rollback_exhausted"):
        engine.check("kid", BUY)
    engine.evolution.resume("ada")
    assert engine.check("kid", BUY).verdict == "allow"


def test_what_is_off_for_an_agent_is_off_for_its_children(engine: Engine) -> None:
    engine.providers.deactivate("shop", "ada", "it broke safety")
    assert BUY not in engine.catalogue.visible("kid").capabilities
    with pytest.raises(Denied, match="switched off: it broke safety"):
        engine.check("kid", BUY)
    later = engine.agents.spawn("ada", "later", "child").name
    assert BUY not in engine.catalogue.visible(later).capabilities
    engine.providers.activate("shop", "ada")
    assert engine.check("kid", BUY).verdict == "allow"
    assert engine.check(later, BUY).verdict == "allow"
