"""The pictures in the documentation are of pages that exist, and each of them is shown."""

from pathlib import Path

from scripts.dashboard_pages import DOCS, PICTURES, pages
from tests.support.places import ROOT
from tests.support.web import app_of, signed_in
from tests.web.dashboard import dashboard

MAX_BYTES = 400_000


def test_each_picture_in_the_documentation_is_of_a_page_that_exists(tmp_path: Path) -> None:
    with dashboard(tmp_path) as engine:
        engine.offer("search the web")
        known, client = dict(pages(engine)), signed_in(app_of(engine), "viewer")
        gone = [
            one.page
            for one in PICTURES
            if one.page not in known or client.get(known[one.page]).status_code != 200
        ]
    assert not gone, f"take these pictures out of scripts/dashboard_pages.py and docs/dashboard.md: {gone}"


def test_the_pictures_are_those_of_the_script_all_shown_and_small_together() -> None:
    files = sorted(DOCS.iterdir())
    assert files == sorted(one.file for one in PICTURES), "run: python -m scripts.screenshots --docs"
    text = (ROOT / "docs" / "dashboard.md").read_text(encoding="utf-8")
    assert [one.name for one in files if f"(images/pages/{one.name})" not in text] == []
    assert sum(one.stat().st_size for one in files) < MAX_BYTES
