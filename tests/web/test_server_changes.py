"""Servers are added, mended, reworded and taken out from pages, and prowess.toml says the same afterwards."""

import json
import re
import shlex
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import httpx2
import pytest
from anyio import to_thread
from starlette.testclient import TestClient

import prowess
from prowess import config
from prowess.engine import Engine
from prowess.opening import make_writable
from tests.support.gateway import listening_server
from tests.support.places import ROOT
from tests.support.ports import free_port
from tests.support.web import app_of, browser, signed_in

pytestmark = pytest.mark.slow
CRM = ROOT / "tests" / "support" / "servers" / "crm.py"
LIBRARY = ROOT / "tests" / "support" / "servers" / "library.py"
SECRET = "sk-live-51Hxyz0PqrstuvWXYZ123456"
POLICY = 'profiles: {owner: {agents: [default], additional_tools: ["*"]}}\n'


@pytest.fixture
def environment() -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin"}


@pytest.fixture
def project(store_url: str, tmp_path: Path, environment: dict[str, str]) -> Iterator[Engine]:
    """A project without a server, whose prowess.toml the dashboard may write."""
    (tmp_path / "policy.yaml").write_text(POLICY)
    file = tmp_path / "prowess.toml"
    file.write_text(f'# my project\nstore = "{store_url}"\n\n[policy]\nfiles = ["policy.yaml"]\n')
    with prowess.open(config=str(file), environment=environment) as engine:
        make_writable(engine, file)
        yield engine


def send(person: TestClient, path: str, **fields: str) -> str:
    """Fill in a form and send it; what the next page says."""
    page = person.get("/servers").text
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found, "whoever is signed in has forms"
    answer = person.post(path, data={"csrf": found[1], **fields})
    return answer.text


def digest_in(page: str) -> str:
    found = re.search(r'name="digest" value="([^"]+)"', page)
    assert found, page[page.find("<main") :][:2000]
    return found[1]


def add(person: TestClient, **fields: str) -> str:
    return send(person, "/servers/add", digest=digest_in(send(person, "/servers/look", **fields)), **fields)


def file_of(engine: Engine) -> str:
    project = engine.internals.project
    assert project is not None
    return project.file.read_text()


def test_a_server_that_lacks_its_secret_is_added_named_mended_and_restarted(
    project: Engine, environment: dict[str, str]
) -> None:
    ann = browser(app_of(project))
    assert "Add a server" in ann.get("/servers").text
    fields = {
        "name": "crm",
        "command": shlex.join((sys.executable, str(CRM), "strict")),
        "env": "CRM_TOKEN=sk-live-51Hxyz0PqrstuvWXYZ123456",
    }
    looked = send(ann, "/servers/look", **fields)
    assert "prowess secret set CRM_TOKEN" in looked
    assert "CRM_TOKEN = &#34;${CRM_TOKEN}&#34;" in looked
    assert "crm" not in file_of(project)
    added = send(ann, "/servers/add", digest=digest_in(looked), **fields)
    assert "CRM_TOKEN is required" in added
    assert "prowess secret set CRM_TOKEN" in added
    written = file_of(project)
    assert written.startswith("# my project\n")
    assert SECRET not in written
    assert config.parse(written).source[0].env == {"CRM_TOKEN": "${CRM_TOKEN}"}
    environment["CRM_TOKEN"] = "right"
    restarted = send(ann, "/servers/restart", name="crm")
    assert "Started anew and read" in restarted
    assert any(one.provider == "crm" for one in project.catalogue.list())
    (changed,) = project.journal.latest(type="configuration.changed")
    assert (changed.data["by"], changed.data["does"]) == ("ann", "adds crm")


def test_what_a_server_wrote_before_it_stopped_is_on_its_page_without_the_secrets_it_was_given(
    project: Engine, environment: dict[str, str], tmp_path: Path
) -> None:
    script = tmp_path / "broken.py"
    script.write_text(
        "import os, sys\n"
        "print('connecting to the database', file=sys.stderr)\n"
        "print('token', os.environ['DB_TOKEN'], 'was refused', file=sys.stderr)\n"
        "sys.exit(3)\n"
    )
    environment["DB_TOKEN"] = "wrong-and-still-secret"
    ann = browser(app_of(project))
    page = add(ann, name="db", command=shlex.join((sys.executable, str(script))), env="DB_TOKEN")
    assert "Last output" in page
    assert "connecting to the database" in page
    assert "was refused" in page
    assert "wrong-and-still-secret" not in page


def test_servers_of_another_program_are_pasted_reworded_taken_out_and_it_is_all_taken_back(
    project: Engine,
) -> None:
    ann = browser(app_of(project))
    before = file_of(project)
    pasted = json.dumps({"mcpServers": {"library": {"command": sys.executable, "args": [str(LIBRARY)]}}})
    page = add(ann, text=pasted)
    assert "Added and read: library" in page
    assert "tool:library/find_book" in page
    with_server = file_of(project)
    reworded = send(
        ann, "/servers/wording", id="tool:library/find_book", name="library", tool="find_book",
        new_name="search_shelves", description="Look for a book on our shelves.",
    )  # fmt: skip
    assert "tool:library/search_shelves" in reworded
    assert (
        project.catalogue.get("tool:library/search_shelves").description == "Look for a book on our shelves."
    )
    assert config.parse(file_of(project)).source[0].tools["find_book"].name == "search_shelves"
    form = ann.get("/servers/wording", params={"id": "tool:library/search_shelves"}).text
    assert "<code>find_book</code>" in form
    undone = send(ann, "/servers/undo", digest=digest_in(ann.get("/servers/undo").text))
    assert "takes back what words find_book of library" in undone
    assert file_of(project) == with_server
    assert "tool:library/find_book" in project.catalogue.view().capabilities
    removal = ann.get("/servers/remove", params={"name": "library"}).text
    send(ann, "/servers/remove", name="library", digest=digest_in(removal))
    assert "library" not in file_of(project)
    assert "tool:library/find_book" not in project.catalogue.view().capabilities
    send(ann, "/servers/undo", digest=digest_in(ann.get("/servers/undo").text))
    assert file_of(project) == with_server
    send(ann, "/servers/undo", digest=digest_in(ann.get("/servers/undo").text))
    assert file_of(project) == before


def test_only_an_admin_changes_servers_and_never_a_file_that_somebody_edited_meanwhile(
    project: Engine,
) -> None:
    app = app_of(project)
    operator, admin = browser(app, "operator", "olga"), browser(app)
    fields = {"name": "library", "command": shlex.join((sys.executable, str(LIBRARY)))}
    assert "An admin can add servers" in operator.get("/servers/add").text
    assert "Not allowed" in send(operator, "/servers/look", **fields)
    looked = send(admin, "/servers/look", **fields)
    file = project.internals.project.file  # type: ignore[union-attr]
    file.write_text(f"{file.read_text()}# somebody else was here\n")
    assert "changed since you looked at it" in send(admin, "/servers/add", digest=digest_in(looked), **fields)
    assert "library" not in file.read_text()


def test_where_the_process_may_not_write_prowess_toml_nothing_is_added(project: Engine) -> None:
    project.internals.project = None
    app = app_of(project)
    assert "may not write prowess.toml" in browser(app).get("/servers/add").text
    answer = signed_in(app).post("/api/v1/servers/proposal", json={"name": "x", "command": "true"})
    assert answer.status_code == 409
    assert "change_servers" in answer.json()["remedy"]


@pytest.mark.anyio
async def test_a_person_logs_in_at_a_server_that_wants_it_and_comes_back_to_its_tools(
    project: Engine, environment: dict[str, str], tmp_path: Path
) -> None:
    port = free_port()
    environment["XDG_STATE_HOME"] = str(tmp_path / "state")

    def visit() -> tuple[str, str, str]:
        ann = browser(app_of(project))
        added = add(ann, name="vault", url=f"http://127.0.0.1:{port}/mcp")
        asked = send(ann, "/servers/login", name="vault")
        goes = re.search(r'href="(http://127\.0\.0\.1[^"]+)" rel="noreferrer"', asked)
        assert goes, asked
        at_the_server = httpx2.get(unescape(goes[1]), follow_redirects=False)
        came_back = ann.get(at_the_server.headers["location"])
        again = ann.get(at_the_server.headers["location"])
        return added, came_back.text, again.text

    async with listening_server("vault.py", port, "3600"):
        added, came_back, again = await to_thread.run_sync(visit)
    assert "wants a login" in added
    assert "Logged in at vault" in came_back
    assert "tool:vault/open_vault" in came_back
    assert "no login waits for this" in again
    (asked,) = project.journal.latest(type="web.asked")
    assert (asked.data["by"], asked.data["operation"]) == ("ann", "servers.log_in")
