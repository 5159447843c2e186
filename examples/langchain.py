"""The office with LangChain: `python -m examples.langchain`. Its own fake chat model plays the model."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

import prowess
from examples.office import LAST, REQUEST, STEPS, journal, office
from prowess.integrations.langchain import ProwessMiddleware


class Model(GenericFakeChatModel):
    """Says the next step, and at the end the last word; the framework's double takes no tools by itself."""

    def bind_tools(self, tools: Any, **options: Any) -> "Model":
        return self


def run(engine: prowess.Engine) -> str:
    """What a user writes."""
    calls = [{"name": name, "args": args, "id": f"call_{n}"} for n, (name, args) in enumerate(STEPS)]
    model = Model(messages=iter([*(AIMessage("", tool_calls=[call]) for call in calls), AIMessage(LAST)]))
    agent = create_agent(model, middleware=[ProwessMiddleware(engine, "ada")], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    state = agent.invoke({"messages": [("user", REQUEST)]}, thread)
    while "__interrupt__" in state:
        state = agent.invoke(Command(resume={"yes": True, "by": "the boss"}), thread)
    return str(state["messages"][-1].content)


if __name__ == "__main__":
    with TemporaryDirectory() as folder, office(Path(folder)) as engine:
        print(run(engine), *journal(engine), sep="\n")
