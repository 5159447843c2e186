"""The client that the official conformance suite starts: a gateway over the suite's server, and who uses it.

`conformance_client.py URL`. It logs in where the server wants that, as a person would with a browser, then
calls every tool through the gateway's own tools, with arguments that fit.
"""

import json
import os
import sys
import tempfile
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread
from mcp.client.session import ClientRequestContext
from mcp_types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult

from prowess.sources.mcp.login_flow import LoginRequest, log_in
from prowess.sources.mcp.source import McpSource
from tests.support.gateway import OWNER, world

SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
VALUES: dict[str, Any] = {"number": 5, "integer": 5, "boolean": True, "array": [], "object": {}}


async def show(url: str) -> None:
    """A browser of a person who agrees to everything: it goes wherever it is sent."""
    await to_thread.run_sync(lambda: urllib.request.urlopen(url, timeout=20).close())


async def elicit(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    assert isinstance(params, ElicitRequestFormParams)
    properties = params.requested_schema.get("properties") or {}
    content = {name: about["default"] for name, about in properties.items() if "default" in about}
    others = {name: VALUES.get(about.get("type"), "text") for name, about in properties.items()}
    return ElicitResult(action="accept", content=others | content)


def given_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def fitting(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments with every property that a schema requires."""
    properties = schema.get("properties") or {}
    return {name: _value(properties.get(name) or {}) for name in schema.get("required") or ()}


def _value(about: Mapping[str, Any]) -> Any:
    if "enum" in about:
        return about["enum"][0]
    return fitting(about) if about.get("type") == "object" else VALUES.get(str(about.get("type")), "text")


async def main(url: str) -> None:
    given = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    with tempfile.TemporaryDirectory() as folder:
        environment = {"XDG_STATE_HOME": folder}
        source = McpSource(name="suite", url=url, environment=environment)
        if SCENARIO.startswith("auth/"):
            known = {key: str(given.get(key) or "") for key in ("client_id", "client_secret")}
            wanted = LoginRequest(
                seconds=20, client_id=known["client_id"], client_secret=known["client_secret"]
            )
            await log_in(source, show, wanted)
        async with (
            world(Path(folder), source, policy=OWNER, embedder=None, environment=environment) as here,
            here.client(elicitation_callback=elicit) as client,
        ):
            # What is null is left out: a gateway refuses what a tool's schema does not allow.
            made = [(one["name"], given_of(one["arguments"])) for one in given.get("toolCalls", ())]
            for capability in here.engine.catalogue.list(kind="tool"):
                if capability.name not in [name for name, _ in made]:
                    schema = here.engine.catalogue.detail(capability.id).input_schema or {}
                    made.append((capability.name, fitting(schema)))
            for name, arguments in made:
                asked = {"id": f"tool:suite/{name}", "arguments": arguments}
                await client.call_tool("call_with_effects", asked)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
