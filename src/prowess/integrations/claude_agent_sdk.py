"""prowess in an agent of the Claude Agent SDK: hooks and a server in this process, for Claude Code.

    talk = engine.conversation("ada")
    options = equipped(talk, ClaudeAgentOptions(can_use_tool=ask))
    async with ClaudeSDKClient(options) as client:
        await client.query("Which invoices of ACME are open?")

Claude sees two tools that never change: one finds capabilities, one uses them. What fits the prompt comes
with it. Where policy asks a person, the hook says "ask", and what `can_use_tool` says is recorded.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from prowess.engine.conversation import Conversation
from prowess.errors import ConfigError, MissingExtra
from prowess.policy.approvals import ApprovalAnswer
from prowess.prompt.render import DISCOVER_TOOL
from prowess.types import DISCOVER, CallResult, Json, ToolCall

try:
    from claude_agent_sdk import (
        ClaudeAgentOptions,
        HookMatcher,
        PermissionResultAllow,
        PermissionResultDeny,
        SdkMcpTool,
        ToolPermissionContext,
        create_sdk_mcp_server,
    )
except ImportError as missing:
    raise MissingExtra("the hooks for the Claude Agent SDK", "claude-agent-sdk") from missing

SERVER = "prowess"
USE = "use_capability"
USE_SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "arguments": {"type": "object"}},
    "required": ["name"],
}
ANSWERER = "can_use_tool"
"""Who said yes or no, where the program does not say."""
Ask = Callable[[str, dict[str, Any], ToolPermissionContext], Awaitable[Any]]


def equipped(
    talk: Conversation, options: ClaudeAgentOptions | None = None, *, by: str = ANSWERER
) -> ClaudeAgentOptions:
    """The options of an agent, with everything that belongs to a conversation in them.

    talk: the conversation; keep `talk.dump()` beside the SDK's session to go on elsewhere.
    options: of the SDK; its `can_use_tool` is asked where policy asks a person, by the tool's own name.
    by: who answers there, for the journal.
    """
    given = options or ClaudeAgentOptions()
    bridge = _Bridge(talk, given.can_use_tool, by)
    if not isinstance(given.mcp_servers, dict):
        raise ConfigError(
            "claude-agent-sdk", "mcp_servers names a file", "give the servers themselves, as a dict"
        )
    hooks: dict[Any, list[HookMatcher]] = {event: list(known) for event, known in (given.hooks or {}).items()}
    for event, hook in (("UserPromptSubmit", bridge.enter), ("PreToolUse", bridge.decide)):
        hooks.setdefault(event, []).append(HookMatcher(hooks=[hook]))
    tools = [
        SdkMcpTool(DISCOVER, DISCOVER_TOOL["description"], DISCOVER_TOOL["input_schema"], bridge.discover),
        SdkMcpTool(USE, "Use a capability that was offered or found, by its name.", USE_SCHEMA, bridge.use),
    ]
    # Else Claude Code shows the model no more than their names, behind a search of its own.
    server: Any = {**create_sdk_mcp_server(SERVER, tools=tools), "alwaysLoad": True}
    servers = {**given.mcp_servers, SERVER: server}
    return replace(given, mcp_servers=servers, hooks=hooks, can_use_tool=bridge.ask)


class _Bridge:
    def __init__(self, talk: Conversation, ask: Ask | None, by: str) -> None:
        self._talk, self._ask, self._by = talk, ask, by
        self._wanted: list[ToolCall] = []
        self._asked: dict[str, str] = {}

    async def enter(self, data: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        """Make an offer for the prompt; what was found for it stands behind it."""
        before = self._talk.instructions
        turn = await asyncio.to_thread(self._talk.turn, data["prompt"])
        stays = self._talk.instructions
        text = "\n\n".join(filter(None, ("" if stays == before else stays, turn.text)))
        return _said("UserPromptSubmit", additionalContext=text)

    async def decide(self, data: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        """Ours are allowed, since each call is decided on when it is made; where policy asks, a person is."""
        if data["tool_name"] == _named(DISCOVER):
            return _said("PreToolUse", permissionDecision="allow")
        if data["tool_name"] != _named(USE):
            return {}
        given = data["tool_input"]
        call = ToolCall(name=str(given.get("name")), arguments=given.get("arguments"), id=data["tool_use_id"])
        self._wanted.append(call)
        engine, agent = self._talk.engine, self._talk.agent
        decision = await asyncio.to_thread(engine.decide, agent, call.name)
        if decision.verdict == "ask":
            result = await self._called(call)
            if result.approval:
                self._asked[call.id] = result.approval
                return _said("PreToolUse", permissionDecision="ask", permissionDecisionReason=result.text)
        return _said("PreToolUse", permissionDecision="allow")

    async def ask(self, name: str, given: dict[str, Any], context: ToolPermissionContext) -> Any:
        """Show a person the question, and record the answer; other tools go to the program as they are."""
        approval = self._asked.pop(context.tool_use_id or "", "")
        if not approval:
            return await self._ask(name, given, context) if self._ask else PermissionResultDeny(message="no")
        if self._ask is None:
            return PermissionResultDeny(message="This waits for a person, who has been asked.")
        said = await self._ask(given["name"], given.get("arguments") or {}, context)
        answer = ApprovalAnswer(yes=isinstance(said, PermissionResultAllow), by=self._by)
        await asyncio.to_thread(self._talk.engine.approvals.answer, approval, answer)
        # What may be changed is the arguments of the capability, and those were agreed to as they are.
        return PermissionResultAllow() if answer.yes else said

    async def discover(self, given: dict[str, Any]) -> dict[str, Any]:
        return _answer(await self._talk.acall(DISCOVER, given))

    async def use(self, given: dict[str, Any]) -> dict[str, Any]:
        name, arguments = str(given.get("name")), given.get("arguments")
        same = [one for one in self._wanted if (one.name, one.arguments) == (name, arguments)][:1]
        for call in same:
            self._wanted.remove(call)
        return _answer(await self._called(*same or [ToolCall(name=name, arguments=arguments)]))

    async def _called(self, call: ToolCall) -> CallResult:
        return await self._talk.acall(call.name, call.arguments, key=self._talk.key_of(call))


def _named(tool: str) -> str:
    return f"mcp__{SERVER}__{tool}"


def _said(event: str, **what: Json) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **what}}


def _answer(result: CallResult) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": result.text}], "is_error": result.is_error}
