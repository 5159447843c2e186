"""Where skills usually lie: in a project, in a person's home, and in installed packages.

Above: the configuration, which names the places it wants. Below: the layout that clients and packages share.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

Place: TypeAlias = Literal["project", "user", "packages"]

SKILL_FOLDERS = (".prowess/skills", ".agents/skills", ".claude/skills")
"""Below a project."""
USER_FOLDERS = (
    ".agents/skills", ".claude/skills", ".codex/skills", ".copilot/skills", ".cursor/skills",
    ".gemini/skills", ".config/opencode/skills", ".config/goose/skills", ".config/agents/skills",
    ".codeium/windsurf/skills",
)  # fmt: skip
"""Below a home: the common one, and those of clients."""
PACKAGE_FOLDER = ".agents/skills"
"""Below an installed package."""


def usual_folders(places: Sequence[Place], root: Path, home: Path) -> tuple[str, ...]:
    """The folders of these places, whether or not they are there."""
    found: list[Path] = []
    for place in places:
        if place == "packages":
            found.extend(_in_packages(map(Path, sys.path)))
        else:
            start, folders = (root, SKILL_FOLDERS) if place == "project" else (home, USER_FOLDERS)
            found.extend(start / folder for folder in folders)
    return tuple(str(path) for path in dict.fromkeys(found))


def _in_packages(folders: Iterable[Path]) -> Iterator[Path]:
    """Of the packages that this Python has installed, those that bring skills."""
    for folder in folders:
        if folder.name in ("site-packages", "dist-packages"):
            yield from sorted(folder.glob(f"*/{PACKAGE_FOLDER}"))
