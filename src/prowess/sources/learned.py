"""Skills of several steps that were promoted, as capabilities.

Above: the engine, which reads every source and hands over what is stable. Below: nothing is opened here.
The steps are named, never carried out: each is checked by policy when it is used, like anything else.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from prowess.sources.source import Known, Progress, silent
from prowess.types import Capability, Detail, Draft, Provider, SourceEntry, SourceReading, SourceRef

NAME = "learnt"
LONGEST_TITLE = 80
MOST_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """Steps that answered the same kind of request, in order, and the requests that showed it."""

    id: str
    capability: str
    steps: tuple[str, ...]
    requests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LearnedProcedures:
    """Whatever `procedures` returns now."""

    procedures: Callable[[], Sequence[Procedure]]
    name: str = NAME

    @property
    def kind(self) -> str:
        return NAME

    def read(self, known: Known, progress: Progress = silent) -> SourceReading:
        entries = tuple(SourceEntry(each.id, "", (draft(each),)) for each in self.procedures())
        provider = Provider(name=NAME, source=self.name, description="Skills that use has shown to work.")
        return SourceReading(entries=entries, providers=(provider,))


def draft(procedure: Procedure) -> Draft:
    kind, _, name = procedure.capability.partition(":")
    title = procedure.requests[0] if procedure.requests else name
    steps = ", then ".join(procedure.steps)
    capability = Capability(
        id=procedure.capability,
        kind=kind,
        name=name,
        display_name=name,
        description=f"{title[:LONGEST_TITLE]} (use {steps})",
        category="learnt",
        tags=("learnt",),
        required_tools=procedure.steps,
        provider=NAME,
        source_ref=SourceRef(NAME, procedure.id),
    )
    return Draft(capability, Detail(content=_content(procedure)))


def _content(procedure: Procedure) -> str:
    steps = "\n".join(f"{number}. {step}" for number, step in enumerate(procedure.steps, 1))
    shown = "\n".join(f"- {request}" for request in procedure.requests[:MOST_SHOWN])
    return f"Steps, in this order:\n\n{steps}\n\nShown to work for:\n\n{shown}\n"
