"""The Claude Agent SDK with the real Claude Code from its wheel; the model is a script on this machine."""

import asyncio
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    ToolPermissionContext,
)

from examples import claude_agent_sdk as example
from examples.claude_api import OFFLINE, Step, scripted
from examples.office import EXPECTED, LAST, POLICY, REQUEST, journal, office
from prowess import ConfigError
from prowess.engine.conversation import Conversation
from prowess.integrations.claude_agent_sdk import equipped
from tests.calling.programs import Workshop, program

FIND, SEARCH, MAIL, PRINT = example.SCRIPT
USE = "mcp__prowess__use_capability"


class Session:
    """One session of Claude Code about one conversation, and what its model was asked."""

    def __init__(self, home: Path, steps: Sequence[Step], **script: Any) -> None:
        self.home, self.steps, self.script = home, steps, script
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.requests: list[Any] = []

    def run(self, talk: Conversation, *prompts: str, says: Any = None) -> None:
        async def ask(name: str, given: dict[str, Any], context: ToolPermissionContext) -> Any:
            self.asked.append((name, given))
            return says

        with scripted(self.steps, LAST, **self.script) as (url, requests):
            env = {**OFFLINE, "ANTHROPIC_BASE_URL": url, "CLAUDE_CONFIG_DIR": str(self.home)}
            options = ClaudeAgentOptions(
                env=env, cwd=str(self.home), setting_sources=[], can_use_tool=ask if says else None
            )
            asyncio.run(_said(equipped(talk, options), prompts))
            self.requests = requests

    @property
    def answers(self) -> list[str]:
        """What the model was answered, in the last request."""
        said = [one for message in self.requests[-1]["messages"] for one in message["content"]]
        results = [one for one in said if isinstance(one, dict) and one.get("type") == "tool_result"]
        return [json.dumps(one["content"]) for one in results]


async def _said(options: ClaudeAgentOptions, prompts: Sequence[str]) -> None:
    async with ClaudeSDKClient(options) as client:
        for prompt in prompts:
            await client.query(prompt)
            async for _ in client.receive_response():
                pass


def test_the_example_leaves_what_every_example_leaves(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        assert asyncio.run(example.run(engine, str(tmp_path))) == LAST
        assert journal(engine) == EXPECTED
        known = {entry.data["offer"] for entry in engine.journal.latest(100, "ada", "offer")}
        known |= {entry.data["search"] for entry in engine.journal.latest(100, "ada", "search")}
        assert {entry.data["offer"] for entry in engine.journal.latest(100, "ada", "call")} <= known
        (question,) = engine.approvals.list(every=True)
        assert (question.state, question.answered_by) == ("used", "the boss")


def test_the_tools_never_change_and_what_was_found_stands_behind_the_prompt(tmp_path: Path) -> None:
    session = Session(tmp_path, [FIND, SEARCH])
    with office(tmp_path) as engine:
        session.run(engine.conversation("ada"), REQUEST, "Which suppliers do we have? Count them.")
    assert len(session.requests) == 4
    ours = [
        [json.dumps(tool) for tool in request["tools"] if tool["name"].startswith("mcp__prowess__")]
        for request in session.requests
    ]
    assert len(ours[0]) == 2 and all(after == before for before, after in pairwise(ours))
    said = json.dumps(session.requests[0]["messages"])
    assert said.index("Tools that fit") > 0 and "find_invoices" in said


def test_what_is_denied_between_offer_and_call_reads_as_unknown(tmp_path: Path) -> None:
    def deny(done: int) -> None:
        (tmp_path / "policy.yaml").write_text(POLICY.replace("tool:delete_*", "tool:find_*"))

    unknown = (USE, {"name": "find_receipts", "arguments": {"customer": "ACME"}})
    session = Session(tmp_path, [FIND, unknown], before=deny)
    with office(tmp_path) as engine:
        session.run(engine.conversation("ada"), REQUEST)
    first, second = session.answers
    assert "There is no capability" in first
    assert first.replace("invoices", "receipts") == second


def test_what_raises_is_an_error_that_the_model_reads(tmp_path: Path) -> None:
    session = Session(tmp_path, [PRINT])
    with office(tmp_path) as engine:
        session.run(engine.conversation("ada"), REQUEST)
    assert "the printer is on fire" in session.answers[0]


@pytest.mark.parametrize(
    ("says", "state"), [(PermissionResultDeny(message="not today"), "refused"), (None, "pending")]
)
def test_without_a_yes_nothing_is_called(tmp_path: Path, says: Any, state: str) -> None:
    session = Session(tmp_path, [SEARCH, MAIL])
    with office(tmp_path) as engine:
        session.run(engine.conversation("ada"), REQUEST, says=says)
        (question,) = engine.approvals.list(every=True)
        assert question.state == state
        assert journal(engine) == EXPECTED[1:2]
    assert session.asked == ([("send_email", MAIL[1]["arguments"])] if says else [])


def test_another_process_goes_on_with_the_conversation(tmp_path: Path) -> None:
    with office(tmp_path) as engine:
        talk = engine.conversation("ada")
        Session(tmp_path, [SEARCH]).run(talk, REQUEST)
        kept = talk.dump()
    with office(tmp_path) as engine:
        talk = engine.conversation(resume=kept)
        Session(tmp_path, [MAIL]).run(talk, "Send it, please.", says=PermissionResultAllow())
        assert journal(engine) == EXPECTED[1:3]
        assert "send_email" in talk.names


def test_a_call_that_comes_again_is_made_once(tmp_path: Path) -> None:
    made = Workshop()
    mail = (USE, {"name": "send_mail", "arguments": {"to": "ann"}})
    with program(tmp_path, workshop=made) as engine:
        session = Session(tmp_path, [mail, mail], id_of=lambda done: "toolu_again")
        session.run(engine.conversation(), "mail to Ann")
        assert len(session.requests) == 3
        assert made.done == ["mail ann"]
        assert len(engine.journal.latest(10, type="offer")) == 1


def test_servers_of_the_program_stay(tmp_path: Path) -> None:
    own: dict[str, Any] = {"mine": {"command": "mine"}}
    with office(tmp_path) as engine:
        talk = engine.conversation("ada")
        assert set(equipped(talk, ClaudeAgentOptions(mcp_servers=own)).mcp_servers) == {"mine", "prowess"}
        with pytest.raises(ConfigError, match="give the servers themselves"):
            equipped(talk, ClaudeAgentOptions(mcp_servers="servers.json"))
    assert set(own) == {"mine"}
