"""Take the steps of deploy/Containerfile in a Debian chroot, and look whether what comes out serves.

    sudo python -m scripts.container FOLDER

FOLDER gets a Debian by debootstrap (which is kept for the next time) and a root for each stage. What a
container would start is started there: as its user, with a root that cannot be written, asked by its own
HEALTHCHECK. No container program is needed; what one would add (layers, the base image) is not looked at.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

HERE = Path(__file__).parent.parent
FILE = HERE / "deploy" / "Containerfile"
SUITE = "trixie"
MIRROR = "http://deb.debian.org/debian"
SECONDS_TO_SERVE = 60
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CERTIFICATES = "/tmp/certificates.pem"
TRUSTING = dict.fromkeys(("PIP_CERT", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"), CERTIFICATES)
"""What this machine trusts is trusted by the steps, too: there may be a proxy of its own."""


@dataclass
class Stage:
    name: str
    root: Path
    cwd: str = "/"
    user: str = "0:0"
    environment: dict[str, str] = field(default_factory=dict)
    words: dict[str, list[str]] = field(default_factory=dict)
    """ENTRYPOINT, CMD and HEALTHCHECK."""

    def start(
        self, command: list[str], user: str = "0:0", before: tuple[str, ...] = (), **more: str
    ) -> "subprocess.Popen[Any]":
        inside = ["chroot", f"--userspec={user}", str(self.root), "/bin/sh", "-c"]
        inside += [f"cd {self.cwd} && exec {shlex.join(command)}"]
        return subprocess.Popen([*before, *inside], env={"PATH": SYSTEM_PATH, **self.environment, **more})

    def run(self, said: str) -> None:
        click.echo(f"[{self.name}] {said}")
        trusted = os.environ.get("SSL_CERT_FILE", "")
        trusting = TRUSTING if trusted else {}
        if trusted:
            shutil.copy(trusted, self.root / CERTIFICATES.lstrip("/"))
        if self.start(["/bin/sh", "-ec", said], "0:0", (), **trusting).wait():
            sys.exit(f"this step failed: {said}")

    def copy(self, said: str, roots: dict[str, Path]) -> None:
        *words, goal = said.split()
        origin = roots[words.pop(0).partition("=")[2]] if words[0].startswith("--from=") else HERE
        place = self.root / (goal if goal.startswith("/") else f"{self.cwd}/{goal}").lstrip("/")
        for word in words:
            source = origin / word.lstrip("/")
            target = place / source.name if goal.endswith("/") else place
            subprocess.run(["cp", "--archive", "--no-target-directory", source, target], check=True)

    def take(self, word: str, said: str, roots: dict[str, Path]) -> None:
        """One instruction."""
        if word == "RUN":
            self.run(said)
        elif word == "COPY":
            self.copy(said, roots)
        elif word == "WORKDIR":
            self.cwd = said
            (self.root / said.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif word == "USER":
            self.user = said
        elif word == "ENV":
            self.environment |= dict(pair.split("=", 1) for pair in shlex.split(said))
        elif word in ("ENTRYPOINT", "CMD", "HEALTHCHECK"):
            self.words[word] = json.loads(said.rpartition("CMD ")[2])

    def serves(self) -> bool:
        """Whether it answers its own health check, in a root that is read-only but for /tmp."""
        self.environment |= {"PROWESS_SERVE_HOST": "127.0.0.1", "PROWESS_STORE": "sqlite:/tmp/store.db"}
        root = shlex.quote(str(self.root))
        mounts = (
            f"mount --bind {root} {root}; mount -o remount,bind,ro {root}; mount -t tmpfs none {root}/tmp"
        )
        alone = ("unshare", "--mount", "/bin/sh", "-ec", f'{mounts}; exec "$@"', "sh")
        server = self.start([*self.words["ENTRYPOINT"], *self.words["CMD"]], self.user, alone)
        until = time.monotonic() + SECONDS_TO_SERVE
        answers = False
        while not answers and time.monotonic() < until and server.poll() is None:
            time.sleep(1)
            answers = self.start(self.words["HEALTHCHECK"], self.user).wait() == 0
        server.terminate()
        click.echo(f"[{self.name}] told to stop, it ended with {server.wait(60)}")
        return answers


def instructions(text: str) -> list[tuple[str, str]]:
    """Each instruction with what it says, on one line."""
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    pairs = (line.partition(" ") for line in re.sub(r"\\\n", " ", text).splitlines())
    return [(word, said.strip()) for word, _, said in pairs if word]


def main(folder: Path) -> None:
    if not (folder / "debian" / "etc").is_dir():
        subprocess.run(["debootstrap", "--variant=minbase", SUITE, folder / "debian", MIRROR], check=True)
    stage, roots = Stage("", folder), dict[str, Path]()
    for word, said in instructions(FILE.read_text()):
        if word == "FROM":
            name = said.partition(" AS ")[2] or "last"
            stage = Stage(name, roots.setdefault(name, folder / name))
            shutil.rmtree(stage.root, ignore_errors=True)
            subprocess.run(["cp", "--archive", folder / "debian", stage.root], check=True)
        else:
            stage.take(word, said, roots)
    if not stage.serves():
        sys.exit("what came out does not serve")
    size = subprocess.run(["du", "-sm", stage.root], check=True, capture_output=True, text=True).stdout
    click.echo(f"it serves; the last root has {size.split()[0]} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
