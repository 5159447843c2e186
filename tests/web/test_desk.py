"""A desk in a real browser: a server is added and worded, and its use followed to what came of it."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import prowess
from prowess.alerts.service import AlertService
from prowess.opening import make_writable
from tests.support.browser import look
from tests.support.places import ROOT

if TYPE_CHECKING:
    from tests.support.browser import Visit

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
LIBRARY = ROOT / "tests" / "support" / "servers" / "library.py"
POLICY = 'profiles: {owner: {agents: [default], additional_tools: ["*"]}}'


def test_a_person_adds_a_server_words_it_and_follows_a_request_to_its_calls(
    tmp_path: Path, visit: "Visit"
) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY)
    file = tmp_path / "prowess.toml"
    file.write_text(f'store = "sqlite:{tmp_path}/store.db"\n[policy]\nfiles = ["policy.yaml"]\n')
    with prowess.open(config=str(file), environment={"PATH": "/usr/bin:/bin"}) as engine:
        make_writable(engine, file)
        page = visit(engine)
        page.set_default_timeout(60_000)  # reading a server for the first time makes vectors, too
        page.get_by_role("link", name="Begin").click()
        look(page, "welcome")
        page.get_by_role("link", name="Add a server").click()
        page.get_by_label("Name", exact=True).fill("library")
        page.get_by_label("Command that starts it").fill(shlex.join((sys.executable, str(LIBRARY))))
        page.get_by_role("button", name="Show what it writes").click()
        expect(page.get_by_label("The difference of prowess.toml")).to_contain_text('name = "library"')
        look(page, "server-add")
        page.get_by_role("button", name="Write it and read the server").click()
        expect(page.locator(".notice.good")).to_contain_text("Added and read: library")
        page.get_by_role("button", name="Restart").click()
        expect(page.locator(".notice.good")).to_contain_text("Started anew and read")
        page.get_by_role("link", name="Words of tool:library/find_book").click()
        look(page, "server-words")
        page.get_by_label("Description").fill("Look for a book on our shelves.")
        page.get_by_role("button", name="Write it to prowess.toml").click()
        expect(page.locator("main")).to_contain_text("Look for a book on our shelves.")
        offer = engine.offer("find a book on our shelves")
        engine.call("tool:library/find_book", {"title": "Emma"}, offer=offer)
        AlertService(engine.internals).look()
        page.goto("/agent?name=default")
        page.get_by_role("link", name="The whole request").first.click()
        expect(page.locator(".lede")).to_have_text("find a book on our shelves")
        expect(page.locator(".timeline")).to_contain_text("tool:library/find_book")
        look(page, "request")
        with page.expect_download() as download:
            page.get_by_role("link", name="Export as JSON").click()
        assert b"tool:library/find_book" in Path(download.value.path()).read_bytes()
        page.goto("/digest")
        look(page, "digest")
        page.goto("/alerts")
        look(page, "alerts")
        page.goto("/servers/undo")
        page.get_by_role("button", name="Take it back").click()
        expect(page.locator(".notice.good")).to_contain_text("takes back what words find_book of library")
        assert "shelves" not in file.read_text()
