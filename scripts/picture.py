"""Take the picture in README, a request and its offer in the dashboard: `python -m scripts.picture`.

The catalogue is that of `make demo`; the browser is the one that tests look through.
"""

import tempfile
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import sync_playwright

import prowess
from prowess.web.app import create_app
from tests.support.browser import FLAGS, serving
from tests.support.chromium import chromium
from tests.support.places import ROOT

FILE = ROOT / "docs" / "images" / "dashboard.png"
REQUEST = "Search the web for AI news and summarize it"
SIZE = {"width": 1180, "height": 760}
MOST_BYTES = 200_000


def take(file: Path) -> None:
    """Write the picture, as large as a README can carry."""
    with (
        tempfile.TemporaryDirectory() as folder,
        prowess.open(f"{folder}/prowess.db", config=str(ROOT / "demo" / "prowess.toml")) as engine,
    ):
        engine.sync()
        app = create_app(engine)
        with serving(app) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
            page = browser.new_page(base_url=address, viewport=SIZE)  # type: ignore[arg-type]
            page.goto(f"/login?link={app.state.people.issue('Ada', 'admin', 'link').text}")
            page.goto(f"/ask?request={quote(REQUEST)}")
            page.wait_for_load_state("networkidle")
            file.parent.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=file)
            browser.close()
    if file.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{file} has {file.stat().st_size} bytes, more than {MOST_BYTES}")


if __name__ == "__main__":
    take(FILE)
