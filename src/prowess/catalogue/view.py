"""The catalogue at one version, in memory, and why something in it cannot be used right now."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from prowess.catalogue.health import NOTHING_DOWN, Health, Observation
from prowess.catalogue.stored import ChangedCapabilities, PagedCapabilities
from prowess.catalogue.uris import LONGEST_URI, NormalizedUri, Specificity, Template, address, template
from prowess.errors import NotFound
from prowess.types import EXAMPLES, Capability, HeldCapability, Json, Provider


@dataclass(frozen=True, slots=True)
class ListedResource:
    """A resource and its URI, or its template."""

    capability: Capability
    text: str


@dataclass(frozen=True, slots=True)
class Near:
    """A template that may stand for a URI."""

    capability: Capability
    specificity: Specificity


@dataclass(frozen=True)
class Resources:
    """What servers list under a URI, and their templates."""

    all: tuple[ListedResource, ...]
    templated: tuple[ListedResource, ...]

    @cached_property
    def _by_path(self) -> Mapping[str, list[tuple[NormalizedUri, Capability]]]:
        found: dict[str, list[tuple[NormalizedUri, Capability]]] = {}
        for one in self.all:
            place = address(one.text)
            found.setdefault(place.path, []).append((place, one.capability))
        return found

    def meant_by(self, uri: str) -> tuple[Capability, ...]:
        """Every resource that a server could read this URI for."""
        if len(uri) > LONGEST_URI:  # not worth its time and memory: no template stands for it either
            return tuple(one.capability for one in self.all if one.text == uri)
        asked = address(uri)
        return tuple(one for place, one in self._by_path.get(asked.path, ()) if asked.may_mean(place))

    def templates_for(self, uri: str) -> tuple[tuple[Capability, Template], ...]:
        """Every template that can become this URI, the most specific first."""
        found = [
            (one.capability, ready)
            for one in self.templated
            if (ready := template(one.text)) is not None and ready.matches(uri)
        ]
        return tuple(sorted(found, key=lambda pair: pair[1].specificity, reverse=True))

    def near(self, uri: str) -> Mapping[str, tuple[Near, ...]]:
        """Provider -> its templates that a server could read this URI for, the most specific first."""
        known = self._nearest.get(uri)
        if known is None:
            self._nearest.clear()
            known = self._nearest[uri] = self._near(uri)
        return known

    @cached_property
    def _nearest(self) -> dict[str, Mapping[str, tuple[Near, ...]]]:
        """Of the URI that was asked for last: every template that fits it is held against the others."""
        return {}

    def _near(self, uri: str) -> Mapping[str, tuple[Near, ...]]:
        found: dict[str, list[Near]] = {}
        for one in self.templated:
            ready = template(one.text)
            if ready is not None and (ready.matches(uri) or ready.may_mean(uri)):
                near = Near(one.capability, ready.specificity)
                found.setdefault(one.capability.provider, []).append(near)
        return {who: tuple(sorted(all, key=_specificity, reverse=True)) for who, all in found.items()}


def _texts(stated: Json) -> tuple[str, ...]:
    """The texts of a list; whatever else other systems keep under the same word is none."""
    return (
        tuple(one for one in stated if isinstance(one, str) and one)
        if isinstance(stated, list | tuple)
        else ()
    )


def _specificity(near: Near) -> Specificity:
    return near.specificity


@dataclass(frozen=True)
class View:
    """The catalogue at one version, in memory. Capabilities are in order of id."""

    version: int
    capabilities: Mapping[str, Capability]
    providers: Mapping[str, Provider]
    switched_off: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(provider, agent) -> why; the agent is empty where it holds for everybody."""
    quarantined: Mapping[str, HeldCapability] = field(default_factory=dict)
    accepted: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """(id, digest) -> the person who took this content as it is."""
    era: int = 0
    """The state of the store within which the version counts."""
    first: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What several servers offer -> who offered it first; more than one where they came at once."""
    trust: Mapping[str, str] = field(default_factory=dict)
    """Source -> how far it is trusted."""
    observations: tuple[Observation, ...] = ()
    """What the processes that read sources saw of them."""
    health: Health = NOTHING_DOWN
    """What that says to this process."""

    @property
    def is_stored(self) -> bool:
        """Whether the capabilities are looked up rather than held, because they are so many."""
        return isinstance(self.capabilities, PagedCapabilities)

    def of_kind(self, kind: str) -> Mapping[str, Capability]:
        """The capabilities of one kind, which should be few of them."""
        if isinstance(self.capabilities, PagedCapabilities):
            return self.capabilities.of_kind(kind)
        return {id: c for id, c in self.capabilities.items() if c.kind == kind}

    def of_kinds(self, *kinds: str) -> Iterable[Capability]:
        """Those of some kinds, in order of id."""
        if not self.is_stored:
            return (c for c in self.capabilities.values() if c.kind in kinds)
        found = {id: c for kind in kinds for id, c in self.of_kind(kind).items()}
        return (found[id] for id in sorted(found))

    def after(self, start: str) -> Iterator[tuple[str, Capability]]:
        """What comes behind an id, in order of id."""
        if isinstance(self.capabilities, PagedCapabilities):
            return (one for page in self.capabilities.pages(start) for one in page.items())
        return ((id, c) for id, c in self.capabilities.items() if id > start)

    @cached_property
    def resources(self) -> Resources:
        found = list(self.of_kinds("resource"))
        return Resources(
            tuple(ListedResource(c, str(uri)) for c in found if (uri := c.metadata.get("uri"))),
            tuple(
                ListedResource(c, str(text))
                for c in found
                if not c.metadata.get("uri") and (text := c.metadata.get("uri_template"))
            ),
        )

    @cached_property
    def examples(self) -> Mapping[str, tuple[str, ...]]:
        """Capability -> the requests its author says it answers; an index in the store has them itself."""
        if self.is_stored:
            return {}
        stated = {id: _texts(c.metadata.get(EXAMPLES)) for id, c in self.capabilities.items() if c.metadata}
        return {id: given for id, given in stated.items() if given}

    def owner(self, claim: str, providers: Collection[str]) -> str:
        """Whose it is, of those who offer it; nobody's where several came first at once."""
        first = self.first.get(claim) or tuple(providers)
        # Somebody who switched all but one of them off has decided.
        on = [name for name in first if not self.off(name, "")] if len(first) > 1 else first
        return on[0] if len(on) == 1 else ""

    def off(self, provider: str, agent: str) -> bool:
        return (provider, "") in self.switched_off or (provider, agent) in self.switched_off

    def why_off(self, provider: str, agent: str) -> str:
        return self.switched_off.get((provider, ""), "") or self.switched_off.get((provider, agent), "")

    def providers_for(self, agent: str) -> tuple[Provider, ...]:
        """Every provider, each with whether it is switched off for everybody or for this agent."""
        return tuple(replace(p, off=self.off(p.name, agent)) for p in self.providers.values())

    def active(self, agent: str) -> Mapping[str, Capability]:
        """What exists for this agent: everything that is neither switched off nor held back."""
        off = {provider for provider, whose in self.switched_off if whose in ("", agent)}
        if not off and not self.quarantined:
            return self.capabilities

        def active(some: Mapping[str, Capability]) -> Mapping[str, Capability]:
            kept = self.quarantined
            return {id: c for id, c in some.items() if c.provider not in off and id not in kept}

        if isinstance(self.capabilities, PagedCapabilities):
            return ChangedCapabilities(self.capabilities, active)
        return active(self.capabilities)

    def get(self, id: str) -> Capability:
        found = self.capabilities.get(id)
        if found is None:
            raise NotFound("capability", id, self.capabilities, "see: prowess list")
        return found

    def tool_id(self, name: str) -> str:
        """The capability that something requires under this name, or nothing."""
        return self.tool_ids([name]).get(name, "")

    def tool_ids(self, names: Collection[str]) -> Mapping[str, str]:
        """The same for several names, found together; what means nothing is left out."""
        if isinstance(self.capabilities, PagedCapabilities):
            return self.capabilities.tool_ids(names)
        known = self.capabilities
        ids = {
            name: name if name in known
            else f"tool:{name}" if f"tool:{name}" in known else self.tool_names.get(name, "")
            for name in names
        }  # fmt: skip
        return {name: id for name, id in ids.items() if id}

    def tools_called(self, name: str) -> Sequence[str]:
        """The ids of the tools whose servers call them so."""
        if isinstance(self.capabilities, PagedCapabilities):
            return [*self.capabilities.namesakes(name)]
        return [c.id for c in self.capabilities.values() if c.name == name and c.kind == "tool"]

    @cached_property
    def has_cards(self) -> bool:
        if self.is_stored:
            return bool(self.of_kind("card"))
        return any(c.kind == "card" for c in self.capabilities.values())

    @cached_property
    def secret_names(self) -> frozenset[str]:
        """What capabilities need; of those that are looked up, each asks for itself."""
        if self.is_stored:
            return frozenset()
        return frozenset(name for c in self.capabilities.values() for name in c.required_secrets)

    @cached_property
    def tool_names(self) -> Mapping[str, str]:
        """Name of a tool -> its id, for what others require by name."""
        return {c.name: id for id, c in self.capabilities.items() if c.kind == "tool"}


Which = Callable[[str], str | None]


def with_availability(view: View, environment: Mapping[str, str], which: Which) -> View:
    """The same view, each capability with the reasons why it cannot be used right now."""
    down = {p.name for p in view.providers.values() if p.down}

    def changed(some: Mapping[str, Capability]) -> Mapping[str, Capability]:
        demanding = [c for c in some.values() if _demands(c, down)]
        if not demanding:
            return some
        meant = view.tool_ids({tool for c in demanding for tool in c.required_tools})
        own = {c.id: _own_reasons(c, view, meant, environment, which) for c in demanding}
        if isinstance(view.capabilities, PagedCapabilities):
            further = view.capabilities.several({*meant.values()} - own.keys())
            theirs = view.tool_ids({tool for c in further.values() for tool in c.required_tools})
            own |= {id: _own_reasons(c, view, theirs, environment, which) for id, c in further.items()}
        reasons = {c.id: (*own[c.id], *_reasons_of_tools(c, meant, own)) for c in demanding}
        other = {
            c.id: replace(c, unavailable=why) for c in demanding if (why := reasons[c.id]) != c.unavailable
        }
        return {**some, **other} if other else some

    if isinstance(view.capabilities, PagedCapabilities):
        return replace(view, capabilities=ChangedCapabilities(view.capabilities, changed))
    capabilities = changed(view.capabilities)
    return view if capabilities is view.capabilities else replace(view, capabilities=capabilities)


def _demands(capability: Capability, down: Collection[str]) -> bool:
    """Whether it takes more to use it than to have it."""
    return bool(
        capability.required_secrets
        or capability.required_tools
        or capability.unavailable
        or capability.provider in down
        or "declared_available" in capability.metadata
    )


def with_health(view: View, health: Health, sources: Collection[str]) -> View:
    """The same view, in which what is down says why; never what this process has loaded itself."""
    down = {source: why for source, why in health.down.items() if source not in sources}
    problems = tuple(one for one in health.problems if one.source not in sources)
    wrong = {name: down.get(p.source) or health.providers.get(name, "") for name, p in view.providers.items()}
    providers = {name: replace(view.providers[name], down=why) for name, why in wrong.items() if why}
    seen = Health(down, health.providers, problems)
    return replace(view, providers={**view.providers, **providers}, health=seen)


def off_below(view: View, above: Mapping[str, Collection[str]]) -> View:
    """The same view, in which what is off for an agent is off for those who are below it, too."""
    more = {
        (provider, agent): reason
        for agent, ancestors in above.items()
        for (provider, whose), reason in view.switched_off.items()
        if whose in ancestors and (provider, agent) not in view.switched_off
    }
    return replace(view, switched_off={**view.switched_off, **more}) if more else view


def _reasons_of_tools(
    capability: Capability, meant: Mapping[str, str], own: Mapping[str, tuple[str, ...]]
) -> list[str]:
    found = []
    for tool in capability.required_tools:
        needed = meant.get(tool, "")
        if needed != capability.id and own.get(needed):
            found.append(f"required tool {tool} is unavailable: {own[needed][0]}")
    return found


def _own_reasons(
    capability: Capability, view: View, meant: Mapping[str, str], environment: Mapping[str, str], which: Which
) -> tuple[str, ...]:
    found = [f"secret {name} is not set" for name in capability.required_secrets if not environment.get(name)]
    found += [
        f"required tool {tool} is not in the catalogue and not an installed program"
        for tool in capability.required_tools
        if tool not in meant and not which(tool)
    ]
    provider = view.providers.get(capability.provider)
    if provider and provider.down:
        found.append(f"provider {provider.name} is down: {provider.down}")
    if capability.metadata.get("declared_available") is False:
        found.append("its catalogue entry does not mark it available")
    return tuple(found)
