"""Values as the journal and the meta-tool write them."""

from prowess.journal.entries import Synced
from prowess.types import Capability, Changes, Hit, JsonObject

PINNED = ("pinned",)
"""Why a hit is there that a profile pins and the request did not find."""


def synced(changes: Changes) -> Synced:
    return Synced(added=changes.added, changed=changes.changed, removed=changes.removed)


def discovered(capability: Capability, hit: Hit) -> JsonObject:
    return {
        "id": capability.id,
        "name": capability.display_name,
        "kind": capability.kind,
        "description": capability.description,
        "category": capability.category,
        "relevance": round(hit.score, 2),
        "available": capability.available,
    }
