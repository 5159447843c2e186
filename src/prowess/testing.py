"""Doubles for tests, ours and the users': a source that holds what it is told."""

from dataclasses import dataclass, field

from prowess.sources.source import Known, Progress, silent
from prowess.types import Capability, Detail, Draft, Entry, Problem, Provider, Reading


def capability(id: str, description: str = "", **fields: object) -> Capability:
    """A capability from its id, the rest filled in as a source would."""
    kind, _, name = id.partition(":")
    values = {"display_name": name, "description": description or f"Does {name}.", **fields}
    return Capability(id=id, kind=kind, name=name, **values)  # type: ignore[arg-type]


@dataclass
class StaticSource:
    """A source whose content is set by the test. One entry, read every time."""

    name: str = "static"
    kind: str = "static"
    capabilities: list[Capability] = field(default_factory=list)
    details: dict[str, Detail] = field(default_factory=dict)
    providers: list[Provider] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    down: str = ""
    place: str = "memory"

    def read(self, known: Known, progress: Progress = silent) -> Reading:
        if self.down:
            return Reading(down=self.down, problems=tuple(self.problems))
        drafts = tuple(Draft(c, self.details.get(c.id, Detail())) for c in self.capabilities)
        return Reading(
            entries=(Entry(self.place, "", drafts),),
            providers=tuple(self.providers),
            problems=tuple(self.problems),
        )
