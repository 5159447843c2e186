"""`prowess` as a person types it: a program of its own, with what a client or a shell gives it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.places import SERVERS

CRM_TOKEN = "crm-4711-sesame-open"
"""What the server crm.py wants."""


@dataclass(frozen=True)
class Terminal:
    """A shell in a folder, of a person whose home is a folder beside it."""

    folder: Path
    home: Path
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """What a client gives a program it starts: almost nothing."""
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], **self.more}

    def run(self, *words: str, typed: str = "") -> "subprocess.CompletedProcess[str]":
        """Run a command; `typed` is what comes through a pipe."""
        return subprocess.run(
            [sys.executable, "-m", "prowess", *words],
            cwd=self.folder, env=self.environment, input=typed,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip


def server_block(name: str, script: str, *args: str, more: str = "") -> str:
    """The `[[source]]` of one of our servers."""
    words = ", ".join(f'"{one}"' for one in ("-S", str(SERVERS / script), *args))
    head = f'[[source]]\ntype = "mcp"\nname = "{name}"\n'
    return f'{head}command = "{sys.executable}"\nargs = [{words}]\n{more}\n'
