"""A model on loopback that speaks OpenAI's API as every framework reads it, and plays a script.

It is bound as a real one is: a tool must be on the list it was sent, and what it gives must fit that tool's
schema; where the schema is strict, everything that is not given is null.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from jsonschema_rs import validator_for

Step = tuple[str, Mapping[str, Any]]
Body = dict[str, Any]
OBSERVATION = re.compile(r"^(?:Observation:|\[\[ ## observation_\d+)", re.MULTILINE)
"""How an answer begins for a model that is asked in words."""


@dataclass
class LoopbackModel:
    """Calls one step after the other, then says `last`.

    steps: names of tools, and what they are given.
    last: the last word.
    before: what happens in the world before the model says its n-th step.
    """

    steps: Sequence[Step]
    last: str
    before: Mapping[int, Callable[[], object]] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)
    """What each step was answered with, in a text that may have more."""
    problems: list[str] = field(default_factory=list)
    """What a real model could not have done."""

    @contextmanager
    def serving(self) -> Iterator[str]:
        """The address of the API while it is served."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def answer(self, path: str, body: Body) -> Body:
        """What the API answers a request with."""
        is_response = path.endswith("/responses")
        given = body["input"] if is_response else body["messages"]
        done = min(_done(given, body.get("previous_response_id")), len(self.steps))
        if done > len(self.heard):
            self.heard.append("\n".join(map(_text, given[-2:])))
        self.before.get(done, lambda: None)()
        step = self.steps[done] if done < len(self.steps) else None
        return (_response if is_response else _completion)(done, self._say(done, step, given, body))

    def _say(self, done: int, step: Step | None, given: Sequence[Any], body: Body) -> Body:
        tools = {tool["name"]: tool for tool in map(_declaration, body.get("tools") or ())}
        if not tools:
            return {"text": _in_words(step, self.last, json.dumps(given))}
        if step is None and "final_answer" in tools:  # how smolagents hears the last word
            step = ("final_answer", {"answer": self.last})
        return {"call": self._fitting(step, tools)} if step else {"text": self.last}

    def _fitting(self, step: Step, tools: Mapping[str, Body]) -> Step:
        name, arguments = step
        tool = tools.get(name)
        if tool is None:
            self.problems.append(f"no tool is called {name!r}, only {', '.join(tools)}")
            return step
        schema = tool["parameters"]
        if tool.get("strict"):
            arguments = {**dict.fromkeys(schema["required"]), **arguments}
        for error in validator_for(schema).iter_errors(arguments):
            self.problems.append(f"{name}: {error}")
        return name, arguments


def _handler(model: LoopbackModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = json.dumps(model.answer(self.path, body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: what went wrong is in what the program says."""

    return Handler


def _done(given: Sequence[Any], previous: str | None) -> int:
    """How many steps were answered: each answer follows a call, in a message or in a text."""
    if previous:  # the API has the beginning
        return int(previous.removeprefix("resp_")) + sum("call_id" in one for one in given)
    calls = sum("tool_call_id" in one or one.get("type") == "function_call_output" for one in given)
    if calls:
        return calls
    texts = [_text(one) for one in given if one.get("role") != "system"]
    return sum(len(OBSERVATION.findall(text)) for text in texts)


def _declaration(tool: Body) -> Body:
    found: Body = tool.get("function", tool)
    return found


def _text(message: Body) -> str:
    content = message.get("output", message.get("content")) or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _in_words(step: Step | None, last: str, given: str) -> str:
    """A step for those that ask for calls in the text: DSPy and ReAct."""
    if "[[ ## answer ## ]]" in given:
        return _marked({"reasoning": "It is done.", "answer": last})
    if "next_tool_name" in given:
        name, arguments = step or ("finish", {})
        parts = {"next_thought": "Next.", "next_tool_name": name, "next_tool_args": json.dumps(arguments)}
        return _marked(parts)
    if step:
        return f"Thought: Next.\nAction: {step[0]}\nAction Input: {json.dumps(step[1])}"
    return f"Thought: I now know the final answer\nFinal Answer: {last}"


def _marked(parts: Mapping[str, str]) -> str:
    return "\n\n".join(f"[[ ## {name} ## ]]\n{text}" for name, text in {**parts, "completed": ""}.items())


def _completion(done: int, said: Body) -> Body:
    message: Body = {"role": "assistant", "content": said.get("text")}
    if "call" in said:
        function = {"name": said["call"][0], "arguments": json.dumps(said["call"][1])}
        message["tool_calls"] = [{"id": f"call_{done}", "type": "function", "function": function}]
    reason = "tool_calls" if "call" in said else "stop"
    choice = {"index": 0, "finish_reason": reason, "message": message}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": f"chat_{done}", "object": "chat.completion", "created": 1, "model": "gpt-5"}
    return {**head, "choices": [choice], "usage": usage}


def _response(done: int, said: Body) -> Body:
    item: Body = {"type": "message", "role": "assistant"}
    item["content"] = [{"type": "output_text", "text": said.get("text"), "annotations": []}]
    if "call" in said:
        name, arguments = said["call"]
        item = {"type": "function_call", "call_id": f"call_{done}", "name": name}
        item["arguments"] = json.dumps(arguments)
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}  # type: ignore[dict-item]
    head = {"id": f"resp_{done}", "object": "response", "created_at": 1, "model": "gpt-5"}
    rest = {"status": "completed", "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    output = [{"id": f"item_{done}", "status": "completed", **item}]
    return {**head, **rest, "output": output, "usage": usage}
