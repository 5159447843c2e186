"""People sign in at a real identity provider, and are what their groups make of them."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import httpx2
import pytest

import prowess
from tests.support.hostile_provider import section
from tests.support.identity import PeopleProvider, people_provider, signed_in_at
from tests.support.ports import free_port
from tests.support.processes import running

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


class Served(NamedTuple):
    address: str
    provider: PeopleProvider
    folder: Path

    def browser(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.address, follow_redirects=True, timeout=60)

    def me(self, token: str, **headers: str) -> httpx2.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx2.get(
            f"{self.address}/api/v1/me", headers={"Authorization": f"Bearer {token}", **named}, timeout=60
        )


def session(browser: httpx2.Client) -> str:
    return browser.cookies["prowess_session"].strip('"')


@contextmanager
def serving(folder: Path, command: str, *groups: tuple[str, str, str], more: str = "") -> Iterator[Served]:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with people_provider(folder, address) as provider:
        config = folder / "prowess.toml"
        config.write_text('store = "sqlite:store.db"\n' + section(provider.issuer, address, *groups) + more)
        run = [sys.executable, "-m", "prowess", "--config", str(config), "serve", *command.split()]
        environment = {**os.environ, "OIDC_SECRET": "prowess-keeps-this", "PROWESS_SERVE_PORT": str(port)}
        with running(run, stdout=subprocess.PIPE, env=environment, cwd=folder) as process:
            assert process.stdout and process.stdout.readline()
            yield Served(address, provider, folder)
            process.terminate()
            process.wait(30)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    groups = ("staff", "viewer", ""), ("leads", "admin", "")
    with serving(tmp_path_factory.mktemp("oidc"), "web", *groups) as one:
        yield one


def test_somebody_signs_in_at_their_provider_has_the_role_of_their_groups_and_loses_it_there(
    served: Served,
) -> None:
    served.provider.set(ada=["staff", "leads"])
    with served.browser() as browser:
        page = signed_in_at(browser, "/catalogue", "ada")
        assert page.url.path == "/catalogue" and "ada@example.com" in page.text
        assert browser.get("/api/v1/me").json() == {"name": "ada@example.com", "role": "admin"}
        before = session(browser)
        served.provider.set(ada=["staff"])
        assert browser.get("/login/provider").status_code == 200  # nothing is asked again
        assert browser.get("/api/v1/me").json()["role"] == "viewer"
        kept = httpx2.get(f"{served.address}/api/v1/me", cookies={"prowess_session": before}, timeout=60)
        assert kept.status_code == 401, "what the browser had before ended with it"
        served.provider.set(ada=[])
        refused = browser.get("/login/provider")
        assert refused.status_code == 403 and "[[web.oidc.group]]" in refused.text
        assert browser.get("/api/v1/me").status_code == 401


def test_signing_in_and_out_is_journalled(served: Served) -> None:
    served.provider.set(eve=["staff"])
    with served.browser() as browser:
        page = signed_in_at(browser, "/", "eve")
        csrf = page.text.partition('name="csrf" value="')[2].partition('"')[0]
        out = browser.post("/logout", data={"csrf": csrf})
        assert "You are signed out here" in out.text and "/login/out" in out.text
        asked = browser.get("/login/out")
        assert str(asked.url).startswith(served.provider.issuer), "it asks, and ends its own session"
    with prowess.open(f"sqlite:{served.folder / 'store.db'}") as engine:
        admitted, ended = engine.journal.latest(2, type="person.*")
    assert (admitted.type, admitted.data["name"], admitted.data["role"]) == (
        "person.admitted", "eve@example.com", "viewer")  # fmt: skip
    assert admitted.data["by"] == f"{served.provider.issuer} (subject eve)"
    assert (ended.type, ended.data["name"]) == ("person.ended", "eve@example.com")


def test_a_session_lasts_as_long_as_the_configuration_says(served: Served) -> None:
    served.provider.set(ada=["staff"])
    with served.browser() as browser:
        signed_in_at(browser, "/", "ada")
    with prowess.open(f"sqlite:{served.folder / 'store.db'}") as engine:
        (admitted,) = engine.journal.latest(1, type="person.admitted")
    assert admitted.at[:13] != admitted.data["expires_at"][:13]
    assert admitted.at[14:16] == admitted.data["expires_at"][14:16], "an hour"


def test_a_program_with_an_access_token_of_the_provider_uses_the_api(served: Served) -> None:
    served.provider.set(robot=["leads"])
    token = served.provider.token()
    assert served.me(token).json() == {"name": "robot@example.com", "role": "admin"}
    made = httpx2.post(
        f"{served.address}/api/v1/tokens", json={"name": "ann"}, timeout=60,
        headers={"Authorization": f"Bearer {token}"},
    )  # fmt: skip
    assert made.status_code == 201
    told_by = {"Authorization": f"Bearer {token}"}
    news = f"{served.address}/api/v1/journal/stream?since=start"
    with httpx2.stream("GET", news, headers=told_by, timeout=60) as stream:
        assert any("person.admitted" in line for line in stream.iter_lines())
    served.provider.set(robot=["strangers"])
    assert served.me(served.provider.token()).status_code == 401
    assert served.me(token[:-4]).status_code == 401
    assert served.me(token.rpartition(".")[0] + ".").status_code == 401


def test_a_real_browser_signs_in_and_out_under_the_content_policy(served: Served, browser: "Browser") -> None:
    served.provider.set(bob=["staff"])
    context = browser.new_context(base_url=served.address)
    context.set_default_timeout(20_000)
    complaints: list[str] = []
    page = context.new_page()
    page.on(
        "console", lambda said: complaints.append(f"{page.url} {said.text}") if said.type == "error" else None
    )
    page.goto("/login")
    page.get_by_role("link", name="Sign in at Example ID").click()
    page.get_by_placeholder("Enter any login").fill("bob")
    page.get_by_placeholder("and password").fill("any")
    page.get_by_role("button", name="Sign-in").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Overview").wait_for()
    assert "bob@example.com" in page.content()
    assert [said for said in complaints if said.startswith(served.address)] == []
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("link", name="Sign out at Example ID, too").click()
    page.get_by_role("button", name="Yes, sign me out").click()
    page.get_by_role("heading", name="Sign in").wait_for()
    assert page.url.startswith(served.address)
    context.close()


# --- many workspaces -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("many")
    for name in ("acme", "bolt", "cord"):
        (folder / "tenants" / name).mkdir(parents=True)
        (folder / "tenants" / name / "prowess.toml").write_text("")
    groups = ("team-{workspace}", "viewer", ""), ("bolt-leads", "admin", "bolt"), ("owners", "admin", "*")
    with serving(folder, "--workspaces tenants", *groups) as one:
        yield one


def test_groups_name_the_workspace_that_somebody_enters_and_no_other(many: Served) -> None:
    many.provider.set(ada=["team-acme"], eve=["team-unknown", "team-"])
    with many.browser() as browser:
        assert signed_in_at(browser, "/catalogue", "ada").url.path == "/catalogue"
        assert session(browser).endswith("@acme")
        moved = {"prowess_session": session(browser).replace("@acme", "@bolt")}
        answer = httpx2.get(f"{many.address}/api/v1/me", cookies=moved, timeout=60)
        assert answer.status_code == 401
        asked = browser.get("/login/provider", params={"workspace": "bolt"})
        assert asked.status_code == 200 and session(browser).endswith("@acme")
    with many.browser() as browser:
        assert signed_in_at(browser, "/", "eve").status_code == 403


def test_who_belongs_to_several_workspaces_chooses_one_and_changes_by_a_link(many: Served) -> None:
    many.provider.set(ada=["team-acme", "bolt-leads"], root=["owners"])
    with many.browser() as browser:
        page = signed_in_at(browser, "/", "ada")
        assert "Choose a workspace" in page.text and "cord" not in page.text
        for name, role in (("bolt", "admin"), ("acme", "viewer")):
            browser.get("/login/provider", params={"workspace": name})
            assert browser.get("/api/v1/me").json()["role"] == role
            assert session(browser).endswith(f"@{name}")
    with many.browser() as browser:
        assert "cord" in signed_in_at(browser, "/", "root").text


def test_an_access_token_for_several_workspaces_says_which_one_is_meant(many: Served) -> None:
    many.provider.set(robot=["team-acme", "bolt-leads"])
    token = many.provider.token()
    unclear = many.me(token)
    assert unclear.status_code == 400 and "prowess-workspace" in unclear.text
    assert many.me(token, prowess_workspace="bolt").json()["role"] == "admin"
    assert many.me(token, prowess_workspace="acme").json()["role"] == "viewer"
    assert many.me(token, prowess_workspace="cord").status_code == 400
    many.provider.set(robot=["team-acme"])
    assert many.me(many.provider.token()).json()["role"] == "viewer"


def test_a_workspace_cannot_bring_a_provider_of_its_own(many: Served) -> None:
    many.provider.set(ada=["team-cord"])
    file = many.folder / "tenants" / "cord" / "prowess.toml"
    file.write_text(section("https://id.example", "https://tools.example", ("x", "admin", "cord")))
    with many.browser() as browser:
        assert signed_in_at(browser, "/", "ada").status_code == 503
    file.write_text("")
