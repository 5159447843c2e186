"""prowess with the Agents SDK of OpenAI: an agent whose tools are those of a conversation.

    agent = ProwessAgent(name="Ada", talk=engine.conversation("ada", format="openai"))
    result = await Runner.run(agent, "Which invoices of ACME are open?", run_config=agent.run_config())

Above: user code and the SDK's Runner, which asks the agent for its tools before each request. Below: the
conversation. An approval is an interruption of the run; its answer is recorded where the run goes on.
"""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from anyio import to_thread

from prowess.engine.conversation import Conversation
from prowess.errors import ConfigError, MissingExtra, NotFound, PolicyError
from prowess.policy.approvals import ApprovalAnswer
from prowess.policy.arguments import digest_of
from prowess.types import CallResult, Json, ToolCall

try:
    from agents import Agent, FunctionTool, RunConfig, RunContextWrapper, Tool
    from agents.run import CallModelData, ModelInputData
    from agents.tool_context import ToolContext
except ImportError as missing:
    raise MissingExtra("the Agents SDK of OpenAI", "openai-agents") from missing


@dataclass
class ProwessAgent(Agent[Any]):
    """An agent of the SDK whose tools are those of a conversation, and whatever else it is given.

    talk: the conversation, made with format="openai".
    approves: who is named in the journal for what is approved or rejected at an interruption.
    """

    talk: Conversation | None = None
    approves: str = "openai-agents"
    _tools: dict[str, FunctionTool] = field(default_factory=dict, init=False, repr=False)
    _asked: dict[str, tuple[str, str]] = field(default_factory=dict, init=False, repr=False)
    """By call, its tool and the question that a person was asked about it."""
    _made: dict[str, CallResult] = field(default_factory=dict, init=False, repr=False)
    """By call, what came of it where a yes was there before the run had to stop."""
    _texts: list[tuple[str, str]] = field(default_factory=list, init=False, repr=False)
    """What the user said, and what was found for it."""
    _turn: str = field(default="", init=False, repr=False)

    def run_config(self, **options: Any) -> RunConfig:
        """With it the model reads what was found, and a name that is wrong does not end the run.

        options: everything else for `RunConfig`.
        """
        own = {
            "tool_not_found_behavior": "return_error_to_model",
            "call_model_input_filter": self._with_found,
        }
        return RunConfig(**{**own, **options})

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
        await to_thread.run_sync(self._enter, run_context)
        listed = [self._tool(made["function"]) for made in self._conversation.tools]
        # Those of prowess grow, so they come last: each request begins like the one before.
        return [*await super().get_all_tools(run_context), *listed]

    async def get_system_prompt(self, run_context: RunContextWrapper[Any]) -> str | None:
        own = await super().get_system_prompt(run_context)
        return "\n\n".join(filter(None, (own, self._conversation.instructions)))

    @property
    def _conversation(self) -> Conversation:
        if self.talk is None or self.talk.format != "openai":
            remedy = 'give talk=engine.conversation(format="openai")'
            raise ConfigError("ProwessAgent", "has no conversation in this format", remedy)
        return self.talk

    # --- what comes in ---------------------------------------------------------------------------

    def _enter(self, context: RunContextWrapper[Any]) -> None:
        """Make an offer where the user says something new; record what was rejected at an interruption."""
        said = next((text for item in reversed(context.turn_input) if (text := _said(item))), "")
        key = digest_of({"input": context.turn_input})
        if said and key != self._turn:
            found = self._conversation.turn(said, key=key).text
            self._turn = key
            self._texts += [(said, found)] if found else []
        for call, (name, approval) in list(self._asked.items()):
            if context.is_tool_approved(name, call) is False:
                del self._asked[call]
                self._answer(approval, False)

    def _with_found(self, data: CallModelData[Any]) -> ModelInputData:
        """The input with what was found for each thing the user said behind it, always in the same place."""
        given: list[Any] = []
        waiting = [*self._texts]
        for item in data.model_data.input:
            given.append(item)
            said = _said(item)
            at = next((number for number, (words, _) in enumerate(waiting) if said and words == said), None)
            if at is not None:
                given.append({"role": "developer", "content": waiting[at][1]})
                waiting = waiting[at + 1 :]
        return ModelInputData(input=given, instructions=data.model_data.instructions)

    # --- what is called --------------------------------------------------------------------------

    def _tool(self, made: Json) -> FunctionTool:
        name = made["name"]
        if name not in self._tools:

            async def invoke(context: ToolContext[Any], arguments: str) -> Any:
                return await self._invoked(context, _call(name, arguments, context.tool_call_id))

            async def asks(context: RunContextWrapper[Any], arguments: dict[str, Any], id: str) -> bool:
                return await self._asks(ToolCall(name=name, arguments=arguments, id=id))

            self._tools[name] = FunctionTool(
                name=name, description=made["description"], params_json_schema=made["parameters"],
                on_invoke_tool=invoke, strict_json_schema=False, needs_approval=asks,
            )  # fmt: skip
        return self._tools[name]

    async def _asks(self, call: ToolCall) -> bool:
        """Whether a person must be asked: the call itself asks, unless there is a yes already."""
        decision = await to_thread.run_sync(self._conversation.decide, call.name)
        if decision.verdict != "ask":
            return False
        result = await self._called(call)
        if result.approval:
            self._asked[call.id] = (call.name, result.approval)
            return True
        self._made[call.id] = result
        return False

    async def _invoked(self, context: ToolContext[Any], call: ToolCall) -> Any:
        result = self._made.pop(call.id, None)
        if result is None:
            is_approved = bool(context.is_tool_approved(call.name, call.id))
            _, approval = self._asked.pop(call.id, ("", ""))
            if is_approved and approval:
                await to_thread.run_sync(self._answer, approval, True)
            result = await self._called(call)
            if is_approved and not approval and result.approval:  # it was asked in another process
                await to_thread.run_sync(self._answer, result.approval, True)
                result = await self._called(call)
        return self._conversation.answer(call, result)["content"]

    async def _called(self, call: ToolCall) -> CallResult:
        talk = self._conversation
        return await talk.acall(call.name, call.arguments, key=talk.key_of(call))

    def _answer(self, approval: str, yes: bool) -> None:
        with suppress(PolicyError, NotFound):  # somebody has answered elsewhere: then that holds
            said = ApprovalAnswer(yes=yes, by=self.approves)
            self._conversation.engine.approvals.answer(approval, said)


def _call(name: str, arguments: str, id: str) -> ToolCall:
    """The call with its arguments as an object, so that it always has the same key."""
    with suppress(ValueError):
        return ToolCall(name=name, arguments=json.loads(arguments or "{}"), id=id)
    return ToolCall(name=name, arguments=arguments, id=id)


def _said(item: Any) -> str:
    """The words of the user that an item is, if it is any."""
    if not isinstance(item, dict) or item.get("role") != "user":
        return ""
    content = item.get("content") or ""
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)
