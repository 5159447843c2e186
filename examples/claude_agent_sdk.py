"""The office in an agent of the Claude Agent SDK: `python -m examples.claude_agent_sdk`."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, PermissionResultAllow

import prowess
from examples.claude_api import OFFLINE, scripted
from examples.office import LAST, REQUEST, STEPS, journal, office
from prowess.integrations.claude_agent_sdk import equipped

SCRIPT = [
    (f"mcp__prowess__{name}", given) if name == "discover_capabilities"
    else ("mcp__prowess__use_capability", {"name": name, "arguments": given})
    for name, given in STEPS
]  # fmt: skip


async def ask(name: str, arguments: dict[str, Any], context: object) -> PermissionResultAllow:
    return PermissionResultAllow()  # a person is shown it, and says yes


async def run(engine: prowess.Engine, home: str) -> str | None:
    """What a user writes, but for the address."""
    with scripted(SCRIPT, LAST) as (url, _):
        env = {**OFFLINE, "ANTHROPIC_BASE_URL": url, "CLAUDE_CONFIG_DIR": home}
        options = ClaudeAgentOptions(env=env, cwd=home, setting_sources=[], can_use_tool=ask)
        async with ClaudeSDKClient(equipped(engine.conversation("ada"), options, by="the boss")) as client:
            await client.query(REQUEST)
            messages = [message async for message in client.receive_response()]
            return messages[-1].result


if __name__ == "__main__":
    with TemporaryDirectory() as folder, office(Path(folder)) as engine:
        print(asyncio.run(run(engine, folder)), *journal(engine), sep="\n")
