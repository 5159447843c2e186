"""Capabilities that stand in a list inside a file: each is read alone, and a bad one is skipped.

Above: the sources whose files hold lists. Below: `fields`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from prowess.errors import SourceError
from prowess.sources.files.fields import Fields
from prowess.sources.files.units import UnitContents
from prowess.text.values import Json
from prowess.types import Draft, Problem

MOST_LISTED = 10_000


class ListedEntry(NamedTuple):
    place: str
    label: str
    value: Json

    def fields(self) -> Fields:
        """The entry's fields; one that is a text alone is its name."""
        if isinstance(self.value, str):
            return Fields(self.place, {"name": self.value}, self.label)
        if isinstance(self.value, Mapping):
            return Fields(self.place, self.value, self.label)
        raise Fields(self.place, {}, self.label).error(
            "is neither a mapping nor a name", "write it as 'name: ...' with its fields below"
        )


def list_in(fields: Fields, name: str) -> Iterator[ListedEntry]:
    values = fields.raw(name)
    if values is None:
        return
    if not isinstance(values, list) or len(values) > MOST_LISTED:
        raise fields.wrong(name, f"a list of at most {MOST_LISTED} entries")
    for number, value in enumerate(values, 1):
        yield ListedEntry(fields.place, f"{name}[{number}]", value)


def read_listed(
    source: str, entries: Iterable[ListedEntry], make: Callable[[Fields], Draft], known: tuple[str, ...]
) -> UnitContents:
    drafts: list[Draft] = []
    problems: list[Problem] = []
    for entry in entries:
        try:
            fields = entry.fields()
            drafts.append(make(fields))
            problems.extend(fields.unknown(source, known))
        except SourceError as error:
            problems.append(error.problem(source))
    return UnitContents(tuple(drafts), tuple(problems))
