"""Which secrets are needed, where each comes from, and what one that is missing keeps from being used.

Above: `prowess doctor`, `sources`, `list` and `secret`. Below: a world, and the configured sources: a
server that does not start without its secret has nothing in the catalogue that could name it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from prowess.engine.listing import NeededSecret
from prowess.secrets.environment import SecretEnvironment
from prowess.sources.mcp.source import McpSource
from prowess.sources.source import Source
from prowess.types import Capability, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretStatus:
    """One secret by its name; the value is nowhere here."""

    name: str
    origin: str
    """Where its value comes from: environment, the name of a `.env`, keyring or file; empty: not set."""
    sources: tuple[str, ...]
    """The sources that need it."""
    needed_by: int
    """How many capabilities need it."""
    needed: str
    """Those in words, such as "14 tools"."""

    @property
    def is_missing(self) -> bool:
        return not self.origin and bool(self.sources)

    @property
    def problem(self) -> Problem:
        """What is missing, what that blocks, and what to do."""
        who = self.needed or "the server"
        verb = "needs" if self.needed_by == 1 or not self.needed else "need"
        what = f"{who} {verb} {self.name}, which is not set"
        remedy = f"run: prowess secret set {self.name}"
        return Problem("secrets", ", ".join(self.sources), what, remedy, "warning")


def secret_statuses(
    needed: Iterable[NeededSecret], sources: Sequence[Source], environment: Mapping[str, str]
) -> tuple[SecretStatus, ...]:
    """Every secret that something needs or that is kept, in order of name."""
    needing: dict[str, list[NeededSecret]] = {}
    for one in needed:
        needing.setdefault(one.name, []).append(one)
    configured: dict[str, list[str]] = {}
    for source in sources:
        for name in source.address.variables if isinstance(source, McpSource) else ():
            configured.setdefault(name, []).append(source.name)
    kept = environment.home.names if isinstance(environment, SecretEnvironment) else ()
    found = []
    for name in sorted({*needing, *configured, *kept}):
        blocked = needing.get(name, [])
        sources_of = [*(one.source for one in blocked), *configured.get(name, ())]
        kinds: Counter[str] = Counter()
        for each in blocked:
            kinds[each.kind] += each.count
        found.append(
            SecretStatus(
                name=name,
                origin=_origin(environment, name),
                sources=tuple(dict.fromkeys(sources_of)),
                needed_by=kinds.total(),
                needed=in_words(kinds),
            )
        )
    return tuple(found)


def _origin(environment: Mapping[str, str], name: str) -> str:
    if isinstance(environment, SecretEnvironment):
        return environment.origin(name)
    return "environment" if environment.get(name) else ""


def in_words(kinds: Mapping[str, int]) -> str:
    """Such as "14 tools and 1 prompt"; empty for none."""
    said = [f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in sorted(kinds.items())]
    return " and ".join((", ".join(said[:-1]), said[-1])) if len(said) > 1 else "".join(said)


def blocking(inner_environment: Mapping[str, str], statuses: Iterable[SecretStatus]) -> tuple[Problem, ...]:
    """A problem for each secret that is missing, and one where its home cannot be relied on."""
    found = [status.problem for status in statuses if status.is_missing]
    if isinstance(inner_environment, SecretEnvironment) and (fault := inner_environment.home.fault()):
        file = str(inner_environment.home.file)
        remedy = f"run: chmod 600 {file}" if "others" in fault else "repair it, or set the secrets again"
        found.append(Problem("secrets", file, fault.removeprefix(f"{file}: "), remedy))
    return tuple(found)


def missing_programs(capabilities: Iterable[Capability]) -> tuple[Problem, ...]:
    """What cannot be used because a program or a tool that it requires is not there."""
    needing: dict[str, list[Capability]] = {}
    for capability in capabilities:
        for reason in capability.unavailable:
            if reason.startswith("required tool "):
                needing.setdefault(reason.removeprefix("required tool "), []).append(capability)
    return tuple(_missing_program(why, blocked) for why, blocked in sorted(needing.items()))


def _missing_program(why: str, blocked: Sequence[Capability]) -> Problem:
    tool, _, fault = why.partition(" is ")
    remedy = "install it, or add the source that brings it"
    if fault.startswith("unavailable"):
        remedy = "once it can be used, this can be, too"
    who, verb = in_words(Counter(c.kind for c in blocked)), "needs" if len(blocked) == 1 else "need"
    return Problem(
        "availability",
        ", ".join(dict.fromkeys(c.source for c in blocked)),
        f"{who} {verb} the tool {tool}, which is {fault}",
        remedy,
        "warning",
    )
