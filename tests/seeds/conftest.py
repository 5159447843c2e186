"""One project that these tests look at: tools, events, skills, channels, manifests, cards, a policy."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import prowess
from prowess.engine import Engine
from tests.seeds.decks import POLICY, Opened, card
from tests.support.clock import SteppingClock

FILES = {
    "prowess.toml": """
[[source]]
type = "functions"
name = "tools"
module = "seed_office"

[[source]]
type = "events"
name = "events"
module = "seed_office"

[[source]]
type = "skills"
path = "skills"

[[source]]
type = "catalogue"
path = "listed.yaml"

[[source]]
type = "manifests"
path = "manifests"

[[source]]
type = "cards"
path = "docs/capabilities"

[[preset]]
name = "research"
capabilities = ["tool:web_search", "skill:summarizer"]

[policy]
files = ["policy.yaml"]

[learning]
mode = "accumulate"
""",
    "seed_office.py": '''
from typing import Literal

import prowess


@prowess.tool(category="information", tags=["search", "api", "news"], side_effects=False)
def web_search(
    query: str, max_results: int = 5, search_type: Literal["search", "news", "images"] = "search"
) -> str:
    """Search the web for current information.

    Args:
        query: The search query
        max_results: Maximum results to return
    """
    return query


@prowess.tool(category="information", tags=["search", "news"], side_effects=False)
def news_search(query: str, date_range: str = "week") -> str:
    """Search news articles by keyword."""
    return query


@prowess.tool(category="information", side_effects=False)
def web_browser(url: str) -> str:
    """Browse a URL and extract its content."""
    return url


@prowess.tool(category="developer-tools", name="cli-executor")
def cli_executor(command: str) -> str:
    """Run a shell command."""
    return command


@prowess.tool(category="finance")
def pay_invoice(number: str) -> str:
    """Pay an invoice by its number."""
    return number


@prowess.event_handler("message:publish", capability="agent_messaging", description="Publish to a channel",
                       requires_auth=True)
def publish(data: dict) -> dict:
    return {"published": data}


@prowess.event_handler("message:subscribe", description="Subscribe to a channel")
def subscribe(data: dict) -> dict:
    return data


@prowess.event_handler("agent:spawn", capability="spawn_agents", description="Create a child agent",
                       requires_auth=True, resource_intensive=True)
def spawn(data: dict) -> dict:
    return data


@prowess.event_handler("state:get", description="Read shared state")
def get(data: dict) -> dict:
    return data


@prowess.event_handler("state:set", description="Write shared state")
def put(data: dict) -> dict:
    return data


@prowess.event_handler("custom:event", description="Something of our own")
def custom(data: dict) -> dict:
    return data
''',
    "skills/git-hub/SKILL.md": """---
name: git-hub
description: Use the GitHub CLI for issues, pull requests and repositories
category: developer-tools
requires_tools: [cli-executor]
---
Run `gh issue list` to see open issues.
""",
    "skills/summarizer/SKILL.md": """---
name: summarizer
description: Summarize long documents into key points
category: information
---
Read all of it, then write five points.
""",
    "listed.yaml": """
channels:
  - { platform: telegram, description: Send messages on Telegram }
  - { platform: discord, description: Send messages on Discord servers }
  - { platform: slack, description: Post to Slack channels }
  - { platform: signal, description: Send Signal messages }
  - { platform: matrix, description: Talk in Matrix rooms }
extensions:
  - { name: giphy, description: Find animated pictures, category: media, available: true }
  - { name: speech, description: Read text aloud, category: media, available: false }
""",
    "manifests/my-custom-tool/CAPABILITY.yaml": """
id: tool:my-custom-tool
kind: tool
name: my-custom-tool
displayName: My Custom Tool
description: Searches a proprietary API for internal documents
category: information
tags: [search, internal, documents]
requiredSecrets: [INTERNAL_API_KEY]
hasSideEffects: false
inputSchema: { type: object, properties: { query: { type: string } } }
skillContent: ./SKILL.md
""",
    "manifests/my-custom-tool/SKILL.md": "Ask for one document at a time.\n",
    "manifests/beside/CAPABILITY.yaml": "kind: skill\nname: beside\ndescription: Content stands beside it\n",
    "manifests/beside/SKILL.md": "What stands beside the manifest.\n",
    "manifests/shaped/CAPABILITY.yaml": "kind: tool\nname: shaped\ndescription: Schema stands beside it\n",
    "manifests/shaped/schema.json": '{"type": "object", "properties": {"width": {"type": "integer"}}}',
    "docs/capabilities/token-economy.md": """---
id: token-economy
name: Token economy
description: What model calls cost and which model is used
triggers:
  keywords: [cost, tokens, model, routing, budget]
  session_types: [main, isolated]
  confidence_threshold: 0.6
priority: 10
estimated_tokens: 60
---
Summaries go to the small model, plans and code to the large one. Batch what can wait, and keep the
conversation short: long ones cost more with every turn. Say what a plan will cost before it is carried out.
""",
    "policy.yaml": """
profiles:
  owner: {agents: [default], additional_tools: ["*"]}
  base_multi_agent:
    agents: [worker]
    capabilities: {state_write: true, agent_messaging: true, spawn_agents: true}
    additional_tools: ["custom:event"]
    disallowed_tools: ["agent:terminate"]
  explicit:
    agents: [lister]
    allowed_tools: ["state:get", "message:publish"]
  reader: {agents: [reader], capabilities: {state_read: true, network_access: true}}
""",
}


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the project, which tests only read."""
    folder = tmp_path_factory.mktemp("project")
    write(folder, FILES)
    return folder


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture(scope="session")
def office(project: Path) -> Iterator[Engine]:
    """The project opened and synced once; turns are recorded in it, nothing else is changed."""
    sys.path.insert(0, str(project))
    clock = SteppingClock()
    with prowess.open(config=str(project / "prowess.toml"), environment={}, clock=clock) as engine:
        engine.sync()
        yield engine
    sys.path.remove(str(project))


@pytest.fixture
def opened(tmp_path: Path, migrated_sqlite: Path) -> Iterator[Opened]:
    """Opens a project with these cards and these lines of [cards], synced."""
    (tmp_path / ".prowess").mkdir()
    shutil.copy(migrated_sqlite, tmp_path / ".prowess" / "prowess.db")
    engines: list[Engine] = []

    def open_one(*cards: str, keys: str = "", **given: Any) -> Engine:
        files = {f"docs/capabilities/c{number}.md": text for number, text in enumerate(cards or (card(),))}
        files |= {
            "policy.yaml": POLICY,
            "prowess.toml": f'[policy]\nfiles = ["policy.yaml"]\n[cards]\n{keys}\n',
        }
        write(tmp_path, files)
        usual = {"clock": SteppingClock(), "environment": {}, "embedder": None}
        engine = prowess.open(config=str(tmp_path / "prowess.toml"), **{**usual, **given})
        engines.append(engine)
        engine.sync(vectors=False)
        return engine

    yield open_one
    for engine in engines:
        engine.close()
