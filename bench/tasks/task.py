"""A task: what somebody wants, step by step, in several languages, and which tools serve each step."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
OTHER_NAMES = FOLDER / "other_names.yaml"
SETS = {name: FOLDER / f"{name}.yaml" for name in ("own", "held_out", "fresh", "newest")}


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do."""

    need: Mapping[str, str]
    """By language, what is wanted, in a sentence."""
    values: Mapping[str, Any]
    """What the person has said besides, under the names that they would use."""
    calls: frozenset[str]
    """The tools that do it, any of them; none where nothing can."""

    @property
    def meaning(self) -> str:
        """The same in English, where it is written."""
        return self.need.get("en") or next(iter(self.need.values()))


@dataclass(frozen=True, slots=True)
class Task:
    """Steps in their order."""

    id: str
    steps: tuple[Step, ...]

    @property
    def is_possible(self) -> bool:
        return any(step.calls for step in self.steps)

    def languages(self) -> frozenset[str]:
        """Those in which all of it is written."""
        return frozenset.intersection(*(frozenset(step.need) for step in self.steps))


def read_tasks(file: Path, site: str, as_written: bool = False) -> tuple[Task, ...]:
    """The tasks of a file.

    site: the address of the page that `{site}` stands for.
    as_written: judge by the names in the file alone, also where a server calls the same tool otherwise.
    """
    rows = yaml.safe_load(file.read_text(encoding="utf-8"))
    names = {} if as_written else yaml.safe_load(OTHER_NAMES.read_text(encoding="utf-8"))
    return tuple(
        Task(str(row["id"]), tuple(_step(step, site, names) for step in row["steps"])) for row in rows
    )


def _step(row: Mapping[str, Any], site: str, names: Mapping[str, str]) -> Step:
    said = row["need"]
    need = {"en": said} if isinstance(said, str) else dict(said)
    values = {
        name: value.replace("{site}", site) if isinstance(value, str) else value
        for name, value in (row.get("with") or {}).items()
    }
    return Step(need, values, frozenset(_here(id, names) for id in row.get("calls") or ()))


def _here(id: str, names: Mapping[str, str]) -> str:
    """The id under which a tool stands in the servers of this benchmark."""
    for other, here in names.items():
        if id == f"tool:{other}" or (other.endswith("/") and id.startswith(f"tool:{other}")):
            return id.replace(other, here, 1)
    return id
