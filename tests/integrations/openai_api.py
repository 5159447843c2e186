"""OpenAI's API on a transport of the SDK: it plays a script, and keeps what it was sent."""

import json
from collections.abc import Callable, Mapping, Sequence
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
        if request.url.path.endswith("/responses"):
            return httpx2.Response(200, json=self._response(body))
        return httpx2.Response(200, json=self._completion(body))

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
