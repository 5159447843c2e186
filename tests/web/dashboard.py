"""Worlds for the pages that decide and follow: engines with a past, on a store of their own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.evolution.scores import Scores
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Provider
from tests.support.clock import SteppingClock

if TYPE_CHECKING:
    from playwright.sync_api import APIResponse, Page

SCRIPT = "tool:<script>alert(1)</script>"
"""What a page must show as text wherever it shows a name."""

POLICY = """
grants:
  payments:
    description: Pay and refund
    event_patterns: ["tool:pay", "tool:refund"]
    security_review_required: true
    level: admin
  reading:
    description: Look things up
    event_patterns: ["tool:search", "tool:calendar", "skill:*"]
    level: read
profiles:
  owner:
    agents: [default, ada]
    additional_tools: ["*"]
    ask: ["tool:pay"]
  support:
    agents: [bob, cleo]
    capabilities: {reading: true, payments: true}
    disallowed_tools: ["tool:refund"]
  guest:
    agents: [gus]
    capabilities: {reading: true}
"""

TOOLS = (
    capability("tool:search", "Search the web and read pages", provider="web"),
    capability("tool:calendar", "Look at the calendar of meetings", provider="office"),
    capability("tool:pay", "Pay an invoice", provider="shop", has_side_effects=True),
    capability("tool:refund", "Refund a payment", provider="shop", has_side_effects=True),
    capability("skill:summary", "Summarise a long text in three sentences", provider="office"),
    capability(SCRIPT, "Is called like a tag", provider="web"),
)
PROVIDERS = (
    Provider(name="office", source="static", faculties=("Memory",)),
    Provider(name="shop", source="static", faculties=("Tool",)),
    Provider(name="web", source="static", faculties=("Web", "Reasoning")),
)


def office() -> StaticSource:
    return StaticSource(capabilities=list(TOOLS), providers=list(PROVIDERS))


@contextmanager
def dashboard(place: Path, *sources: StaticSource, policy: str = POLICY, **options: Any) -> Iterator[Engine]:
    """An engine over these sources, or over a small office, with a policy that allows, asks and denies."""
    file = place / "policy.yaml"
    file.write_text(policy)
    chosen = EngineOptions(**{"policy_files": (file,), "embedder": word_embedder, **options})
    read = sources or (office(),)
    with Engine(open_database("store.db", place), read, SteppingClock(), {}, chosen) as engine:
        engine.sync()
        yield engine


def scores(cognitive: float, behavioral: float = 0.7, safety: float = 1.0, autonomy: int = 3) -> Scores:
    return Scores(cognitive, behavioral, safety, autonomy, 0.5)


def at(path: str, **query: str) -> str:
    return f"{path}?{'&'.join(f'{name}={quote(value)}' for name, value in query.items())}"


def is_only_text(page: "Page") -> bool:
    """Whether a name like a tag is on the page, and only as text."""
    shown = SCRIPT.partition(":")[2]
    page.wait_for_load_state()
    scripts = page.evaluate("[...document.scripts].map(one => one.textContent).join('')")
    return shown in page.content().replace("&lt;", "<").replace("&gt;", ">") and "alert" not in scripts


def post(page: "Page", path: str, **fields: str) -> "APIResponse":
    """Send a form by hand, as the person who is signed in."""
    csrf = page.locator("form[action='/logout'] input[name=csrf]").first.input_value()
    return page.request.post(path, form={"csrf": csrf, **fields}, max_redirects=0)
