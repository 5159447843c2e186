"""What a model is told when a call cannot be made, and texts of others past the sanitiser."""

from collections.abc import Iterable, Mapping, Sized
from typing import Any, Literal

from prowess.errors import Denied, nearest
from prowess.guard.sanitise import admit
from prowess.tool_names import tool_name
from prowess.types import Capability, JsonObject

Way = Literal["direct", "call_read_only", "call_with_effects", "pinned", "resource", "prompt"]
"""How a call came: from a program, by one of the gateway's two tools, under a tool's own name, as a resource
or as a prompt."""
READ: Way = "call_read_only"
EFFECTS: Way = "call_with_effects"
DATA = ("default", "const", "enum", "examples", "required")
"""Keys of a schema whose values are not schemas."""

TEXT_KINDS = ("skill", "card")
CALLED_SOURCES = ("mcp", "functions", "events", "openapi")
MAX_NAME_SHOWN = 200
NO_SUCH = "There is no capability"
MAX_NAMES_COMPARED = 5000

REJECTED = "is not shown: the guard rejects this card. A person can see why: prowess cards check"
BUSY = "The store of prowess cannot be written to right now, so this call was not made. Try again soon."


def unknown(name: str, visible: Iterable[str] = ()) -> str:
    """The one answer for what does not exist and for what the caller may not know of.

    name: as it was asked for.
    visible: the ids that the caller may know of; the nearest is suggested.
    """
    close = near(name, visible)
    hint = f" Did you mean {close!r}?" if close else ""
    return f"{NO_SUCH} {name[:MAX_NAME_SHOWN]!r} here.{hint} discover_capabilities finds what there is."


def unfit_for_policy(refusal: Denied) -> str:
    """Policy says no to these arguments of something that the caller may use with others."""
    return f"{refusal.id} was not called with these arguments: {'; '.join(refusal.decision.conditions)}."


def near(name: str, visible: Iterable[str]) -> str:
    """The id or the tool's name that is nearest to a name, in the form it was asked in."""
    # A very large catalogue must not even be listed for that.
    if len(name) > MAX_NAME_SHOWN or (isinstance(visible, Sized) and len(visible) > MAX_NAMES_COMPARED):
        return ""
    ids = list(visible)
    if ":" in name:
        return nearest(name, ids)
    names = [tool_name(id) for id in ids]
    endings = [one for one in names if one.endswith(f"__{name}")]
    return endings[0] if len(endings) == 1 else nearest(name, names)


def waits(id: str) -> str:
    """For a model: nothing that it, or a shell it has, could answer the question with."""
    return f"{id} waits for a person, who has been asked. Call it again later, with the same arguments."


def callable_here(capability: Capability) -> bool:
    """Whether prowess itself can carry a call out; else the host must."""
    return capability.kind in TEXT_KINDS or capability.source_ref.kind in CALLED_SOURCES


def clean(text: str) -> str:
    """A text that others wrote, past the sanitiser."""
    return str(admit(text, "tool_description"))


def clean_schema(schema: JsonObject) -> dict[str, Any]:
    """A schema whose texts passed the sanitiser, without the titles that generators repeat names in."""
    return {
        key: _clean(value, key not in DATA)
        for key, value in schema.items()
        if key != "title" or not isinstance(value, str)
    }


def _clean(value: Any, is_schema: bool) -> Any:
    """Whatever it stands under, a text can be read by the model; honest ones come out as they went in."""
    if isinstance(value, Mapping):
        return clean_schema(value) if is_schema else {key: _clean(one, False) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(one, is_schema) for one in value]
    return str(admit(value, "schema_field")) if isinstance(value, str) else value
