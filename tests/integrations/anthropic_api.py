"""Anthropic's API on a transport of the SDK: it plays a script, and keeps what it was sent."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
from anthropic import Anthropic, AsyncAnthropic

Steps = Sequence[tuple[str, Mapping[str, Any]]]


@dataclass
class ScriptedMessages:
    """Calls one step after the other, as many as it was asked for, and says `last`."""

    steps: Steps
    last: str = "Done."
    before: Mapping[int, Callable[[], object]] = field(default_factory=dict)
    """What happens in the world before the model says its n-th step."""
    failing: set[int] = field(default_factory=set)
    """Which requests, counted from 0, the server fails to serve."""
    is_cut: bool = False
    """Whether the model runs out of tokens while it says a step."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    sent: int = 0
    said: int = 0

    @property
    def client(self) -> Anthropic:
        transport = httpx2.MockTransport(self._answer)
        return Anthropic(api_key="none", http_client=httpx2.Client(transport=transport))

    @property
    def async_client(self) -> AsyncAnthropic:
        transport = httpx2.MockTransport(self._answer)
        return AsyncAnthropic(api_key="none", http_client=httpx2.AsyncClient(transport=transport))

    @property
    def results(self) -> list[dict[str, Any]]:
        """What the model was answered, each once: the runner sends what is new, the messages send all."""
        found: dict[str, dict[str, Any]] = {}
        for request in self.requests:
            for message in request["messages"]:
                blocks = message["content"] if isinstance(message["content"], list) else []
                found |= {one["tool_use_id"]: one for one in blocks if one["type"] == "tool_result"}
        return list(found.values())

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.sent += 1
        if self.sent - 1 in self.failing:
            error = {"type": "error", "error": {"type": "api_error", "message": "down"}}
            return httpx2.Response(500, headers={"retry-after-ms": "1"}, json=error)
        self.requests.append(json.loads(request.content))
        self.before.get(self.said, lambda: None)()
        block: dict[str, Any] = {"type": "text", "text": self.last}
        reason = "end_turn"
        if self.said < len(self.steps):
            name, input = self.steps[self.said]
            block = {"type": "tool_use", "id": f"toolu_{self.said}", "name": name, "input": input}
            reason = "max_tokens" if self.is_cut else "tool_use"
        self.said += 1
        said = {"id": f"msg_{self.said}", "type": "message", "role": "assistant", "model": "claude-x"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        whole = {**said, "content": [block], "stop_reason": reason, "usage": usage}
        return _streamed(whole) if self.requests[-1].get("stream") else httpx2.Response(200, json=whole)


def _streamed(whole: dict[str, Any]) -> httpx2.Response:
    text = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in _events(whole))
    return httpx2.Response(200, headers={"content-type": "text/event-stream"}, text=text)


def _events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A message of one block, in events: the words one by one, the input of a call at once."""
    (block,) = whole["content"]
    empty: dict[str, Any] = {"text": ""} if block["type"] == "text" else {"input": {}}
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": {**block, **empty}}
    for word in re.findall(r"\S+\s*", block.get("text", "")):
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
    if "input" in block:
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": whole["usage"]}
    yield {"type": "message_stop"}
