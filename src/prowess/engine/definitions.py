"""The definitions of everything an agent may call, as a model's interface takes them."""

from collections.abc import Collection, Mapping

from prowess.engine.internals import Internals
from prowess.prompt.formats.known import tool_format
from prowess.prompt.render import CALLABLE, tool_definition
from prowess.types import Capability, Detail, Json, JsonObject


def definitions(
    inner: Internals, agent: str, names: Collection[str] | None, authenticated: bool
) -> tuple[JsonObject, ...]:
    """Neutralised, in order of name: so that the same tools are the same text in every request."""
    visible = inner.world(agent).visible(agent, authenticated).capabilities
    offering = inner.parts.offering
    wanted = [offering.clean(each) for each in visible.values() if each.kind in CALLABLE and each.available]
    details = offering.details_of(wanted)
    made = (_definition(each, details[each.id]) for each in wanted if each.id in details)
    chosen = (one for one in made if names is None or one["name"] in names)
    return tuple(sorted(chosen, key=lambda one: str(one["name"])))


def in_format(
    made: tuple[JsonObject, ...], format: str, strict: bool, defer: Collection[str]
) -> tuple[Json, ...]:
    """The same for one provider; as they are without a format."""
    return tuple(tool_format(format).tools(made, strict=strict, defer=defer)) if format else made


def _definition(capability: Capability, detail: Detail) -> JsonObject:
    definition: dict[str, Json] = {**tool_definition(capability, detail)}
    if detail.output_schema is not None:
        definition["output_schema"] = detail.output_schema
    hints = capability.metadata.get("annotations")
    if isinstance(hints, Mapping):
        definition["annotations"] = hints
    return definition
