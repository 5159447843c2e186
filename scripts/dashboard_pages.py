"""Every page of the dashboard, one of each kind, and which pictures of them docs/dashboard.md shows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import quote

from prowess.engine import Engine
from tests.support.browser import DESK
from tests.support.places import ROOT

REQUESTS = (
    ("Search the web for AI news and summarize it", "tool:web_search"),
    ("Send an email to the team about the release", "tool:send_email"),
    ("What is the price of a share of Acme?", "tool:stock_price"),
    ("Book a table for four in Lisbon", ""),
)
SMALL_PHONE = {"width": 390, "height": 720}
DOCS = ROOT / "docs" / "images" / "pages"


class DocumentPicture(NamedTuple):
    """A picture in the documentation: of which page, how large, light or dark."""

    page: str
    size: dict[str, int]
    scheme: Literal["light", "dark"] = "light"

    @property
    def file(self) -> Path:
        return DOCS / f"{self.page}{'-phone' if self.size is SMALL_PHONE else ''}.webp"


PICTURES = (
    DocumentPicture("overview", DESK), DocumentPicture("servers", DESK, "dark"),
    DocumentPicture("graph", DESK), DocumentPicture("offers", DESK), DocumentPicture("request", DESK),
    DocumentPicture("overview", SMALL_PHONE), DocumentPicture("approvals", SMALL_PHONE),
    DocumentPicture("policy", SMALL_PHONE, "dark"),
)  # fmt: skip


def pages(engine: Engine) -> Iterator[tuple[str, str]]:
    """(name, address) of every page, with one of each kind."""
    offer = engine.journal.latest(1, type="offer")[0].data["offer"]
    held = next((one.id for one in engine.quarantine.list()), "")
    lesson = next((one.id for one in engine.learning.lessons()), "")
    profile = next(iter(engine.policy.rules.profiles))
    yield from (
        ("overview", "/"), ("welcome", "/welcome"), ("digest", "/digest"), ("servers", "/servers"),
        ("server", "/server?name=crm"), ("server-add", "/servers/add"), ("try", "/try?id=tool:send_email"),
        ("server-words", "/servers/wording?id=tool:crm/find_customer"), ("catalogue", "/catalogue"),
        ("capability", "/capability?id=tool:send_email"), ("graph", "/graph"),
        ("graph-focus", "/graph?around=tool:web_search"),
        ("ask", f"/ask?request={quote(REQUESTS[0][0])}"), ("policy", "/policy"),
        ("policy-change", f"/policy/change?profile={quote(profile)}&do=deny&pattern=tool:send_email"),
        ("grants", "/policy/grants"), ("agents", "/policy/agents"), ("agent", "/agent?name=ada"),
        ("compare", "/policy/compare"), ("approvals", "/approvals"), ("quarantine", "/quarantine"),
        ("injections", "/injections"), ("alerts", "/alerts"), ("offers", "/offers"),
        ("evolution", "/evolution"), ("evolving", "/evolution/agent?agent=ada"),
        ("learning", "/learning"), ("gaps", "/learning/gaps"),
        ("journal", "/journal"), ("request", f"/journal/trace?id={quote(str(offer))}"),
    )  # fmt: skip
    if held:
        yield "quarantined", f"/quarantine/show?id={quote(held)}"
    if lesson:
        yield "lesson", f"/learning/lesson?id={quote(lesson)}"
