"""A real browser before a real server: what tests of pages look through.

`visit` signs somebody in and hands over Playwright's page; when the test ends, anything the browser
complained about (a script that failed, something the content policy forbids) fails it. `look` keeps
screenshots and asks axe.
"""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn

from prowess.engine import Engine
from prowess.operations.person import Role
from prowess.web.app import create_app
from tests.support.chromium import chromium
from tests.support.places import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

    Visit = Callable[..., Page]

SCREENSHOTS = ROOT / "build" / "screenshots"
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}
# As root chromium has no sandbox; containers often have a tiny /dev/shm.
FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--force-color-profile=srgb"]


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serve an application on loopback, in a thread; yields its address."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen()  # from here on a browser may come, and waits until the server takes it
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off"))
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


# Not for the whole session: while Playwright's loop runs, no other test could run one of its own.
@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield launched
        launched.close()


def leave(context: "BrowserContext", close: Callable[[], None]) -> None:
    """Close the browser before the engine: what a page still asks for must not find a closed store."""
    context.close()
    close()


@pytest.fixture
def visit(browser: "Browser", monkeypatch: pytest.MonkeyPatch) -> "Iterator[Visit]":
    """Sign in to a dashboard over this engine; further arguments are those of a browser's context."""
    complaints: list[str] = []
    with ExitStack() as open_ones:

        def start(engine: Engine, role: Role = "admin", clock: Any = None, **options: Any) -> "Page":
            app = create_app(engine, **({"clock": clock} if clock else {}))
            address = open_ones.enter_context(serving(app))
            context = browser.new_context(base_url=address, **{"viewport": DESK, **options})
            open_ones.callback(context.close)
            monkeypatch.setattr(engine, "close", partial(leave, context, engine.close))
            context.set_default_timeout(10_000)
            page = context.new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
            page.goto(f"/login?link={app.state.people.issue('Ada', role, 'link').text}")
            return page

        yield start
    assert complaints == []


def look(page: "Page", name: str) -> None:
    """Keep screenshots in light, in dark and at phone width; none may have a serious finding of axe."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.emulate_media(color_scheme="dark")
    page.screenshot(path=SCREENSHOTS / f"{name}-dark.png", full_page=True)
    assert findings(page, "color-contrast") == [], f"{name} in the dark, which changes colours only"
    page.emulate_media(color_scheme="light")
    page.screenshot(path=SCREENSHOTS / f"{name}-light.png", full_page=True)
    assert findings(page) == [], f"{name} in light"
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.screenshot(path=SCREENSHOTS / f"{name}-phone.png", full_page=True)
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"], f"{name} is {width} wide on a phone"
    assert findings(page) == [], f"{name} on a phone"
    page.set_viewport_size(DESK)  # type: ignore[arg-type]


def findings(page: "Page", *rules: str) -> list[str]:
    """What axe finds that is serious or critical, by all its rules or by these."""
    from axe_playwright_python.sync_playwright import Axe

    chosen = {"runOnly": list(rules)} if rules else {}
    found = Axe().run(page, options={"resultTypes": ["violations"], **chosen}).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]
