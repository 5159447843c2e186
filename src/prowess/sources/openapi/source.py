"""An OpenAPI 3 document, from a file or the web, as one provider with a tool for each operation.

Above: the engine, which reads every source. Below: `operations`. One bad operation is a problem of its own;
a document that cannot be had or understood makes the source `down`.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from prowess.errors import ConfigError, SourceError
from prowess.sources.effort import fault_of_effort
from prowess.sources.files.reading import read_text, stamp_of
from prowess.sources.names import fault_of_name
from prowess.sources.openapi.operation import ApiOperation
from prowess.sources.openapi.operations import OperationTools, check_version, operations
from prowess.sources.openapi.schemas import ApiDocument
from prowess.sources.source import Known, Progress, silent
from prowess.text.documents import parse_json, parse_yaml, require_mapping
from prowess.types import Draft, Problem, Provider, SourceEntry, SourceReading

MAX_DOCUMENT_BYTES = 32 * 1024 * 1024
FORM = "openapi-3"
"""Changes when the way documents are read changes, so that each is read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenApiSource:
    """One document; `location` is a path or an http(s) URL."""

    name: str
    location: str
    faculties: tuple[str, ...] = ("Tool",)
    timeout: float = 30.0
    max_items: int = 10_000
    now: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        place = f"source {self.name!r}"
        if "/" in self.name or fault_of_name(self.name):
            raise ConfigError(place, "the name stands before a slash in ids", "choose one without a slash")
        if not self.location:
            raise ConfigError(place, "has no document", "give it a path or a url")

    @property
    def kind(self) -> str:
        return "openapi"

    @property
    def paths(self) -> tuple[str, ...]:
        """What to watch for changes."""
        return () if self._remote else (self.location,)

    @property
    def place(self) -> str:
        """The location without what may be secret in a URL."""
        if not self._remote:
            return self.location
        parts = urlsplit(self.location)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    def read(self, known: Known, progress: Progress = silent) -> SourceReading:
        progress(0, 1)
        try:
            return self._reading(known)
        except SourceError as error:
            return SourceReading(
                providers=(self._provider(down=error.what),),
                problems=(error.problem(self.name),),
                down=error.what,
            )
        finally:
            progress(1, 1)

    @property
    def _remote(self) -> bool:
        return self.location.lower().startswith(("http://", "https://"))

    def _reading(self, known: Known) -> SourceReading:
        stamp = "" if self._remote else self._stamp_of_file()
        if stamp and known.get(self.place) == stamp:
            return self._unchanged(stamp)
        text = self._fetched() if self._remote else self._file()
        if self._remote:
            stamp = f"{FORM}|{hashlib.sha256(text.encode()).hexdigest()}"
            if known.get(self.place) == stamp:
                return self._unchanged(stamp)
        drafts, problems = self._tools(text)
        # A document with problems is read every time, so that they are reported every time.
        entry = SourceEntry(self.place, "" if problems else stamp, drafts)
        return SourceReading(entries=(entry,), providers=(self._provider(),), problems=problems)

    def _unchanged(self, stamp: str) -> SourceReading:
        return SourceReading(entries=(SourceEntry(self.place, stamp, None),), providers=(self._provider(),))

    def _provider(self, down: str = "") -> Provider:
        return Provider(name=self.name, source=self.name, faculties=self.faculties, down=down)

    def _stamp_of_file(self) -> str:
        try:
            status = os.stat(self.location)
        except (OSError, ValueError):
            return ""
        return stamp_of(FORM, [(self.location, status)], self.now())

    def _file(self) -> str:
        folder, name = os.path.split(os.path.abspath(self.location))
        return read_text(folder, name, MAX_DOCUMENT_BYTES)

    def _fetched(self) -> str:
        # Slow to import, and few sources are on the web.
        from prowess.sources.web import fetch

        return fetch(self.location, self.place, self.timeout, MAX_DOCUMENT_BYTES)

    def _tools(self, text: str) -> tuple[tuple[Draft, ...], tuple[Problem, ...]]:
        parse = parse_json if text.lstrip()[:1] in ("{", "[") else parse_yaml
        document = ApiDocument(self.place, require_mapping(parse(text, self.place), self.place))
        check_version(document)
        tools = OperationTools(self.name, document)
        drafts: dict[str, Draft] = {}
        problems: list[Problem] = []
        for operation in operations(document):
            if len(drafts) >= self.max_items:
                problems.append(self._problem(self.place, f"has more than {self.max_items} operations"))
                break
            try:
                self._add(drafts, tools, operation)
            except SourceError as error:
                problems.append(error.problem(self.name))
        if not drafts and not problems:
            problems.append(self._problem(self.place, "has no operations"))
        problems += self._costly(drafts.values())
        return tuple(drafts[id] for id in sorted(drafts)), tuple(problems)

    def _costly(self, drafts: Iterable[Draft]) -> Iterator[Problem]:
        for draft in drafts:
            what = fault_of_effort(draft.detail.input_schema)
            if what:
                place = f"{self.place} {draft.capability.name}"
                yield Problem(self.name, place, what, "simplify it in the document", "warning")

    def _add(
        self, drafts: dict[str, Draft], tools: OperationTools, operation: ApiOperation | SourceError
    ) -> None:
        if isinstance(operation, SourceError):
            raise operation
        place = f"{self.place} {operation}"
        try:
            draft = tools.draft(operation)
        except SourceError as error:
            raise SourceError(place, error.what, error.remedy) from error
        if draft.capability.id in drafts:
            raise SourceError(
                place, f"{operation.name!r} names another operation too", "give each its own operationId"
            )
        drafts[draft.capability.id] = draft

    def _problem(self, place: str, what: str) -> Problem:
        return Problem(self.name, place, what, "take it out of the sources, or split it", "warning")
