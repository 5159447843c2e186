"""A real identity provider, and people who go through its forms."""

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from tests.support.gateway import SERVERS
from tests.support.hostile_provider import API
from tests.support.npm import locked_modules, node
from tests.support.ports import free_port
from tests.support.processes import running
from tests.support.wire import eventually, listens


@dataclass(frozen=True)
class PeopleProvider:
    issuer: str
    accounts: Path

    def set(self, **accounts: list[str]) -> None:
        """Who there is, with their groups."""
        said = {
            name: {"email": f"{name}@example.com", "email_verified": True, "groups": groups}
            for name, groups in accounts.items()
        }
        self.accounts.write_text(json.dumps(said))

    def token(self) -> str:
        """An access token for the API, as a program gets one."""
        form = {"grant_type": "client_credentials", "resource": API, "scope": "api"}
        answer = httpx2.post(
            f"{self.issuer}/token", data=form, auth=("robot", "robot-keeps-this"), timeout=30
        )
        return str(answer.raise_for_status().json()["access_token"])


@contextmanager
def people_provider(folder: Path, address: str) -> Iterator[PeopleProvider]:
    """oidc-provider, with the server at this address as its client."""
    port = free_port()
    provider = PeopleProvider(f"http://127.0.0.1:{port}", folder / "accounts.json")
    provider.set()
    run = [node(), str(SERVERS / "people.mjs"), str(locked_modules()), str(port), address]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with running([*run, str(provider.accounts)], **quiet):
        eventually(lambda: listens(port), 60)
        yield provider


def signed_in_at(browser: httpx2.Client, address: str, name: str) -> httpx2.Response:
    """Go to an address and through every form of the provider, as a person would; where that ends."""
    answer = browser.get(address)
    while form := re.search(r'<form[^>]*action="([^"]*/interaction/[^"]*)"', answer.text):
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)"', answer.text))
        answer = browser.post(
            str(answer.url.join(form[1])), data={**hidden, "login": name, "password": "any"}
        )
    return answer
