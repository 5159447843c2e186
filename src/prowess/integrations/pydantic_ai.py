"""prowess with Pydantic AI: a toolset, and the strategy of its tool search.

    toolset = ProwessToolset(engine.conversation("ada", defer=True))
    agent = Agent(model, toolsets=[toolset], capabilities=[ToolSearch(strategy=toolset.search)])

Above: user code. Below: the conversation. With `defer=True` the agent's list of tools holds all that is
allowed and never changes: what the first turn does not need is behind the framework's tool search, which
asks `search` here. Without it the list grows with what `discover_capabilities` finds.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from anyio import to_thread

from prowess.engine.conversation import Conversation
from prowess.errors import MissingExtra
from prowess.policy.approvals import ApprovalAnswer
from prowess.types import DISCOVER, ToolCall

try:
    from pydantic import TypeAdapter
    from pydantic_ai import DeferredToolRequests, DeferredToolResults, RunContext, ToolDefinition, ToolDenied
    from pydantic_ai.capabilities import ToolSearch
    from pydantic_ai.exceptions import ApprovalRequired, ToolFailed
    from pydantic_ai.messages import InstructionPart, ModelRequest, ToolCallPart, UserPromptPart
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
except ImportError as missing:
    raise MissingExtra("prowess.integrations.pydantic_ai", "pydantic-ai") from missing

REFUSED = "A person was asked and said no: it was not called."


class ProwessToolset(AbstractToolset[Any]):
    """The tools of one conversation, and what the model is told about them.

    talk: the conversation, best with `defer=True`; one for each chat.
    id: names the toolset within the agent.
    approver: who is recorded as having said yes, where the program only says that somebody did.
    """

    def __init__(self, talk: Conversation, *, id: str = "prowess", approver: str = "pydantic-ai") -> None:
        self.talk = talk
        self._id = id
        self._approver = approver
        self._validator = TypeAdapter(dict[str, Any]).validator

    @property
    def id(self) -> str:
        return self._id

    async def get_instructions(self, ctx: RunContext[Any]) -> list[InstructionPart]:
        """The map of what there is, which stays, and what was found for the turn, behind the history."""
        text = await to_thread.run_sync(self._turn, ctx)
        parts = {"map": self.talk.instructions, "offer": text}
        return [
            InstructionPart(self._told(part), dynamic=True, on_change="append", name=name)
            for name, part in parts.items()
            if part
        ]

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """What may be called now; what a search found since the last request is among it."""
        return await to_thread.run_sync(self._tools, ctx)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> str:
        """Call a tool; once, however often a durable run repeats the call."""
        call = ToolCall(name=name, arguments=tool_args, id=ctx.tool_call_id or "")
        key = self.talk.key_of(call)
        result = await self.talk.acall(name, tool_args, key=key)
        if result.approval and ctx.tool_call_approved:
            said = ApprovalAnswer(yes=True, by=self._approver)
            await to_thread.run_sync(self.talk.engine.approvals.answer, result.approval, said)
            result = await self.talk.acall(name, tool_args, key=key)
        if result.approval:
            raise ApprovalRequired(metadata={"approval": result.approval})
        if result.is_error:
            raise ToolFailed(self._told(result.text))
        return result.text

    async def search(
        self, ctx: RunContext[Any], queries: Sequence[str], tools: Sequence[ToolDefinition]
    ) -> list[str]:
        """The strategy for `ToolSearch(strategy=...)`: the names of what fits, best first.

        ctx: of the run.
        queries: what the model looks for.
        tools: what the framework would let it find.
        """
        found: dict[str, None] = {}
        for query in queries:
            result = await self.talk.acall(DISCOVER, {"query": query})
            found.update(dict.fromkeys(self.talk.found(result)))
        deferred = {tool.name for tool in tools}
        return [name for name in found if name in deferred]

    def answered(
        self, requests: DeferredToolRequests, ask: Callable[[ToolCallPart], ApprovalAnswer | None]
    ) -> DeferredToolResults:
        """What a person said to the calls that wait, recorded, as the next run takes it.

        requests: the output of the run that stopped for them.
        ask: shows a person one call and gives the answer; nothing leaves it waiting.
        """
        results = requests.build_results()
        for call in requests.approvals:
            approval = requests.metadata.get(call.tool_call_id, {}).get("approval")
            said = ask(call) if approval else None
            if said is not None:
                self.talk.engine.approvals.answer(approval, said)
                results.approvals[call.tool_call_id] = said.yes or ToolDenied(REFUSED)
        return results

    def _told(self, text: str) -> str:
        """A text of prowess, naming the tool for searching as this agent has it."""
        return text.replace(DISCOVER, ToolSearch.function_tool_name) if self.talk.defers else text

    # --- in a worker thread -------------------------------------------------------------------------

    def _turn(self, ctx: RunContext[Any]) -> str:
        """One offer for what was said last, also where a run goes on after a person was asked."""
        for said, run in _said(ctx):
            texts = [said] if isinstance(said, str) else [getattr(part, "content", part) for part in said]
            if text := "\n".join(part for part in texts if isinstance(part, str) and part):
                return self.talk.turn(text, key=run or "").text
        return ""

    def _tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        self._turn(ctx)
        deferred = frozenset(self.talk.deferred)
        made = [self._tool(tool, deferred, ctx.max_retries) for tool in self.talk.tools]
        # Where tools are deferred, the framework has a tool of its own for searching.
        return {
            tool.tool_def.name: tool for tool in made if tool.tool_def.name == self._told(tool.tool_def.name)
        }

    def _tool(self, tool: Any, deferred: frozenset[str], max_retries: int) -> ToolsetTool[Any]:
        definition = ToolDefinition(
            name=tool["name"],
            description=tool["description"],
            parameters_json_schema=tool["input_schema"],
            defer_loading=tool["name"] in deferred,
        )
        return ToolsetTool(
            toolset=self, tool_def=definition, max_retries=max_retries, args_validator=self._validator
        )


def _said(ctx: RunContext[Any]) -> Iterator[tuple[str | Sequence[Any], str | None]]:
    """What the user said, the newest first, and in which run."""
    if ctx.prompt:
        yield ctx.prompt, ctx.run_id
    for message in reversed(ctx.messages):
        for part in message.parts if isinstance(message, ModelRequest) else ():
            if isinstance(part, UserPromptPart):
                yield part.content, message.run_id
