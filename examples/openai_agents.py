"""The office with the Agents SDK of OpenAI: `python -m examples.openai_agents`."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from agents import Runner
from agents.testing import ScriptedModel, assistant_message, function_call

import prowess
from examples.office import LAST, REQUEST, STEPS, journal, office
from prowess.integrations.openai_agents import ProwessAgent

CALLS = [function_call(name, arguments, call_id=f"call_{n}") for n, (name, arguments) in enumerate(STEPS)]


async def run(engine: prowess.Engine) -> str:
    """What a user writes."""
    model = ScriptedModel([*([call] for call in CALLS), [assistant_message(LAST)]])
    talk = engine.conversation("ada", format="openai")
    agent = ProwessAgent(name="Ada", model=model, talk=talk, approves="the boss")
    config = agent.run_config(tracing_disabled=True)
    result = await Runner.run(agent, REQUEST, run_config=config)
    while result.interruptions:
        state = result.to_state()
        for question in result.interruptions:
            print("approved:", question.name, question.arguments)
            state.approve(question)
        result = await Runner.run(agent, state, run_config=config)
    return str(result.final_output)


if __name__ == "__main__":
    with TemporaryDirectory() as folder, office(Path(folder)) as engine:
        print(asyncio.run(run(engine)), *journal(engine), sep="\n")
