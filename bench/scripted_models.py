"""Models on this machine that follow a script, for applications that speak the APIs of OpenAI and Google.

Each answers with the next step, a call of a tool, until there is none left, and then with a text. A step
names the end of a tool's name: applications put prefixes of their own before it.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Step = tuple[str, dict[str, Any]]
Message = dict[str, Any]


class OfferedTool(NamedTuple):
    name: str
    namespace: str = ""


Call = tuple[OfferedTool, dict[str, Any]]


class ScriptedModel:
    def __init__(self, steps: Sequence[Step], text: str) -> None:
        self._steps = list(steps)
        self._text = text
        self.requests: list[Message] = []

    def events(self, path: str, request: Message) -> list[Message]:
        """What comes back, as a stream."""
        names = offered(request)
        if names:
            self.requests.append(request)
        call: Call | None = None
        if names and self._steps:
            end, arguments = self._steps.pop(0)
            fitting = [one for one in names if one.name.endswith(end)]
            call = (fitting[0] if fitting else OfferedTool(end), arguments)
        return _of_google(call, self._text) if "GenerateContent" in path else _of_openai(call, self._text)


def offered(request: Message) -> list[OfferedTool]:
    """The tools that a request brings."""
    found = []
    for tool in request.get("tools") or []:
        if tool.get("type") == "namespace":
            found += [OfferedTool(one["name"], tool["name"]) for one in tool.get("tools") or []]
        elif declared := tool.get("functionDeclarations"):
            found += [OfferedTool(one["name"]) for one in declared]
        elif tool.get("name"):
            found.append(OfferedTool(tool["name"]))
    return found


def _of_openai(call: Call | None, text: str) -> list[Message]:
    content = [{"type": "output_text", "text": text}]
    item: Message = {"type": "message", "id": "m", "role": "assistant", "content": content}
    if call:
        tool, arguments = call
        item = {"type": "function_call", "id": "f", "call_id": "c", "name": tool.name}
        item |= {"arguments": json.dumps(arguments)} | (
            {"namespace": tool.namespace} if tool.namespace else {}
        )
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "r", "output": [item], "usage": usage}},
    ]


def _of_google(call: Call | None, text: str) -> list[Message]:
    part = {"functionCall": {"name": call[0].name, "args": call[1]}} if call else {"text": text}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return [{"candidates": [candidate], "usageMetadata": usage}]


@contextmanager
def serving(model: ScriptedModel) -> Iterator[str]:
    """The model behind an address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
            events = model.events(self.path, request)
            if "GenerateContent" in self.path and "stream" not in self.path:
                self._send("application/json", json.dumps(events[0]))
                return
            lines = [
                (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n"
                for event in events
            ]
            self._send("text/event-stream", "".join(lines))

        def do_GET(self) -> None:
            self._send("application/json", '{"models": [], "data": []}')

        def _send(self, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
