"""The official conformance suite, run against a gateway, and what came out of it."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.support.npm import locked_modules, node
from tests.support.places import ROOT, SERVERS

SUMMARY = re.compile(r"^[✓✗] ([\w./-]+): (\d+) passed, (\d+) failed", re.MULTILINE)
SINGLE = re.compile(r"Passed: (\d+)/(\d+), (\d+) failed")


@dataclass(frozen=True, slots=True)
class Score:
    passed: int
    failed: int


def required(revision: str, leg: str) -> list[str]:
    """The scenarios that a revision requires of a server or a client."""
    text = (_suite().parent / "requirements" / f"{revision}.yaml").read_text()
    scenarios: list[str] = yaml.safe_load(text)[leg]
    return scenarios


def of_server(url: str, revision: str, folder: Path) -> Mapping[str, Score]:
    """Every scenario that a revision has for servers."""
    told = _run("server", "--url", url, "--requirements", revision, "-o", str(folder))
    return {name: Score(int(passed), int(failed)) for name, passed, failed in SUMMARY.findall(told)}


def of_client(scenario: str, revision: str, folder: Path) -> Score:
    """One scenario for clients, which starts a gateway of its own."""
    # The suite takes its command apart at blanks, which the place of this checkout may have.
    launcher = folder / "client"
    program = shlex.join([sys.executable, str(SERVERS / "conformance_client.py")])
    launcher.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
    launcher.chmod(0o755)
    options = ("--scenario", scenario, "--spec-version", revision, "--timeout", "60000")
    told = _run("client", "--command", str(launcher), *options, "-o", str(folder))
    found = SINGLE.findall(told)
    assert found, told[-2000:]
    passed, _, failed = found[-1]
    return Score(int(passed), int(failed))


def _suite() -> Path:
    return locked_modules() / "@modelcontextprotocol" / "conformance" / "dist"


def _run(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [node(), str(_suite() / "index.js"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, env=environment, check=False)
    return done.stdout + done.stderr
