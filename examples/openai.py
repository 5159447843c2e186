"""The office with the SDK of OpenAI: `python -m examples.openai`. A transport plays the model."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2
from openai import OpenAI

import prowess
from examples.office import LAST, REQUEST, STEPS, journal, office
from prowess.integrations.openai import complete


def model(request: httpx2.Request) -> httpx2.Response:
    """Say the next step, and at the end the last word."""
    done = [one for one in json.loads(request.content)["messages"] if one["role"] == "tool"]
    message: dict[str, object] = {"role": "assistant", "content": LAST}
    if len(done) < len(STEPS):
        name, arguments = STEPS[len(done)]
        function = {"name": name, "arguments": json.dumps(arguments)}
        message["tool_calls"] = [{"id": f"call_{len(done)}", "type": "function", "function": function}]
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return httpx2.Response(200, json={"object": "chat.completion", "choices": [choice]})


def run(engine: prowess.Engine) -> str | None:
    """What a user writes."""
    client = OpenAI(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(model)))
    talk = engine.conversation("ada", format="openai")
    messages = [{"role": "user", "content": REQUEST}]
    yes = prowess.ApprovalAnswer(yes=True, by="the boss")
    said = complete(client, talk, messages, model="gpt-5", approve=lambda question: yes)
    return said.choices[0].message.content


if __name__ == "__main__":
    with TemporaryDirectory() as folder, office(Path(folder)) as engine:
        print(run(engine), *journal(engine), sep="\n")
