"""prowess in an agent of Google's ADK: a toolset whose tools grow while the agent runs.

    tools = AdkToolset(engine, "ada")
    agent = LlmAgent(name="ada", model="gemini-3-pro", tools=[tools], before_agent_callback=tools.enter)

The conversation is kept in the session's state, so it goes on wherever the session does. Where policy asks a
person, ADK requests its confirmation, and what the person says is recorded as the answer.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from prowess.engine.conversation import Conversation
from prowess.engine.engine import Engine
from prowess.errors import ConfigError, MissingExtra
from prowess.policy.approvals import ApprovalAnswer
from prowess.types import DEFAULT_AGENT, CallResult, JsonObject, ToolCall

try:
    from google.adk.agents.callback_context import CallbackContext
    from google.adk.agents.readonly_context import ReadonlyContext
    from google.adk.models import LlmRequest
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.base_toolset import BaseToolset
    from google.adk.tools.tool_context import ToolContext
    from google.genai import types
except ImportError as missing:
    raise MissingExtra("the toolset for Google ADK", "google-adk") from missing

STATE = "prowess_{0}"
"""Where a session's state keeps the conversation of an agent; what is asked of people is kept beside it."""


class AdkToolset(BaseToolset):  # type: ignore[misc, unused-ignore]
    """What an agent can do, as a toolset of ADK.

    engine: the engine, opened; its owner closes it.
    agent: who calls, as policy knows it.
    budget: the most tokens of the list of tools; when it is full, a new list begins.
    """

    def __init__(self, engine: Engine, agent: str = DEFAULT_AGENT, *, budget: int = 20_000) -> None:
        super().__init__()
        # Else what is found in the middle of a run would not be seen in it.
        self._use_invocation_cache = False
        self._engine, self._agent, self._budget = engine, agent, budget
        self._state = STATE.format(agent)

    async def enter(self, callback_context: CallbackContext) -> None:
        """Make an offer for what the user says: the `before_agent_callback` of the agent.

        callback_context: of the agent, as ADK gives it.
        """
        said = _text(callback_context.user_content)
        kept = callback_context.state.get(self._state)
        if not said and kept:  # a person's answer to a question: the turn goes on
            return
        talk = self._talk(kept)
        turn = await asyncio.to_thread(talk.turn, said, key=callback_context.invocation_id)
        callback_context.state[self._state] = talk.dump()
        callback_context.state[f"{self._state}_text"] = turn.text

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        """The tools of the session's conversation; without a session, everything that is allowed.

        readonly_context: of the run, as ADK gives it.
        """
        talk = self._talk(readonly_context.state.get(self._state) if readonly_context else None)
        shown: Sequence[JsonObject] = talk.tools
        if readonly_context is None:
            shown = await asyncio.to_thread(self._engine.definitions, self._agent)
        return [_Tool(self._engine, talk, definition, self._state) for definition in shown]

    async def process_llm_request(self, *, tool_context: ToolContext, llm_request: LlmRequest) -> None:
        """Put what stays before the history, and what belongs to this turn behind what the user says.

        tool_context: of the run, as ADK gives it.
        llm_request: what the model is about to be asked.
        """
        kept = tool_context.state.get(self._state)
        if not kept:
            remedy = "LlmAgent(tools=[tools], before_agent_callback=tools.enter)"
            raise ConfigError("google-adk", "the agent does not say when a turn begins", remedy)
        llm_request.append_instructions([self._talk(kept).instructions])
        if text := tool_context.state.get(f"{self._state}_text"):
            own = [place for place, content in enumerate(llm_request.contents, 1) if _is_said(content)]
            place = own[-1] if own else len(llm_request.contents)
            llm_request.contents.insert(place, types.Content(role="user", parts=[types.Part(text=text)]))

    def _talk(self, kept: str | None) -> Conversation:
        return self._engine.conversation(self._agent, budget=self._budget, resume=kept or "")


class _Tool(BaseTool):  # type: ignore[misc, unused-ignore]
    def __init__(self, engine: Engine, talk: Conversation, shown: JsonObject, state: str) -> None:
        super().__init__(name=shown["name"], description=shown["description"])
        self._engine, self._talk, self._schema, self._state = engine, talk, shown["input_schema"], state

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=dict(self._schema)
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> JsonObject:
        asked = f"{self._state}_asked_{tool_context.function_call_id}"
        said = tool_context.tool_confirmation
        # Which question it was is kept here: what comes back from the client is not proof of that.
        if said is not None and (approval := tool_context.state.get(asked)):
            answer = ApprovalAnswer(yes=said.confirmed, by=tool_context.user_id)
            await asyncio.to_thread(self._engine.approvals.answer, approval, answer)
        result = await self._call(args, tool_context)
        if result.approval and said is None:
            tool_context.state[asked] = result.approval
            tool_context.request_confirmation(hint=result.text)
            tool_context.actions.skip_summarization = True
        return {"error": result.text} if result.is_error else {"result": result.value}

    async def _call(self, args: dict[str, Any], tool_context: ToolContext) -> CallResult:
        call = ToolCall(name=self.name, arguments=args, id=tool_context.function_call_id or "")
        result = await self._talk.acall(self.name, args, key=self._talk.key_of(call))
        tool_context.state[self._state] = self._talk.dump()
        return result


def _is_said(content: types.Content) -> bool:
    return content.role == "user" and bool(_text(content))


def _text(content: types.Content | None) -> str:
    return "\n".join(part.text for part in (content.parts or () if content else ()) if part.text)
