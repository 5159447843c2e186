"""A client that cancels at any moment: no answer is mixed up, every call is journalled, nothing is left."""

import json
import os
import random
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import prowess
from prowess.store.connections import CONNECTIONS
from tests.support.gateway import OWNER, served, workshop, write_config

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

CALLS = 200


class RawClient:
    """A client over pipes that sends what it is told and keeps what comes back, by id."""

    def __init__(self, command: list[str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )
        self.answers: dict[int, list[dict[str, Any]]] = {}
        self._came = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if "id" in message and "method" not in message:
                with self._came:
                    self.answers.setdefault(message["id"], []).append(message)
                    self._came.notify_all()

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def rpc(self, id: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.send(id=id, method=method, params=params)
        with self._came:
            assert self._came.wait_for(lambda: id in self.answers, timeout=60), f"no answer to {method}"
        return self.answers[id][0]

    def begin(self) -> None:
        about = {"name": "x", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
        self.rpc(0, "initialize", params)
        self.send(method="notifications/initialized")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return {"name": "call_read_only", "arguments": {"id": f"tool:shop/{tool}", "arguments": arguments}}

    def open_files(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(20)
        self._reader.join(20)
        self.process.stdout.close()

    def texts(self) -> dict[int, str]:
        """What came back as the result of each of the calls that race."""
        results = {id: said[0].get("result") for id, said in self.answers.items() if 1000 <= id < 5000}
        return {id: found["content"][0]["text"] for id, found in results.items() if found}


def test_calls_cancelled_at_random_moments_are_all_remembered_and_none_gets_anothers_answer(
    tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROWESS_STORE", store_url)
    file = write_config(tmp_path, OWNER, workshop())
    chance = random.Random(5)
    client = RawClient(served(file))
    try:
        client.begin()
        warm = client.rpc(1, "tools/call", client.call("echo", text="warm"))
        assert warm["result"]["content"][0]["text"] == "warm"
        before = client.open_files()
        for id in range(1000, 1000 + CALLS):
            client.send(id=id, method="tools/call", params=client.call("echo", text=f"echo {id}"))
            # From before the call has begun to after it has ended.
            if chance.random() < 0.7:
                time.sleep(chance.choice([0, 0, 0.001, 0.003, 0.01, 0.03]))
                client.send(method="notifications/cancelled", params={"requestId": id, "reason": "race"})
        last = client.rpc(5000, "tools/call", client.call("echo", text="last"))
        assert last["result"]["content"][0]["text"] == "last"
        # The store may have opened all its connections meanwhile; a call that leaks would leave far more.
        assert client.open_files() <= before + CONNECTIONS
    finally:
        client.end()
    texts = client.texts()
    assert {id: text for id, text in texts.items() if text not in (f"echo {id}", "cancelled")} == {}
    assert [id for id, said in client.answers.items() if len(said) > 1] == []
    with prowess.open(config=str(file)) as engine:
        entries = engine.journal.latest(1000, "default", "call")
        engine.journal.verify()
    outcomes = Counter(entry.data["outcome"] for entry in entries)
    assert sum(outcomes.values()) == CALLS + 2, outcomes
    assert set(outcomes) == {"ok", "cancelled"} and outcomes["ok"] >= len(texts)
