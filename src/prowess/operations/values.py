"""Values as the API shows them, where they are not shown as they are."""

import msgspec

from prowess.types import Capability, Detail, JsonObject, SourceRef

FIELDS = tuple(Capability.__dataclass_fields__)


class CapabilityShown(msgspec.Struct, frozen=True, kw_only=True):
    """Anything an agent can use."""

    id: str
    kind: str
    name: str
    display_name: str
    description: str
    category: str
    tags: tuple[str, ...]
    parameters: tuple[str, ...]
    required_secrets: tuple[str, ...]
    required_tools: tuple[str, ...]
    has_side_effects: bool
    provider: str
    source: str
    source_ref: SourceRef
    metadata: JsonObject
    digest: str
    unavailable: tuple[str, ...]
    available: bool


class CapabilityWhole(CapabilityShown, frozen=True, kw_only=True):
    """A capability with its schema and its content."""

    detail: Detail


def shown(capability: Capability) -> CapabilityShown:
    return CapabilityShown(**_fields(capability), available=capability.available)  # type: ignore[arg-type]


def whole(capability: Capability, detail: Detail) -> CapabilityWhole:
    return CapabilityWhole(
        **_fields(capability), available=capability.available, detail=detail  # type: ignore[arg-type]
    )  # fmt: skip


def _fields(capability: Capability) -> dict[str, object]:
    return {name: getattr(capability, name) for name in FIELDS}
