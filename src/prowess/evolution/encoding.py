"""The values of evolution as text for the store, and back."""

from contextlib import suppress
from dataclasses import asdict, fields, replace

import msgspec

from prowess.errors import EvolutionError
from prowess.evolution.params import Params, parse_params
from prowess.evolution.records import AgentState, Generation
from prowess.evolution.scores import Scores
from prowess.evolution.snapshot import Snapshot
from prowess.journal import canonical
from prowess.types import Json

DecodeStanding = msgspec.json.Decoder(AgentState)
DecodeGeneration = msgspec.json.Decoder(Generation)
DecodeParams = msgspec.json.Decoder(Params)
DecodeScores = msgspec.json.Decoder(Scores)
DecodeSnapshot = msgspec.json.Decoder(tuple[tuple[str, ...], dict[str, tuple[str, ...]], tuple[str, ...]])
DecodeObject = msgspec.json.Decoder(dict[str, Json])
UNREADABLE = (msgspec.DecodeError, EvolutionError, TypeError)
ELSEWHERE = Snapshot()
"""Stands where the snapshot is kept by its digest in a table of its own."""


def standing_text(standing: AgentState) -> str:
    return canonical(replace(standing, seen=ELSEWHERE))


def generation_text(generation: Generation) -> str:
    return canonical(replace(generation, snapshot=ELSEWHERE, rollbacks=0))


def snapshot_from(text: str) -> Snapshot:
    return Snapshot(*DecodeSnapshot.decode(text))


def standing_from(text: str) -> AgentState | None:
    """None where the text cannot be read."""
    with suppress(*UNREADABLE):
        return DecodeStanding.decode(text)
    return None


def generation_from(record: str, snapshot: str, rollbacks: int) -> Generation | None:
    """None where the record or its snapshot cannot be read."""
    with suppress(*UNREADABLE):
        found = DecodeGeneration.decode(record)
        return replace(found, snapshot=snapshot_from(snapshot), rollbacks=rollbacks)
    return None


def scores_from(text: str) -> Scores | None:
    """None where the text cannot be read."""
    with suppress(*UNREADABLE):
        return DecodeScores.decode(text)
    return None


def params_from(text: str) -> Params | None:
    """The defaults where there is no text; None where it cannot be read."""
    with suppress(*UNREADABLE):
        return DecodeParams.decode(text) if text else Params()
    return None


def usable_params(text: str) -> Params:
    """The parameters as kept; of a text that cannot be read whole, those that can be used."""
    return params_from(text) or _parts_of_params(text)


def _parts_of_params(text: str) -> Params:
    found = Params()
    with suppress(*UNREADABLE):
        for name, value in DecodeObject.decode(text).items():
            with suppress(EvolutionError):
                found = parse_params({name: value}, found)
    return found


def stopped_from(text: str) -> str:
    """Why an agent is stopped, from a standing of which the rest cannot be read."""
    with suppress(*UNREADABLE):
        return str(DecodeObject.decode(text).get("stopped", ""))
    return ""


def generation_data(generation: Generation) -> dict[str, object]:
    """A generation as the command line and the API show it."""
    found: dict[str, object] = {field.name: getattr(generation, field.name) for field in fields(generation)}
    return {**found, "scores": generation.scores.as_data(), "snapshot": generation.snapshot.as_data()}


def params_data(params: Params) -> dict[str, object]:
    return asdict(params)
