"""Write the notes of a release from CHANGELOG.md: `python -m scripts.notes FILE`."""

import re
import sys
from importlib.metadata import version
from pathlib import Path

CHANGELOG = Path(__file__).parent.parent / "CHANGELOG.md"


def notes(changelog: str, released: str) -> str:
    """What the changelog says about one version, under its number alone."""
    section = re.compile(rf"^## {re.escape(released)}\b[^\n]*\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    found = section.search(changelog)
    if found is None:
        raise SystemExit(f"CHANGELOG.md says nothing about {released}")
    return f"# prowess {released}\n\n{found[1].strip()}\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(notes(CHANGELOG.read_text(encoding="utf-8"), version("prowess")))
