"""What a person is shown of arguments is all that matters of them, and a yes is for those arguments alone."""

import math
import time
from pathlib import Path
from typing import Any

import pytest

from prowess.engine import Engine
from prowess.errors import ApprovalNeeded
from prowess.policy.approvals import ApprovalAnswer
from tests.support.gateway import make_engine, shelf

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

POLICY = 'profiles: {w: {agents: [wil], additional_tools: ["*"], ask: ["tool:bank/pay"]}}'
PAY = "tool:bank/pay"
TOOLS = [
    {"name": name, "description": "Pay somebody.", "inputSchema": {"type": "object"}}
    for name in ("pay", "look")
]


@pytest.fixture
def bank(tmp_path: Path, store_url: str, request: pytest.FixtureRequest) -> Engine:
    source = shelf(tmp_path, "bank", tools=TOOLS)
    engine = make_engine(tmp_path, [source], POLICY, store=store_url)
    request.addfinalizer(engine.close)
    engine.sync(vectors=False)
    return engine


def asked(engine: Engine, arguments: dict[str, Any]) -> str:
    """The id of the question that these arguments lead to."""
    with pytest.raises(ApprovalNeeded) as needed:
        engine.check("wil", PAY, arguments=arguments)
    return needed.value.approval


def shown(engine: Engine, arguments: dict[str, Any]) -> dict[str, str]:
    id = asked(engine, arguments)
    return next(dict(one.arguments) for one in engine.approvals.list() if one.id == id)


@pytest.mark.parametrize("alike", ["to ", "to\u200b", " to", "\u2800to"])
def test_a_name_inside_an_argument_hides_no_other_that_looks_the_same(bank: Engine, alike: str) -> None:
    text = shown(bank, {"payment": {"to": "EVIL-999", alike: "Office Ltd"}})["payment"]
    assert "EVIL-999" in text and "Office Ltd" in text


def test_what_stands_under_the_name_of_a_secret_is_not_kept(bank: Engine) -> None:
    given = {"credentials": {"user": "bob", "value": "hunter2"}, "password": [{"is": "hunter2"}]}
    assert "hunter2" not in str(shown(bank, given))


@pytest.mark.parametrize("other", [math.inf, -math.inf, math.nan])
def test_a_yes_without_a_limit_is_none_for_a_limit_without_end(bank: Engine, other: float) -> None:
    bank.approvals.answer(asked(bank, {"limit": None}), ApprovalAnswer(yes=True, by="Grace"))
    asked(bank, {"limit": other})
    assert bank.check("wil", PAY, arguments={"limit": None}).verdict == "allow"


def test_arguments_that_are_nested_without_end_are_asked_about(bank: Engine) -> None:
    deep: dict[str, Any] = {"to": "bob"}
    deeper: dict[str, Any] = {"to": "eve"}
    for _ in range(3000):
        deep, deeper = {"a": deep}, {"a": deeper}
    assert "nested deeper" in shown(bank, deep)["a"]
    bank.approvals.answer(asked(bank, deep), ApprovalAnswer(yes=True, by="Grace"))
    asked(bank, deeper)
    assert bank.check("wil", PAY, arguments=deep).verdict == "allow"


def test_what_nobody_is_asked_about_is_not_made_ready_to_be_shown(bank: Engine) -> None:
    given = {"texts": ["the quick brown fox " * 50_000] * 20}
    begun = time.process_time()
    bank.check("wil", "tool:bank/look", arguments=given)
    assert time.process_time() - begun < 1
