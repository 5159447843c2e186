"""OpenAI's API on a transport of the SDK: it plays a script, and keeps what it was sent."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
from openai import AsyncOpenAI, OpenAI

Steps = Sequence[tuple[str, Mapping[str, Any]]]


@dataclass
class ScriptedAPI:
    """Calls one step after the other, as many as there are answers to them, and says `last`."""

    steps: Steps
    last: str = "Done."
    before: Mapping[int, Callable[[], object]] = field(default_factory=dict)
    """What happens in the world before the model says its n-th step."""
    failing: set[int] = field(default_factory=set)
    """Which requests, counted from 0, the server fails to serve."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    sent: int = 0

    @property
    def client(self) -> OpenAI:
        transport = httpx2.MockTransport(self._answer)
        return OpenAI(api_key="none", http_client=httpx2.Client(transport=transport))

    @property
    def async_client(self) -> AsyncOpenAI:
        transport = httpx2.MockTransport(self._answer)
        return AsyncOpenAI(api_key="none", http_client=httpx2.AsyncClient(transport=transport))

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.sent += 1
        if self.sent - 1 in self.failing:
            return httpx2.Response(500, headers={"retry-after-ms": "1"}, json={"error": {"message": "down"}})
        body = json.loads(request.content)
        self.requests.append(body)
        is_response = request.url.path.endswith("/responses")
        said = self._response(body) if is_response else self._completion(body)
        if body.get("stream"):
            return _streamed(_response_events(said) if is_response else _chunks(said))
        return httpx2.Response(200, json=said)

    def _next(self, done: int) -> tuple[str, Mapping[str, Any]] | None:
        self.before.get(done, lambda: None)()
        return self.steps[done] if done < len(self.steps) else None

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        done = sum(one["role"] == "tool" for one in body["messages"])
        message: dict[str, Any] = {"role": "assistant", "content": self.last}
        if step := self._next(done):
            function = {"name": step[0], "arguments": json.dumps(step[1])}
            message |= {"content": None}
            message["tool_calls"] = [{"id": f"call_{done}", "type": "function", "function": function}]
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return {"object": "chat.completion", "choices": [choice]}

    def _response(self, body: dict[str, Any]) -> dict[str, Any]:
        done = sum(str(one.get("type")).endswith("_output") for one in body["input"])
        item: dict[str, Any] = {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": self.last, "annotations": []}],
        }
        if step := self._next(done):
            item = {"type": "function_call", "call_id": f"call_{done}", "name": step[0]}
            item["arguments"] = json.dumps(step[1])
            if step[0] == "discover_capabilities":
                item = {"type": "tool_search_call", "call_id": f"call_{done}", "arguments": step[1]}
                item["execution"] = "client"
        return {"object": "response", "output": [{"id": f"item_{done}", "status": "completed", **item}]}


def _streamed(events: Iterable[Mapping[str, Any]]) -> httpx2.Response:
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, text=text + "data: [DONE]\n\n")


def _chunks(said: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A completion, in pieces: the words one by one, the arguments of a call in two."""
    message = said["choices"][0]["message"]
    deltas: list[dict[str, Any]] = [{"role": "assistant"}]
    deltas += [{"content": word} for word in re.findall(r"\S+\s*", message["content"] or "")]
    for call in message.get("tool_calls", ()):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        function = {"name": name, "arguments": arguments[:3]}
        deltas.append(
            {"tool_calls": [{"index": 0, "id": call["id"], "type": "function", "function": function}]}
        )
        deltas.append({"tool_calls": [{"index": 0, "function": {"arguments": arguments[3:]}}]})
    head = {"id": "chunk", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5"}
    for delta in deltas:
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def _response_events(said: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A response, in events: the words of a message, and at the end the whole."""
    place = {"item_id": "item", "output_index": 0, "content_index": 0, "logprobs": []}
    for item in said["output"]:
        text = "".join(part["text"] for part in item.get("content", ()))
        for word in re.findall(r"\S+\s*", text):
            yield {"type": "response.output_text.delta", "delta": word, "sequence_number": 1, **place}
    yield {"type": "response.completed", "response": said, "sequence_number": 2}
