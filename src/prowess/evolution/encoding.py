"""The values of evolution as text for the store, and back."""

from dataclasses import asdict, fields, replace

import msgspec

from prowess.evolution.params import Params
from prowess.evolution.records import Generation, Standing
from prowess.evolution.scores import Scores
from prowess.evolution.snapshot import Snapshot
from prowess.journal import canonical

DecodeStanding = msgspec.json.Decoder(Standing)
DecodeGeneration = msgspec.json.Decoder(Generation)
DecodeParams = msgspec.json.Decoder(Params)
DecodeScores = msgspec.json.Decoder(Scores)
DecodeSnapshot = msgspec.json.Decoder(tuple[tuple[str, ...], dict[str, tuple[str, ...]], tuple[str, ...]])
ELSEWHERE = Snapshot()
"""Stands where the snapshot is kept by its digest in a table of its own."""


def standing_text(standing: Standing) -> str:
    return canonical(replace(standing, seen=ELSEWHERE))


def generation_text(generation: Generation) -> str:
    return canonical(replace(generation, snapshot=ELSEWHERE, rollbacks=0))


def snapshot_from(text: str) -> Snapshot:
    return Snapshot(*DecodeSnapshot.decode(text))


def generation_from(record: str, snapshot: str, rollbacks: int) -> Generation:
    found = DecodeGeneration.decode(record)
    return replace(found, snapshot=snapshot_from(snapshot), rollbacks=rollbacks)


def params_from(text: str) -> Params:
    return DecodeParams.decode(text) if text else Params()


def generation_data(generation: Generation) -> dict[str, object]:
    """A generation as the command line and the API show it."""
    found: dict[str, object] = {field.name: getattr(generation, field.name) for field in fields(generation)}
    return {**found, "scores": generation.scores.as_data(), "snapshot": generation.snapshot.as_data()}


def params_data(params: Params) -> dict[str, object]:
    return asdict(params)
