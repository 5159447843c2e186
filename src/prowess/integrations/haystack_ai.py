"""prowess in an agent of Haystack: a toolset whose tools grow while the agent runs.

    tools = HaystackToolset(engine.conversation("ada"), ui=SimpleConsoleUI())
    agent = Agent(chat_generator=OpenAIChatGenerator(), tools=tools, hooks=tools.hooks)
    result = agent.run(messages=[ChatMessage.from_user("Which invoices of ACME are open?")])

Its hooks see what the user says before the agent runs, and what the model wants called. Where policy asks a
person, Haystack's confirmation interface does, and what the person says is recorded as the answer.
"""

import threading
from collections.abc import Iterator
from typing import Any

from prowess.engine.conversation import Conversation
from prowess.errors import MissingExtra
from prowess.policy.approvals import ApprovalAnswer
from prowess.types import CallResult, JsonObject, ToolCall

try:
    from haystack.components.agents.state import State, replace_values
    from haystack.dataclasses import ChatMessage, ChatRole
    from haystack.hooks import FunctionHook, Hook, HookPoint
    from haystack.hooks.human_in_the_loop.types import ConfirmationUI
    from haystack.tools import Tool, Toolset
    from haystack.tools.errors import ToolInvocationError
except ImportError as missing:
    raise MissingExtra("the toolset for Haystack", "haystack-ai") from missing


class HaystackToolset(Toolset):  # type: ignore[misc, unused-ignore]
    """What an agent can do in one conversation, as a toolset of Haystack.

    talk: the conversation; keep `talk.dump()` beside the messages to go on elsewhere.
    ui: asks a person where policy says so; without one, the model is told that somebody was asked.
    by: who answers there, for the journal.
    """

    def __init__(self, talk: Conversation, *, ui: ConfirmationUI | None = None, by: str = "user") -> None:
        super().__init__(tools=[])
        self._talk, self._ui, self._by = talk, ui, by
        self._wanted: list[ToolCall] = []
        # Haystack calls tools side by side, and one person can answer one question.
        self._asking = threading.Lock()

    @property
    def hooks(self) -> dict[HookPoint, list[Hook]]:
        """The `hooks` of the agent."""
        return {"before_run": [FunctionHook(self._enter)], "before_tool": [FunctionHook(self._want)]}

    def __iter__(self) -> Iterator[Tool]:
        """What the conversation has now; Haystack asks before each request to the model."""
        return iter([self._tool(each) for each in self._talk.tools])

    def get_selectable_tools(self) -> list[Tool]:
        """The same: what is not in the list is found by searching."""
        return list(self)

    def _enter(self, state: State) -> None:
        """Make an offer for what the user says; what stays precedes the history, the rest follows it."""
        messages: list[ChatMessage] = list(state.data["messages"])
        if not messages or not messages[-1].is_from(ChatRole.USER):
            return
        turn = self._talk.turn(messages[-1].text or "", key=_key(messages))
        if turn.text:
            messages.append(ChatMessage.from_user(turn.text))
        first = messages[0].text if messages[0].is_from(ChatRole.SYSTEM) else None
        if first is None:
            messages.insert(0, ChatMessage.from_system(self._talk.instructions))
        elif self._talk.instructions not in first:
            messages[0] = ChatMessage.from_system(f"{first}\n\n{self._talk.instructions}")
        state.set("messages", messages, handler_override=replace_values)

    def _want(self, state: State) -> None:
        """Remember the ids of the calls: the functions of tools are not told."""
        calls = state.data["messages"][-1].tool_calls
        self._wanted = [
            ToolCall(name=one.tool_name, arguments=one.arguments, id=one.id or "") for one in calls
        ]

    def _tool(self, shown: JsonObject) -> Tool:
        name, description = str(shown["name"]), str(shown["description"])

        def call(**arguments: Any) -> Any:
            result = self._called(name, description, arguments)
            if (
                result.is_error
            ):  # with the text that is for the model; the error itself may name what is denied
                raise ToolInvocationError(result.text, tool_name=name)
            return result.value

        return Tool(name=name, description=description, parameters=dict(shown["input_schema"]), function=call)

    def _called(self, name: str, description: str, arguments: dict[str, Any]) -> CallResult:
        key = self._key_of(name, arguments)
        result = self._talk.call(name, arguments, key=key)
        if not result.approval or self._ui is None:
            return result
        with self._asking:
            said = self._ui.get_user_confirmation(name, description, arguments)
        if said.action == "modify" and said.new_tool_params:
            arguments = said.new_tool_params
            result, key = self._talk.call(name, arguments), ""
        if result.approval:
            yes = said.action in ("confirm", "modify")
            answer = ApprovalAnswer(yes=yes, by=self._by, note=said.feedback or "")
            self._talk.engine.approvals.answer(result.approval, answer)
            result = self._talk.call(name, arguments, key=key)
        return result

    def _key_of(self, name: str, arguments: dict[str, Any]) -> str:
        for wanted in self._wanted:
            if (wanted.name, wanted.arguments) == (name, arguments):
                self._wanted.remove(wanted)
                return self._talk.key_of(wanted)
        return ""


def _key(messages: list[ChatMessage]) -> str:
    """Names what the user says by its place in the chat: a pipeline that runs the agent again repeats it."""
    return f"{sum(message.is_from(ChatRole.USER) for message in messages)}: {messages[-1].text}"
