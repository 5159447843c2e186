"""Parts of what is asked of evolution and of what it answers."""

from collections.abc import Mapping
from typing import Annotated

import msgspec

from prowess.operations.operation import Fraction, Name, RequestParams

Names = Annotated[tuple[Name, ...], msgspec.Meta(max_length=10_000)]


class WeightsAsked(RequestParams, frozen=True, kw_only=True, omit_defaults=True):
    cognitive: Fraction | msgspec.UnsetType = msgspec.UNSET
    behavioral: Fraction | msgspec.UnsetType = msgspec.UNSET
    safety: Fraction | msgspec.UnsetType = msgspec.UNSET
    autonomy: Fraction | msgspec.UnsetType = msgspec.UNSET
    meta_learning: Fraction | msgspec.UnsetType = msgspec.UNSET


class SnapshotAsked(RequestParams, frozen=True, kw_only=True):
    active_providers: Names = ()
    provider_faculties: Mapping[Name, Names] = {}
    tools: Names = ()


class SnapshotShown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    active_providers: tuple[str, ...]
    provider_faculties: Mapping[str, tuple[str, ...]]
    tools: tuple[str, ...] = ()


class TrialShown(msgspec.Struct, frozen=True, kw_only=True):
    suspect: str
    """The provider that is off to see whether that helps, or that would be."""
    others: tuple[str, ...]
    """Who is suspected next, the likeliest first."""
    on_again: tuple[str, ...]
    """Who is on again to see whether fitness stays well without the suspect."""
    reason: str
    waits_for_a_person: bool
