"""prowess with LangChain's agents and LangGraph: a middleware, and its approvals as interrupts.

    agent = create_agent(model, middleware=[ProwessMiddleware(engine, "ada")], checkpointer=InMemorySaver())

Above: user code. Below: the conversation, one for each thread. It is kept in the state of the graph, so a
thread goes on wherever its checkpoint is read. Tools of the agent itself are left to the agent.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import lru_cache
from typing import Annotated, Any, NotRequired

from anyio import to_thread

from prowess.engine import Engine
from prowess.engine.conversation import Conversation
from prowess.errors import MissingExtra, NotFound, PolicyError
from prowess.policy.approvals import ApprovalAnswer
from prowess.types import DEFAULT_AGENT, DISCOVER, CallResult, ToolCall

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest
    from langchain.agents.middleware.types import PrivateStateAttr, ToolCallRequest
    from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, ToolMessage
    from langgraph.types import Command, interrupt
except ImportError as missing:
    raise MissingExtra("prowess.integrations.langchain", "langchain") from missing

MAX_LIVE_CONVERSATIONS = 256
"""How many are at hand without being read from the state again."""
TEXT = "prowess"
"""Where a message of the user keeps what was found for it."""

Kept = tuple[int, str]
"""In which turn a conversation was kept, and what `Conversation.dump` gave."""
NOTHING = (0, "")
Answered = Any  # a ToolMessage, or a Command with one


def fuller(one: Kept, other: Kept) -> Kept:
    """Of what calls at the same time kept, the one that holds all of it: they share one conversation."""
    return max(one or NOTHING, other, key=lambda kept: (kept[0], len(kept[1])))


class ProwessState(AgentState):
    """What the graph keeps for prowess beside the messages."""

    prowess: NotRequired[Annotated[Kept, PrivateStateAttr, fuller]]  # type: ignore[valid-type]


class ProwessMiddleware(AgentMiddleware):
    """Offers tools, runs them, and interrupts where policy asks a person.

    engine: where the tools are.
    agent: who calls them.
    approver: who is recorded as having answered, where the program resumes with True or False alone.
    """

    state_schema = ProwessState

    def __init__(self, engine: Engine, agent: str = DEFAULT_AGENT, *, approver: str = "langgraph") -> None:
        super().__init__()
        self._engine = engine
        self._agent = agent
        self._approver = approver
        self._resumed = lru_cache(MAX_LIVE_CONVERSATIONS)(self._resume)

    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """One offer for each message of the user, in a step of its own that no retry of the model repeats."""
        said = next((one for one in reversed(state["messages"]) if isinstance(one, HumanMessage)), None)
        if said is None or TEXT in said.additional_kwargs:
            return None
        talk, turn = self._talk(state), (state.get("prowess") or NOTHING)[0] + 1
        text = talk.turn(said.text, key=said.id or "").text
        found = said.model_copy(update={"additional_kwargs": {**said.additional_kwargs, TEXT: text}})
        return {"messages": [found], "prowess": (turn, talk.dump())}

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], Any]) -> Any:
        return handler(self._prepared(request))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[Any]]
    ) -> Any:
        return await handler(await to_thread.run_sync(self._prepared, request))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Answered]
    ) -> Answered:
        if request.tool is not None:
            return handler(request)
        talk, call = self._talk(request.state), _call_of(request)
        was_asked = self._answer_earlier(talk, call)
        result = talk.call(call.name, call.arguments, key=talk.key_of(call))
        if result.approval and not was_asked:
            self._ask(call, result.approval)
            result = talk.call(call.name, call.arguments, key=talk.key_of(call))
        return _answered(request, talk, result)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Answered]]
    ) -> Answered:
        if request.tool is not None:
            return await handler(request)
        talk, call = await to_thread.run_sync(self._talk, request.state), _call_of(request)
        was_asked = await to_thread.run_sync(self._answer_earlier, talk, call)
        result = await talk.acall(call.name, call.arguments, key=talk.key_of(call))
        if result.approval and not was_asked:
            await to_thread.run_sync(self._ask, call, result.approval)
            result = await talk.acall(call.name, call.arguments, key=talk.key_of(call))
        return _answered(request, talk, result)

    # --- the conversation -----------------------------------------------------------------------------

    def _talk(self, state: Any) -> Conversation:
        kept = state.get("prowess")
        return self._resumed(kept[1]) if kept else self._engine.conversation(self._agent, format="openai")

    def _resume(self, kept: str) -> Conversation:
        return self._engine.conversation(resume=kept)

    def _prepared(self, request: ModelRequest) -> ModelRequest:
        talk = self._talk(request.state)
        blocks = [*request.system_message.content_blocks] if request.system_message else []
        if talk.instructions:
            blocks.append({"type": "text", "text": talk.instructions})
        return request.override(
            system_message=SystemMessage(content=blocks) if blocks else None,
            messages=[_with_text(one) for one in request.messages],
            tools=[*request.tools, *talk.tools],
        )

    # --- a person -------------------------------------------------------------------------------------

    def _answer_earlier(self, talk: Conversation, call: ToolCall) -> bool:
        """LangGraph runs a step that was interrupted from its start: what it asked is not asked again."""
        arguments = call.arguments if isinstance(call.arguments, dict) else {}
        asked = self._engine.approvals.waiting(talk.agent, call.name, arguments)
        if asked:
            self._ask(call, asked.id)
        return asked is not None

    def _ask(self, call: ToolCall, approval: str) -> None:
        said = interrupt({"approval": approval, "tool": call.name, "arguments": call.arguments})
        answer = said if isinstance(said, dict) else {"yes": said is True, "by": self._approver}
        # Somebody may have answered elsewhere meanwhile: then that holds.
        with suppress(PolicyError, NotFound):
            self._engine.approvals.answer(approval, ApprovalAnswer(**answer))


def _with_text(message: BaseMessage) -> BaseMessage:
    """What the user said, and behind it what was found for it: the same in every request."""
    if not (isinstance(message, HumanMessage) and message.additional_kwargs.get(TEXT)):
        return message
    kwargs = {**message.additional_kwargs}
    content = [*message.content_blocks, {"type": "text", "text": kwargs.pop(TEXT)}]
    return message.model_copy(update={"content": content, "additional_kwargs": kwargs})


def _call_of(request: ToolCallRequest) -> ToolCall:
    call = request.tool_call
    return ToolCall(name=call["name"], arguments=call["args"], id=call["id"] or "")


def _answered(request: ToolCallRequest, talk: Conversation, result: CallResult) -> Answered:
    call, status = request.tool_call, "error" if result.is_error else "success"
    message = ToolMessage(result.text, tool_call_id=call["id"], name=call["name"], status=status)
    if call["name"] != DISCOVER or result.is_error:
        return message
    turn = request.state["prowess"][0]
    return Command(update={"messages": [message], "prowess": (turn, talk.dump())})
