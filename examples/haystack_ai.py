"""The office in an agent of Haystack: `python -m examples.haystack_ai`. A component plays the model."""

from pathlib import Path
from tempfile import TemporaryDirectory

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ChatRole, ToolCall
from haystack.hooks.human_in_the_loop import ConfirmationUIResult
from haystack.hooks.human_in_the_loop.types import ConfirmationUI

import prowess
from examples.office import LAST, REQUEST, STEPS, journal, office
from prowess.integrations.haystack_ai import HaystackToolset


@component
class Scripted:
    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: object = None) -> dict[str, list[ChatMessage]]:
        done = sum(message.is_from(ChatRole.TOOL) for message in messages)
        calls = [ToolCall(name, given, id=name) for name, given in STEPS[done : done + 1]]
        return {"replies": [ChatMessage.from_assistant(None if calls else LAST, tool_calls=calls)]}


class Boss(ConfirmationUI):
    def get_user_confirmation(self, name: str, description: str, params: object) -> ConfirmationUIResult:
        return ConfirmationUIResult(action="confirm")


def run(engine: prowess.Engine) -> str | None:
    """What a user writes."""
    tools = HaystackToolset(engine.conversation("ada"), ui=Boss(), by="the boss")
    agent = Agent(chat_generator=Scripted(), tools=tools, hooks=tools.hooks)
    return agent.run(messages=[ChatMessage.from_user(REQUEST)])["last_message"].text


if __name__ == "__main__":
    with TemporaryDirectory() as folder, office(Path(folder)) as engine:
        print(run(engine), *journal(engine), sep="\n")
