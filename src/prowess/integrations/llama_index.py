"""prowess with LlamaIndex: what an agent or a workflow of agents retrieves its tools with.

    tools = ProwessRetriever(engine.conversation("ada"))
    agent = FunctionAgent(tool_retriever=tools, llm=llm)

Above: user code. Below: the conversation. Before each request to the model the framework asks for the tools
that fit what the user said; before each call it asks with the name of the tool, which is no request.
"""

import re
from contextlib import suppress
from typing import Any

from anyio import to_thread

from prowess.engine.conversation import Conversation
from prowess.errors import MissingExtra, NotFound, PolicyError, ProwessError
from prowess.policy.approvals import ApprovalAnswer
from prowess.types import JsonObject

try:
    from llama_index.core.objects import ObjectRetriever
    from llama_index.core.tools import FunctionTool, ToolMetadata
    from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent
except ImportError as missing:
    raise MissingExtra("prowess.integrations.llama_index", "llama-index") from missing

NAME = re.compile(r"[A-Za-z0-9-]+(_[A-Za-z0-9-]+)+\Z")
"""What looks like the name of a tool, also of one that there is not."""


class ProwessRetriever(ObjectRetriever):
    """The tools of one conversation.

    talk: the conversation; one for each chat.
    approver: who is recorded as having answered, where the program answers with yes or no alone.
    """

    def __init__(self, talk: Conversation, *, approver: str = "llama-index") -> None:
        self.talk = talk
        self._approver = approver

    def retrieve(self, str_or_query_bundle: Any) -> list[Any]:
        """One offer for what the user says, however often it is asked for; then everything shown so far."""
        said = str(str_or_query_bundle)
        is_name = said in self.talk.names or NAME.match(said)
        if said and not is_name:
            self.talk.turn(said, key=said)
        made = [self._tool(tool) for tool in self.talk.tools]
        if is_name and said not in self.talk.names:
            made.append(self._tool({"name": said, "description": "", "input_schema": {"type": "object"}}))
        return made

    async def aretrieve(self, str_or_query_bundle: Any) -> list[Any]:
        return await to_thread.run_sync(self.retrieve, str_or_query_bundle)

    def _tool(self, tool: Any) -> FunctionTool:
        name: str = tool["name"]

        async def call(prowess_context: Context, **arguments: Any) -> str:
            return await self._call(prowess_context, name, arguments)

        return FunctionTool(async_fn=call, metadata=PlainMetadata(tool))

    async def _call(self, context: Context, name: str, arguments: dict[str, Any]) -> str:
        """Make a call; the framework begins it anew when a person has answered."""
        waiting = await to_thread.run_sync(
            self.talk.engine.approvals.waiting, self.talk.agent, name, arguments
        )
        if waiting:
            await self._ask(context, waiting.id, name, arguments)
        result = await self.talk.acall(name, arguments)
        if result.approval and not waiting:
            await self._ask(context, result.approval, name, arguments)
            result = await self.talk.acall(name, arguments)
        if result.is_error:
            raise ProwessError(result.text)  # the framework makes a result of it that is an error
        return result.text

    async def _ask(self, context: Context, approval: str, name: str, arguments: JsonObject) -> None:
        question = InputRequiredEvent(approval=approval, tool=name, arguments=arguments)
        said = await context.wait_for_event(
            HumanResponseEvent,
            waiter_event=question,
            waiter_id=f"prowess-{approval}",
            requirements={"approval": approval},
        )
        answer = ApprovalAnswer(yes=said.get("yes") is True, by=said.get("by", self._approver))
        # Somebody may have answered elsewhere meanwhile: then that holds.
        with suppress(PolicyError, NotFound):
            await to_thread.run_sync(self.talk.engine.approvals.answer, approval, answer)


class PlainMetadata(ToolMetadata):
    """A tool whose parameters are a JSON schema; the framework's own wants a class for them.

    tool: with name, description and input_schema.
    """

    def __init__(self, tool: Any) -> None:
        super().__init__(description=tool["description"], name=tool["name"], fn_schema=None)
        self._schema = tool["input_schema"]

    def get_parameters_dict(self) -> dict[str, Any]:
        return dict(self._schema)
