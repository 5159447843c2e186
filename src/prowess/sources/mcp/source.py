"""An MCP server's tools, prompts and resources as capabilities.

Above: the engine, which reads every source. Below: `listing`, which asks the server. The server is
started or called for the reading alone; one that cannot be reached is `down` with its reason, and what
it offered before stays known. Values of `${NAME}` references are used to connect and nowhere else.
"""

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from prowess.errors import ConfigError, MissingExtra, SourceError
from prowess.sources.effort import fault_of_effort
from prowess.sources.files.normalise import parameter_names
from prowess.sources.mcp.address import Address
from prowess.sources.mcp.isolation import Isolation
from prowess.sources.mcp.presentation import presentation
from prowess.sources.names import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    cut,
    display_name,
    fault_of_name,
    fault_of_schema,
    legible,
)
from prowess.sources.source import Known, Progress, silent
from prowess.types import (
    Capability,
    Detail,
    Draft,
    JsonObject,
    Problem,
    Provider,
    SourceEntry,
    SourceReading,
    SourceRef,
)

if TYPE_CHECKING:
    # The SDK is an optional part; at run time it is imported by `ask` alone.
    from mcp_types import Prompt, Resource, ResourceTemplate, ToolAnnotations

    from prowess.sources.mcp.diagnostics import Conduct
    from prowess.sources.mcp.listing import Listing

Severity = Literal["error", "warning"]

SKIPPED = "skipped; ask the server's author to correct it"


@dataclass(frozen=True, slots=True, kw_only=True)
class McpSource:
    """One MCP server: a command to start, or a URL to call."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    login: Literal["agent", "shared"] = "agent"
    isolation: Isolation = field(default_factory=Isolation)
    faculties: tuple[str, ...] = ("Tool",)
    timeout: float = 30.0
    max_items: int = 10_000
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)

    def __post_init__(self) -> None:
        place = f"source {self.name!r}"
        if "/" in self.name or fault_of_name(self.name):
            raise ConfigError(place, "the name stands before a slash in ids", "choose one without a slash")
        if bool(self.command) == bool(self.url):
            raise ConfigError(place, "a server has either a command or a url", "give one of the two")

    @property
    def kind(self) -> str:
        return "mcp"

    @property
    def address(self) -> Address:
        return Address(
            command=self.command,
            args=self.args,
            env=self.env,
            cwd=self.cwd,
            url=self.url,
            headers=self.headers,
            isolation=self.isolation,
        )

    @property
    def reach(self) -> str:
        """What the server may reach, for a person."""
        return self.isolation.reach(tuple(self.env)) if self.command else f"called at {self.address.place}"

    def read(self, known: Known, progress: Progress = silent) -> SourceReading:
        progress(0, 1)
        try:
            listing, conduct = self.ask()
        except (MissingExtra, SourceError) as error:
            return self._down(error)
        finally:
            progress(1, 1)
        return _Offer(self, listing, conduct).reading(known)

    def safe(self, text: str) -> str:
        """A text that came from the server or about it, without the values it was given."""
        return self.address.hide(text, self.environment)

    def ask(self) -> "tuple[Listing, Conduct]":
        """What the server offers now, and how it behaved; another way of asking is another `ask`."""
        try:
            # The SDK is the optional part `gateway`, and slow to import.
            from prowess.sources.mcp.diagnostics import Conduct
            from prowess.sources.mcp.listing import survey
            from prowess.sources.mcp.login import party_of
        except ImportError as error:
            raise MissingExtra(f"the MCP server {self.name!r}", "gateway") from error
        address = self.address.resolve(self.environment)
        conduct = Conduct()
        party = party_of(self.name, self.address, self.environment)
        return survey(address, conduct, party, self.timeout, self.max_items), conduct

    def _down(self, error: MissingExtra | SourceError) -> SourceReading:
        what = error.what if isinstance(error, SourceError) else error.message
        unset = [name for name in self.address.unset(self.environment) if name not in what]
        if unset:
            what = f"{what}; environment variable {' and '.join(unset)} is not set"
        reason = self.safe(what)
        provider = Provider(name=self.name, source=self.name, faculties=self.faculties, down=reason)
        problem = Problem(self.name, self.name, reason, self.safe(error.remedy))
        output = self.safe(error.output) if isinstance(error, SourceError) else ""
        return SourceReading(providers=(provider,), problems=(problem,), down=reason, output=output)


class _Offer:
    """What one server offered, on its way to becoming a `SourceReading`."""

    def __init__(self, source: McpSource, listing: "Listing", conduct: "Conduct") -> None:
        self._source = source
        self._listing = listing
        self._conduct = conduct
        self._secrets = source.address.variables
        self._problems: list[Problem] = []

    def reading(self, known: Known) -> SourceReading:
        self._note_conduct()
        entries = tuple(self._entries(known))
        provider = Provider(
            name=self._source.name,
            source=self._source.name,
            description=cut(self._listing.about, LONGEST_NAME),
            faculties=self._source.faculties,
            down=self._source.safe(self._listing.failed.get("tools", "")),
        )
        return SourceReading(
            entries=entries,
            providers=(provider,),
            problems=tuple(self._problems),
            server=cut(" ".join(self._listing.server.split()), LONGEST_NAME),
            output=self._source.safe(self._conduct.output),
        )

    def _entries(self, known: Known) -> Iterator[SourceEntry]:
        parts = (
            ("tools", ("tools",), self._tools),
            ("prompts", ("prompts",), self._prompts),
            ("resources", ("resources", "templates"), self._resources),
        )
        for part, lists, drafts in parts:
            place = f"{self._source.name}/{part}"
            if any(name in self._listing.failed for name in lists):
                # A list that failed says nothing about what it held the last time.
                yield SourceEntry(place, known.get(place, ""), None)
            else:
                yield SourceEntry(place, "", self._unique(drafts()))

    def _unique(self, drafts: Iterator[Draft]) -> tuple[Draft, ...]:
        first: dict[str, Draft] = {}
        for draft in drafts:
            capability = draft.capability
            fault = fault_of_name(capability.name) or fault_of_schema(draft.detail.input_schema)
            if fault:
                self._problem(legible(capability.name), fault, SKIPPED)
            elif capability.id in first:
                self._problem(capability.name, f"{capability.kind} is offered twice", "the first one is used")
            else:
                first[capability.id] = draft
                costly = fault_of_effort(draft.detail.input_schema)
                if costly:
                    self._problem(
                        legible(capability.name), costly, "ask the server's author for a simpler one"
                    )
        return tuple(first[id] for id in sorted(first))

    def _tools(self) -> Iterator[Draft]:
        for tool in self._listing.tools:
            hints = _hints(tool.annotations)
            title = tool.title or (tool.annotations.title if tool.annotations else None)
            capability = self._capability(
                _Named("tool", tool.name, title or "", tool.description or ""),
                parameters=parameter_names(tool.input_schema),
                has_side_effects=hints.get("read_only") is not True,
                metadata={**({"annotations": hints} if hints else {}), **presentation(tool)},
            )
            yield Draft(capability, Detail(input_schema=tool.input_schema, output_schema=tool.output_schema))

    def _prompts(self) -> Iterator[Draft]:
        for prompt in self._listing.prompts:
            schema = _prompt_schema(prompt)
            capability = self._capability(
                _Named("prompt", prompt.name, prompt.title or "", prompt.description or ""),
                parameters=parameter_names(schema),
                metadata=presentation(prompt),
            )
            yield Draft(capability, Detail(input_schema=schema))

    def _resources(self) -> Iterator[Draft]:
        resources: list[Resource | ResourceTemplate] = [*self._listing.resources, *self._listing.templates]
        # Only the URI of a resource is unique; one whose name is not goes by its URI.
        names = Counter(resource.name for resource in resources)
        for resource in resources:
            metadata = _resource_metadata(resource)
            uri = str(metadata.get("uri") or metadata["uri_template"])
            name = resource.name if names[resource.name] == 1 else uri
            named = _Named(
                "resource",
                name,
                resource.title or display_name(resource.name),
                resource.description or "",
                uri,
            )
            yield Draft(self._capability(named, metadata=metadata))

    def _capability(
        self,
        named: "_Named",
        parameters: tuple[str, ...] = (),
        has_side_effects: bool = False,
        metadata: JsonObject | None = None,
    ) -> Capability:
        server = self._source.name
        if len(named.description) > LONGEST_DESCRIPTION:
            what = f"its description has {len(named.description)} characters"
            self._problem(legible(named.name), what, f"it is used up to {LONGEST_DESCRIPTION}")
        return Capability(
            id=f"{named.kind}:{server}/{named.name}",
            kind=named.kind,
            name=named.name,
            display_name=cut(named.title, LONGEST_NAME) or display_name(named.name),
            description=cut(named.description, LONGEST_DESCRIPTION),
            parameters=parameters,
            required_secrets=self._secrets,
            has_side_effects=has_side_effects,
            provider=server,
            source=server,
            source_ref=SourceRef("mcp", server, named.entry or named.name),
            metadata=metadata or {},
        )

    def _note_conduct(self) -> None:
        for name, why in self._listing.failed.items():
            self._problem(name, why, "look at the server's own log, then sync again", "error")
        for name, why in self._listing.cut.items():
            self._problem(name, why, "raise `max_items`, or ask the server's author about its pages")
        for unusable in self._conduct.unusable:
            what = f"an entry of {unusable.list} does not follow the protocol ({unusable.why})"
            self._problem(legible(unusable.entry), what, SKIPPED)
        if self._conduct.noise:
            what = f"wrote {self._conduct.noise} lines that are not MCP to its standard output"
            self._problem("output", what, "let it log to standard error instead")

    def _problem(self, what_of: str, what: str, remedy: str, severity: Severity = "warning") -> None:
        place = f"{self._source.name}/{what_of}"
        self._problems.append(Problem(self._source.name, place, self._source.safe(what), remedy, severity))


@dataclass(frozen=True, slots=True)
class _Named:
    kind: str
    name: str
    title: str
    description: str
    entry: str = ""


def _hints(annotations: "ToolAnnotations | None") -> dict[str, object]:
    if annotations is None:
        return {}
    hints = {
        "read_only": annotations.read_only_hint,
        "destructive": annotations.destructive_hint,
        "idempotent": annotations.idempotent_hint,
        "open_world": annotations.open_world_hint,
    }
    return {name: value for name, value in hints.items() if value is not None}


def _prompt_schema(prompt: "Prompt") -> JsonObject:
    arguments = prompt.arguments or []
    return {
        "type": "object",
        "properties": {a.name: {"type": "string", "description": a.description or ""} for a in arguments},
        "required": [a.name for a in arguments if a.required],
    }


def _resource_metadata(resource: "Resource | ResourceTemplate") -> dict[str, object]:
    uri = getattr(resource, "uri", None)
    kind = {"mime_type": resource.mime_type} if resource.mime_type else {}
    place = {"uri": uri} if uri else {"uri_template": getattr(resource, "uri_template", "")}
    return {**place, **kind, **presentation(resource)}
