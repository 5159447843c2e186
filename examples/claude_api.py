"""A Messages API on this machine that says what a script says, for the real Claude Code."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = tuple[str, dict[str, Any]]
OFFLINE = {
    "ANTHROPIC_API_KEY": "none",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "NO_PROXY": "127.0.0.1",
}


@contextmanager
def scripted(
    steps: Sequence[Step],
    last: str,
    before: Callable[[int], object] = bool,
    id_of: Callable[[int], str] = "toolu_{:02}".format,
) -> Iterator[tuple[str, list[Any]]]:
    """Its address, and the requests with tools as they come in; `before` is called with what was done."""
    requests: list[Any] = []

    class Messages(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._send(b"")

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            block: dict[str, Any] = {"type": "text", "text": last}
            if body.get("tools") and self.path.startswith("/v1/messages?"):
                done = len(requests)
                requests.append(body)
                before(done)
                if done < len(steps):
                    name, given = steps[done]
                    block = {"type": "tool_use", "id": id_of(done), "name": name, "input": given}
            self._send(_streamed(block, body.get("model", "")))

        def log_message(self, *what: object) -> None:
            pass

        def _send(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Messages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", requests
        server.shutdown()


def _streamed(block: dict[str, Any], model: str) -> bytes:
    is_text = block["type"] == "text"
    begun = {**block, "text": ""} if is_text else {**block, "input": {}}
    delta = {"type": "text_delta", "text": block["text"]} if is_text else {
        "type": "input_json_delta", "partial_json": json.dumps(block["input"])}  # fmt: skip
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "usage": usage,
    }
    ended = {"stop_reason": "end_turn" if is_text else "tool_use", "stop_sequence": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": begun},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return "".join(f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events).encode()
