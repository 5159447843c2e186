"""The office in an agent of Google ADK: `python -m examples.google_adk`. A scripted model plays Gemini."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, FunctionResponse, Part

import prowess
from examples.office import LAST, REQUEST, STEPS, journal, office
from prowess.integrations.google_adk import AdkToolset


class Scripted(BaseLlm):
    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> Any:
        done = sum(bool(part.function_response) for each in request.contents for part in each.parts or ())
        steps = [*(Part.from_function_call(name=name, args=args) for name, args in STEPS), Part(text=LAST)]
        yield LlmResponse(content=Content(role="model", parts=[steps[done]]))


async def run(engine: prowess.Engine) -> str | None:
    """What a user writes."""
    tools = AdkToolset(engine, "ada")
    agent = LlmAgent(name="ada", model=Scripted(model="x"), tools=[tools], before_agent_callback=tools.enter)
    runner = InMemoryRunner(agent=agent)
    events = await runner.run_debug(REQUEST, user_id="boss", session_id="1", quiet=True)
    asked = [call for event in events for call in event.get_function_calls()][-1]
    yes = FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": True})
    said = Content(role="user", parts=[Part(function_response=yes)])
    events = [event async for event in runner.run_async(user_id="boss", session_id="1", new_message=said)]
    return events[-1].content.parts[0].text


if __name__ == "__main__":
    with TemporaryDirectory() as folder, office(Path(folder)) as engine:
        print(asyncio.run(run(engine)), *journal(engine), sep="\n")
