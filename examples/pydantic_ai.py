"""The office with Pydantic AI: `python -m examples.pydantic_ai`. Its own function model plays the model."""

from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic_ai import Agent, DeferredToolRequests, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.capabilities import ToolSearch
from pydantic_ai.models.function import AgentInfo, FunctionModel

import prowess
from examples.office import LAST, REQUEST, STEPS, journal, office
from prowess.integrations.pydantic_ai import ProwessToolset


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Say the next step, and at the end the last word; the search goes by the framework's name for it."""
    done = sum(isinstance(part, ToolCallPart) for message in messages for part in message.parts)
    if done == len(STEPS):
        return ModelResponse([TextPart(LAST)])
    name, args = STEPS[done]
    if name == "discover_capabilities":
        return ModelResponse([ToolCallPart("search_tools", {"queries": [args["query"]]})])
    return ModelResponse([ToolCallPart(name, args)])


def run(engine: prowess.Engine) -> str:
    """What a user writes."""
    toolset = ProwessToolset(engine.conversation("ada", defer=True))
    search, outputs = ToolSearch(strategy=toolset.search), [str, DeferredToolRequests]
    agent = Agent(FunctionModel(model), toolsets=[toolset], capabilities=[search], output_type=outputs)
    result = agent.run_sync(REQUEST)
    while isinstance(result.output, DeferredToolRequests):
        said = toolset.answered(result.output, lambda call: prowess.ApprovalAnswer(yes=True, by="the boss"))
        result = agent.run_sync(message_history=result.all_messages(), deferred_tool_results=said)
    return result.output


if __name__ == "__main__":
    with TemporaryDirectory() as folder, office(Path(folder)) as engine:
        print(run(engine), *journal(engine), sep="\n")
