"""From values to pages: every text escaped, one layout around it, and the files that pages load.

Above: the modules in `pages/`. Below: Jinja, the templates beside this file, and what the build
fetched into `vendor/`. Pages work without those scripts too; they only answer less quickly.
"""

from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import jinja2
import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from prowess.alerts.service import AlertService
from prowess.engine.engine import Engine
from prowess.engine.stopped import in_words
from prowess.web import identity
from prowess.web.redact import plain

HOME = Path(__file__).parent


class Section(NamedTuple):
    """A group of links in the navigation."""

    name: str
    links: tuple[tuple[str, str], ...]


NAVIGATION = (
    Section(
        "See",
        (
            ("/", "Overview"),
            ("/servers", "Servers"),
            ("/catalogue", "Catalogue"),
            ("/ask", "Ask"),
            ("/graph", "Graph"),
        ),
    ),
    Section(
        "Decide",
        (
            ("/policy", "Policy"),
            ("/approvals", "Approvals"),
            ("/quarantine", "Quarantine"),
            ("/injections", "Injections"),
        ),
    ),
    Section(
        "Follow",
        (
            ("/alerts", "Alerts"),
            ("/offers", "Offers"),
            ("/evolution", "Evolution"),
            ("/learning", "Learning"),
            ("/journal", "Journal"),
        ),
    ),
)


def render(request: Request, template: str, status: int = 200, **values: object) -> HTMLResponse:
    """A page, or the part of one that htmx asked for, with everything the layout needs.

    A page gives `title`; a template that needs no frame does not.
    """
    found = identity.caller(request).person
    # An agent gets no page, so the one that says so has nothing of the frame that people see.
    person = found if found and found.may("viewer") else None
    in_frame = person is not None and not template.endswith("_part.html")
    shared = {
        "path": request.url.path,
        "navigation": NAVIGATION,
        "person": person,
        "csrf": identity.csrf(request) if person else "",
        # An error may be the store's, which then cannot be asked.
        "waiting": _waiting(request) if in_frame and status < 500 else {},
    }
    text = _environment().get_template(template).render({**shared, **values})
    # What a page says belongs to one person and one moment.
    headers = {"Cache-Control": "no-store", "Vary": "HX-Request"}
    return HTMLResponse(text, status, headers)


def _waiting(request: Request) -> dict[str, int]:
    """How much waits for a person, by the page where it is answered; of servers, how many are down."""
    engine: Engine = request.app.state.engine
    held = sum(one.state == "waiting" for one in engine.quarantine.list())
    down = sum(bool(one.down) and not one.off for one in engine.providers.list())
    return {
        "/alerts": AlertService(engine.internals).unseen(),
        "/approvals": len(engine.internals.policy.approvals()),
        "/quarantine": held,
        "/servers": down,
    }


def wants_part(request: Request) -> bool:
    """Whether htmx asks for the part of a page that changes."""
    return "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HOME / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals |= {"asset": asset, "vendored": vendored}
    filters = {
        "number": number,
        "count": count,
        "when": when,
        "moment": moment,
        "pretty": pretty,
        "took": took,
        "plain": plain,
        "stopped": in_words,
    }
    environment.filters |= filters
    return environment


# --- the files that pages load -------------------------------------------------------------------


@cache
def asset(path: str) -> str:
    """The address of a file beside this one; a changed file has a new address, so none goes stale."""
    digest = sha256((HOME / path).read_bytes()).hexdigest()[:12]
    return f"/static/{path.removeprefix('static/')}?{digest}"


@cache
def vendored(name: str) -> bool:
    """Whether the build brought this script; without it a page does with plain forms."""
    return (HOME / "vendor" / name).is_file()


class Files(StaticFiles):
    async def check_config(self) -> None:
        """A folder that the build left out is empty, which is no failure."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


FILES = (
    Mount("/static/vendor", Files(directory=HOME / "vendor", check_dir=False)),
    Mount("/static", Files(directory=HOME / "static")),
)


# --- how values look -------------------------------------------------------------------------------


def number(value: float) -> str:
    """With thin spaces between thousands, as no country's comma is every country's."""
    return f"{value:,.0f}".replace(",", "\u202f")


def count(value: int, noun: str, plural: str = "") -> str:
    return f"{number(value)} {noun if value == 1 else plural or noun + 's'}"


def when(stamp: str) -> str:
    """A moment as people read it, to the second, in UTC."""
    return stamp[:19].replace("T", " ")


def moment(seconds: float) -> str:
    """The same from seconds, to the minute: what charts count in."""
    return when(datetime.fromtimestamp(seconds, UTC).isoformat())[:16]


def took(milliseconds: float | None) -> str:
    """A time as people read it."""
    if milliseconds is None:
        return "\u2013"
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.1f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 1 else "<1 ms"


def pretty(value: object) -> str:
    """JSON as people read it."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
