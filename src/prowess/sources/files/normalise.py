"""One normal form for whatever a file declares: ids, names, defaults and what they rest on.

Above: the sources. Normalisation is deterministic: the same fields always give the same draft.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from prowess.errors import SourceError
from prowess.sources.files.fields import LONGEST_NAME, Fields
from prowess.text.values import Json, quoted
from prowess.types import EXAMPLES, KINDS, Capability, Detail, Draft, JsonObject, SourceRef

LONGEST_ID = 200
DECLARED = (
    *("id", "kind", "name", "display_name", "description", "category", "tags", "metadata", "available"),
    *("required_secrets", "required_tools", "required_capabilities", "has_side_effects"),
    *("input_schema", "output_schema", "examples"),
)
"""The fields every declared capability may have, whichever file declares it."""

HARMLESS = frozenset({"skill", "card"})
"""Kinds that are text to read: without a word about side effects, they have none."""

RESERVED_PREFIXES = frozenset({*KINDS, "host", "prompt", "resource", "agent", "profile"})
"""What an id of another kind may not begin with: rules and names read something into it."""
LONGEST_EXAMPLE = 300

_CATEGORY = {"channel": "communication"}
_KIND = re.compile(r"[a-z][a-z0-9_-]{0,31}\Z")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}\Z")


class Origin(NamedTuple):
    """What a draft is made for: the source, the provider that brings it, and where it stands."""

    source: str
    provider: str
    ref: SourceRef


class Texts(NamedTuple):
    """What stands in files of its own beside a declaration."""

    input_schema: JsonObject | None = None
    content: str | None = None


NO_TEXTS = Texts()


def declared(fields: Fields, kind: str, origin: Origin, texts: Texts = NO_TEXTS) -> Draft:
    """The draft of a capability that these fields declare."""
    name = fields.label("name", LONGEST_NAME) or fields.required("name")
    schema = fields.mapping("input_schema") or texts.input_schema
    capability = Capability(
        id=_declared_id(fields, kind, name),
        kind=kind,
        name=name,
        display_name=fields.label("display_name") or default_display_name(kind, name),
        description=fields.required("description"),
        category=fields.label("category", 64) or default_category(kind),
        tags=fields.labels("tags", 64),
        parameters=parameter_names(schema),
        required_secrets=secret_names(fields),
        required_tools=fields.labels("required_tools"),
        has_side_effects=side_effects(kind, fields.flag("has_side_effects")),
        provider=origin.provider,
        source=origin.source,
        source_ref=origin.ref,
        metadata=_metadata(fields),
    )
    output = fields.mapping("output_schema")
    return Draft(capability, Detail(input_schema=schema, output_schema=output, content=texts.content))


def _declared_id(fields: Fields, kind: str, name: str) -> str:
    identity = fields.label("id", LONGEST_ID) or f"{kind}:{name}"
    return checked_id(identity, kind, fields.place)


def checked_id(identity: str, kind: str, place: str) -> str:
    """This id, if it is one: a kind, a colon, and a printable name."""
    if not _KIND.match(kind):
        remedy = "use a lower-case word such as tool, skill or channel"
        raise SourceError(place, f"the kind {quoted(kind)} is not a lower-case word", remedy)
    prefix, _, name = identity.partition(":")
    if not _KIND.match(prefix) or not name:
        what = f"the id {quoted(identity)} is not a word, a colon and a name"
        raise SourceError(place, what, f"write it as '{kind}:name'")
    if prefix != kind and prefix in RESERVED_PREFIXES:
        what = f"the id {quoted(identity)} is that of a {prefix}, and its kind is {kind}"
        raise SourceError(place, what, f"write it as '{kind}:name', or begin it with a word of your own")
    if not identity.isprintable() or identity != identity.strip() or len(identity) > LONGEST_ID:
        what = f"the id {quoted(identity)} is not one plain line of at most {LONGEST_ID} characters"
        raise SourceError(place, what, "choose a short name without control characters")
    return identity


def _metadata(fields: Fields) -> JsonObject:
    metadata: dict[str, Json] = dict(fields.mapping("metadata") or {})
    if examples := fields.labels("examples", LONGEST_EXAMPLE):
        metadata[EXAMPLES] = list(examples)
    if needed := fields.labels("required_capabilities", LONGEST_ID):
        metadata["required_capabilities"] = list(needed)
    if fields.flag("available") is False:
        metadata["declared_available"] = False
    return metadata


def secret_names(fields: Fields, name: str = "required_secrets") -> tuple[str, ...]:
    names = fields.labels(name)
    if all(VARIABLE.match(item) for item in names):
        return names
    # The item is not shown: somebody may have written the secret itself.
    raise fields.error(
        f"an item of {name!r} is not the name of an environment variable",
        "list names such as API_KEY there, never values",
    )


def side_effects(kind: str, stated: bool | None) -> bool:
    return kind not in HARMLESS if stated is None else stated


def default_category(kind: str) -> str:
    return _CATEGORY.get(kind, "general")


def default_display_name(kind: str, name: str) -> str:
    return title(name) if kind == "skill" else name


def title(name: str) -> str:
    """github-pr becomes Github Pr."""
    return " ".join(word[:1].upper() + word[1:] for word in re.split(r"[-_\s]+", name) if word) or name


def parameter_names(schema: JsonObject | None) -> tuple[str, ...]:
    properties = schema.get("properties") if schema else None
    return tuple(properties) if isinstance(properties, Mapping) else ()
