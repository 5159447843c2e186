"""The browser that tests of pages look through: the one that is here, or one that is fetched.

`make test` asks for it first (`python -m tests.support.chromium`), so that no test waits for it.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAMES = ("chromium", "google-chrome", "google-chrome-stable")
SECONDS_TO_FETCH = 600


def chromium() -> str:
    """Where the browser is; where there is none, Debian's is installed, or else Playwright's fetched."""
    with _alone():
        return _present() or _installed() or _fetched()


def _present() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def _alone() -> Iterator[None]:
    """Workers, and clones that are tested at once, fetch one after the other."""
    with (Path(tempfile.gettempdir()) / f"prowess-chromium-{os.geteuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _installed() -> str | None:
    if shutil.which("apt-get") is None or (os.geteuid() != 0 and shutil.which("sudo") is None):
        return None
    become_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    # Another process may be installing something else.
    wait = ["-o", f"DPkg::Lock::Timeout={SECONDS_TO_FETCH // 2}"]
    commands = (["apt-get", "update", "-q"], ["apt-get", *wait, "install", "-yq", "chromium"])
    done = all(_ran([*become_root, *command]) for command in commands)
    return _present() if done else None


def _fetched() -> str:
    from playwright.sync_api import sync_playwright

    if not _ran([sys.executable, "-m", "playwright", "install", "chromium"]):
        raise SystemExit("tests of pages need a browser; install one: apt-get install chromium")
    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def _ran(command: list[str]) -> bool:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS_TO_FETCH,
        check=False,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
    )
    if done.returncode:
        print(f"{' '.join(command)} failed: {done.stderr[-500:]}", file=sys.stderr)
    return done.returncode == 0


if __name__ == "__main__":
    print(f"tests of pages use {chromium()}")
