"""The office with LlamaIndex: `python -m examples.llama_index`. Its own mock of a model plays the model."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent

import prowess
from examples.office import LAST, REQUEST, STEPS, journal, office
from prowess.integrations.llama_index import ProwessRetriever


def model(messages: Any, **options: Any) -> ChatMessage:
    """Say the next step, and at the end the last word."""
    done = sum(message.role == "tool" for message in messages)
    if done == len(STEPS):
        return ChatMessage(role="assistant", blocks=[TextBlock(text=LAST)])
    call = ToolCallBlock(tool_call_id=f"call_{done}", tool_name=STEPS[done][0], tool_kwargs=STEPS[done][1])
    return ChatMessage(role="assistant", blocks=[call])


async def run(engine: prowess.Engine) -> str:
    """What a user writes."""
    llm = MockFunctionCallingLLM(response_generator=model, is_chat_model=True)
    tools = ProwessRetriever(engine.conversation("ada"))
    handler = FunctionAgent(tool_retriever=tools, llm=llm, streaming=False).run(REQUEST)
    async for event in handler.stream_events():
        if isinstance(event, InputRequiredEvent):
            handler.ctx.send_event(HumanResponseEvent(approval=event.approval, yes=True, by="the boss"))
    return str(await handler)


if __name__ == "__main__":
    with TemporaryDirectory() as folder, office(Path(folder)) as engine:
        print(asyncio.run(run(engine)), *journal(engine), sep="\n")
