"""People of every workspace are told what is wrong there, also where nobody asks for anything, and once."""

import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from prowess.tenants.serving import ServedFaces
from tests.support.receivers import Hook, hook
from tests.tenants.test_served import MARKERS, Served, configure, serving_all

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

ALERTS = """
[secrets]
env_file = ".env"
[alerts]
every_seconds = 1
about = ["server_down"]
[[alerts.webhook]]
url = "{url}"
secret = "HOOK_SECRET"
"""
WEB = ServedFaces(mcp=False)


@pytest.fixture
def hooks() -> Iterator[dict[str, Hook]]:
    with ExitStack() as opened:
        yield {name: opened.enter_context(hook()) for name in MARKERS}


def served_to(folder: Path, url: str, hooks: dict[str, Hook]) -> None:
    """Two workspaces whose people are told at different places, signed with different secrets."""
    for name, heard in hooks.items():
        configure(folder, url, name)
        place = folder / name
        with (place / "prowess.toml").open("a") as file:
            file.write(ALERTS.format(url=heard.url))
        (place / ".env").write_text(f"HOOK_SECRET=secret-of-{name}\n")


def break_server(folder: Path, url: str, name: str) -> None:
    """Its server cannot be started any more, as whoever reads the sources on the command line finds."""
    sync(folder, url, name)
    file = folder / name / "prowess.toml"
    file.write_text(file.read_text().replace("shelf.py", "nowhere.py"))
    sync(folder, url, name)


def sync(folder: Path, url: str, name: str) -> None:
    with Served(folder, url, "", None).engine(name) as engine:  # type: ignore[arg-type]
        engine.sync()


def wait_for(heard: Hook) -> None:
    deadline = time.monotonic() + 30
    while not heard.bodies and time.monotonic() < deadline:
        time.sleep(0.02)
    assert heard.bodies


def test_a_workspace_nobody_asks_for_tells_its_own_people_with_its_own_secret_once_of_two_processes(
    store_url: str, tmp_path: Path, hooks: dict[str, Hook]
) -> None:
    folder = tmp_path / "tenants"
    served_to(folder, store_url, hooks)
    with serving_all(folder, store_url, faces=WEB) as one, serving_all(folder, store_url, faces=WEB) as two:
        break_server(folder, store_url, "acme")
        wait_for(hooks["acme"])
        break_server(folder, store_url, "bolt")
        wait_for(hooks["bolt"])
        assert one.door.tenants.names == two.door.tenants.names == ()
        token = one.person("acme")
        (alert,) = one.get("/api/v1/alerts", token).json()
    assert (alert["kind"], alert["deliveries"][0]["state"]) == ("server_down", "sent")
    for name, heard in hooks.items():
        (body,), (headers,) = heard.bodies, heard.headers
        assert json.loads(body)["workspace"] == name
        seconds, signed = (part.split("=")[1] for part in headers["X-Prowess-Signature"].split(","))
        secret = f"secret-of-{name}".encode()
        assert hmac.new(secret, f"{seconds}.".encode() + body, hashlib.sha256).hexdigest() == signed


def test_a_workspace_that_is_configured_wrongly_keeps_no_other_from_being_told(
    store_url: str, tmp_path: Path, hooks: dict[str, Hook], caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "tenants"
    served_to(folder, store_url, hooks)
    break_server(folder, store_url, "bolt")
    (folder / "acme" / "prowess.toml").write_text("[nonsense")
    with serving_all(folder, store_url, faces=WEB):
        wait_for(hooks["bolt"])
    told = [record.getMessage() for record in caplog.records if "acme" in record.getMessage()]
    assert len(told) == 1 and "cannot be told what is wrong: prowess.toml" in told[0]


def test_a_workspace_in_which_nothing_happened_yet_is_not_begun_by_looking_at_it(
    store_url: str, tmp_path: Path, hooks: dict[str, Hook]
) -> None:
    folder = tmp_path / "tenants"
    served_to(folder, store_url, hooks)
    break_server(folder, store_url, "bolt")
    with serving_all(folder, store_url, faces=WEB) as served:
        wait_for(hooks["bolt"])  # acme comes before bolt
        with served.engine("bolt") as engine:
            everyone = {job.workspace for job in engine.internals.jobs.every(everywhere=True)}
    assert everyone == {"bolt"}
