"""A login at a server: an answer that is not the one to our question opens nothing and leaves nothing."""

import stat
import sys
from pathlib import Path
from shlex import quote

import pytest

from tests.support.vault import Vault, vault

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(90)]

# A browser that a stranger has a hand in: it brings back something else than the server sent it with, and
# writes down what it knew.
BROWSER = """
import sys, urllib.error, urllib.parse, urllib.request

class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_): return None

def get(url):
    try:
        return urllib.request.build_opener(Stay).open(url)
    except urllib.error.HTTPError as answer:
        return answer

way, log, start = sys.argv[1:]
back = urllib.parse.urlsplit(get(start).headers["Location"])
said = dict(urllib.parse.parse_qsl(back.query))
changes = {"state": {"state": "forged"}, "no-state": {"state": None}, "issuer": {"iss": "http://127.0.0.1:1/"},
           "code": {"code": "forged"}, "error": {"code": None, "error": "access_denied"}, "twice": {}}[way]
said = {name: value for name, value in {**said, **changes}.items() if value is not None}
url = back._replace(query=urllib.parse.urlencode(said)).geturl()
status = [get(url).status]
if way == "twice":
    try:
        status.append(get(url).status)
    except OSError:
        status.append(0)
with open(log, "a") as file:
    print(dict(urllib.parse.parse_qsl(back.query))["code"], *status, file=file)
"""


def led_astray(here: Vault, folder: Path, way: str) -> Path:
    script, log = folder / "browser.py", folder / f"{way}.log"
    script.write_text(BROWSER)
    here.environment["BROWSER"] = f"{quote(sys.executable)} {quote(str(script))} {way} {quote(str(log))} %s"
    return log


@pytest.mark.parametrize("way", ["state", "no-state", "issuer", "code", "error"])
async def test_an_answer_that_does_not_belong_to_the_login_is_refused_and_leaves_nothing(
    tmp_path: Path, way: str
) -> None:
    async with vault(tmp_path) as here:
        log = led_astray(here, tmp_path, way)
        told = await here.prowess("login", "vault", "--seconds", "20")
        assert told.returncode == 1 and "login" in told.stderr
        assert not here.logins.exists() or list(here.logins.iterdir()) == []
        code, *_ = log.read_text().split()
        assert code not in told.stdout + told.stderr


async def test_a_forged_answer_keeps_the_login_that_was_there(tmp_path: Path) -> None:
    async with vault(tmp_path) as here:
        assert (await here.prowess("login", "vault")).returncode == 0
        before = here.tokens()
        led_astray(here, tmp_path, "state")
        assert (await here.prowess("login", "vault", "--seconds", "20")).returncode == 1
        assert here.tokens() == before


async def test_an_answer_that_comes_twice_counts_once_and_the_file_is_its_owners(
    tmp_path: Path,
) -> None:
    async with vault(tmp_path) as here:
        log = led_astray(here, tmp_path, "twice")
        told = await here.prowess("login", "vault")
        assert "logged in at vault" in told.stderr, told.stderr
        *_, first, second = log.read_text().split()
        assert first == "200" and second in ("404", "0")
        (file,) = here.logins.iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
