"""The arguments of one operation: one schema for all of them, and where each goes in a call.

Above: `operations`. Below: `media` and `encodings`, for what a body is made of.
"""

import re
from collections.abc import Mapping
from typing import Any

from prowess.sources.names import LONGEST_DESCRIPTION, cut
from prowess.sources.openapi.encodings import (
    BASE64_NOTE,
    STYLE_FIELDS,
    encodings,
    fault_of_media,
    shown_bytes,
)
from prowess.sources.openapi.media import Media, chosen_media
from prowess.sources.openapi.operation import ApiOperation, Table
from prowess.sources.openapi.schemas import ApiDocument, SchemaDefinitions

PLACES = ("path", "query", "querystring", "header", "cookie")
OWN_HEADERS = (
    *("accept", "content-type", "authorization"),
    *("host", "content-length", "transfer-encoding", "connection"),
)
"""A caller's client sets these itself; the first three the specification says to ignore as parameters."""
PATH_NAME = re.compile(r"\{([^{}]*)\}")
PLAIN_TYPES = ("string", "integer", "number", "boolean")


class Arguments:
    """The arguments of one operation, and what of its body a later call needs to know."""

    def __init__(self, document: ApiDocument, operation: ApiOperation) -> None:
        self._document = document
        self._definitions = SchemaDefinitions(document)
        self._properties: dict[str, Any] = {}
        self._required: list[str] = []
        self.places: dict[str, dict[str, Any]] = {}
        self.body: dict[str, Any] = {}
        self._more: Any = None
        for parameter in self._parameters(operation):
            self._add_parameter(parameter)
        self._check_path(operation.path)
        if "requestBody" in operation.fields:
            self._add_body(document.follow(operation.fields["requestBody"], "the body"))

    def schema(self) -> dict[str, Any]:
        made: dict[str, Any] = {"type": "object", "properties": self._properties}
        if self._required:
            made["required"] = self._required
        if self._more:
            made["additionalProperties"] = self._definitions.rewritten(self._more)
        found = self._definitions.gathered()
        return made | {"$defs": found} if found else made

    # --- parameters ----------------------------------------------------------------------------

    def _parameters(self, operation: ApiOperation) -> list[Table]:
        """Those of the path, then the operation's own, which replace them."""
        found: dict[tuple[str, str], Table] = {}
        for holder in (operation.item, operation.fields):
            listed = holder.get("parameters", [])
            if not isinstance(listed, list):
                raise self._document.fault("`parameters` is not a list")
            for one in listed:
                parameter = self._document.follow(one, "a parameter")
                place, name = parameter.get("in"), parameter.get("name")
                if place not in PLACES or not isinstance(name, str) or not name:
                    raise self._document.fault("a parameter has no name, or no place to go")
                if place != "header" or name.lower() not in OWN_HEADERS:
                    found[place, name] = parameter
        return list(found.values())

    def _add_parameter(self, parameter: Table) -> None:
        place, name = parameter["in"], parameter["name"]
        where: dict[str, Any] = {"in": place, "name": name}
        schema = parameter.get("schema")
        if schema is None:
            media = chosen_media(self._document, parameter.get("content"))
            schema = media.schema or {}
            where |= self._content(media)
        else:
            where |= {key: parameter[key] for key in STYLE_FIELDS if key in parameter}
        made = self._definitions.rewritten(schema)
        if isinstance(made, Mapping) and "description" not in made and _is_text(parameter.get("description")):
            made = {**made, "description": cut(parameter["description"], LONGEST_DESCRIPTION)}
        self._add(name, f"{place}_{name}", made, where, place == "path" or parameter.get("required") is True)

    def _content(self, media: Media) -> dict[str, Any]:
        """What a call needs to know of a parameter that is written as a kind of content."""
        if not media.type:
            return {}
        found = encodings(self._document, media) if media.kind == "form" else {}
        return {"content": media.kind} | ({"encoding": found} if found else {})

    def _check_path(self, path: str) -> None:
        if not str(path).startswith("/"):
            # Behind the name of a host it would be part of that name.
            raise self._document.fault("its path does not begin with a slash")
        declared = {place["name"] for place in self.places.values() if place["in"] == "path"}
        for name in PATH_NAME.findall(path):
            if name not in declared:
                raise self._document.fault(f"its path has {{{name}}}, which no parameter declares")

    # --- the body ------------------------------------------------------------------------------

    def _add_body(self, body: Table) -> None:
        media = chosen_media(self._document, body.get("content"))
        if not media.type:
            return
        fault = fault_of_media(self._document, media)
        if fault:
            raise self._document.fault(fault, "offer it as JSON, a form, text or bytes, too")
        is_form = media.kind in ("form", "multipart")
        found = encodings(self._document, media) if is_form else {}
        self.body = {"content_type": media.type} | ({"encoding": found} if found else {})
        required = body.get("required") is True
        whole = self._document.follow(media.schema, "the body's schema") if media.schema else {}
        properties = whole.get("properties")
        if media.kind in ("text", "bytes"):
            self._add_whole(self._written(media, whole), required)
        elif isinstance(properties, Mapping) and properties and self._is_plain(whole, properties):
            wanted = whole.get("required") if required else None
            for name, schema in properties.items():
                is_wanted = isinstance(wanted, list) and name in wanted
                self._add_property(name, shown_bytes(schema, found.get(name, {})), is_wanted)
            self._more = whole.get("additionalProperties")
            self.body |= {"body_required": True} if required else {}
            self.body |= {"body_open": True} if self._more else {}
        else:
            shown = self._definitions.rewritten(media.schema)
            self._add_whole(_with_note(shown, [key for key in found if found[key].get("bytes")]), required)

    def _is_plain(self, schema: Table, properties: Table) -> bool:
        """Whether the body's properties can stand beside the parameters as arguments of their own."""
        composed = any(key in schema for key in ("oneOf", "anyOf", "allOf", "not", "if"))
        return not composed and not self._properties.keys() & properties.keys()

    def _written(self, media: Media, whole: Table) -> Any:
        """The schema of a body that a model gives as text."""
        if media.kind == "bytes":
            return shown_bytes(whole, {"bytes": "raw", "contentType": media.type})
        if whole.get("type") in PLAIN_TYPES:
            return self._definitions.rewritten(media.schema)
        made = {"type": "string", "contentMediaType": media.type}
        return made | ({"contentSchema": self._definitions.rewritten(media.schema)} if whole else {})

    def _add_whole(self, schema: Any, required: bool) -> None:
        self._add("body", "request_body", schema, {"in": "body", "name": ""}, required)

    def _add_property(self, name: str, schema: Any, required: bool) -> None:
        self._add(name, name, self._definitions.rewritten(schema), {"in": "body", "name": name}, required)

    def _add(self, name: str, other: str, schema: Any, place: dict[str, Any], required: bool) -> None:
        """One argument; by its other name if something else has the first already."""
        argument = name
        while argument in self._properties:
            argument = other
            other = f"{other}_"
        self._properties[argument] = schema
        self.places[argument] = place
        if required:
            self._required.append(argument)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _with_note(schema: Any, fields: list[str]) -> Any:
    """The schema with the names of the fields that hold bytes, and how those are given."""
    if not fields or not isinstance(schema, Mapping):
        return schema
    note = f"{', '.join(fields)}: {BASE64_NOTE}"
    return {**schema, "description": f"{schema.get('description', '')} {note}".strip()}
