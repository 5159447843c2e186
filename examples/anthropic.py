"""The office with the SDK of Anthropic: `python -m examples.anthropic`. A transport plays the model."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
from anthropic import Anthropic

import prowess
from examples.office import LAST, REQUEST, STEPS, journal, office
from prowess.integrations.anthropic import converse


def model(request: httpx2.Request) -> httpx2.Response:
    """Say the next step, and at the end the last word."""
    done = sum(one["role"] == "assistant" for one in json.loads(request.content)["messages"])
    block: dict[str, Any] = {"type": "text", "text": LAST}
    if done < len(STEPS):
        name, input = STEPS[done]
        block = {"type": "tool_use", "id": f"toolu_{done}", "name": name, "input": input}
    said = {"type": "message", "role": "assistant", "content": [block], "stop_reason": "tool_use"}
    return httpx2.Response(200, json=said | ({"stop_reason": "end_turn"} if done == len(STEPS) else {}))


def run(engine: prowess.Engine) -> Any:
    """What a user writes."""
    client = Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(model)))
    talk = engine.conversation("ada", format="anthropic")
    messages = [{"role": "user", "content": REQUEST}]
    yes = prowess.ApprovalAnswer(yes=True, by="the boss")
    said = converse(client, talk, messages, model="claude-x", max_tokens=500, approve=lambda question: yes)
    return said.content[-1].to_dict()["text"]


if __name__ == "__main__":
    with TemporaryDirectory() as folder, office(Path(folder)) as engine:
        print(run(engine), *journal(engine), sep="\n")
