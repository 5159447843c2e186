"""The operations of an OpenAPI 3 document as tools, each with all that a later call needs.

Above: the `openapi` source. Below: `schemas`. A tool's arguments are the operation's parameters and, where
the body is an object, the body's own properties; `metadata["arguments"]` says where each one goes.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urljoin

from prowess.errors import SourceError
from prowess.sources.files.normalise import parameter_names
from prowess.sources.names import (
    LONGEST_DESCRIPTION,
    LONGEST_NAME,
    cut,
    display_name,
    fault_of_name,
    fault_of_schema,
    legible,
)
from prowess.sources.openapi.arguments import Arguments
from prowess.sources.openapi.media import chosen_media
from prowess.sources.openapi.operation import ApiOperation, Table
from prowess.sources.openapi.schemas import ApiDocument, SchemaDefinitions
from prowess.types import Capability, Detail, Draft, SourceRef

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
ONLY_READ = ("get", "head", "options", "query")
SCHEME_FIELDS = ("type", "in", "name", "scheme")
LONGEST_SUMMARY = 80


def check_version(document: ApiDocument) -> None:
    """Raise unless this is an OpenAPI document of version 3."""
    version = document.root.get("openapi")
    if "swagger" in document.root:
        raise document.fault("is a Swagger 2 document", "convert it to OpenAPI 3")
    if not isinstance(version, str) or not version.startswith("3."):
        raise document.fault("is not an OpenAPI 3 document", "name a document with `openapi: 3.x` in it")
    if not isinstance(document.root.get("paths", {}), Mapping):
        raise document.fault("`paths` is not a mapping")


def operations(document: ApiDocument) -> Iterator[ApiOperation | SourceError]:
    """Every operation in the order of the document; a path that cannot be used is an error in its place."""
    for path, item in document.root.get("paths", {}).items():
        try:
            fields = document.follow(item, "the path")
        except SourceError as error:
            yield SourceError(f"{document.place} {legible(path)}", error.what, error.remedy)
            continue
        for method in METHODS:
            if method in fields and isinstance(fields[method], Mapping):
                yield ApiOperation(path, method, fields[method], fields)
            elif method in fields:
                where = f"{document.place} {method.upper()} {legible(path)}"
                yield SourceError(where, "the operation is not a mapping", "correct it in the document")


class OperationTools:
    """Turns the operations of one document into drafts of one source."""

    def __init__(self, source: str, document: ApiDocument) -> None:
        self._source = source
        self._document = document

    def draft(self, operation: ApiOperation) -> Draft:
        arguments = Arguments(self._document, operation)
        schema = arguments.schema()
        fault = fault_of_name(operation.name) or fault_of_schema(schema)
        if fault:
            raise self._document.fault(fault)
        summary, description = _text(operation, "summary"), _text(operation, "description")
        capability = Capability(
            id=f"tool:{self._source}/{operation.name}",
            kind="tool",
            name=operation.name,
            display_name=_shown(summary) or display_name(operation.name),
            description=cut(_described(summary, description) or str(operation), LONGEST_DESCRIPTION),
            tags=_tags(operation),
            parameters=parameter_names(schema),
            has_side_effects=operation.method not in ONLY_READ,
            provider=self._source,
            source=self._source,
            source_ref=SourceRef("openapi", self._document.place, str(operation)),
            metadata=self._metadata(operation, arguments),
        )
        return Draft(capability, Detail(input_schema=schema, output_schema=self._answer(operation)))

    def _metadata(self, operation: ApiOperation, arguments: Arguments) -> dict[str, Any]:
        security = operation.fields.get("security", self._document.root.get("security", []))
        metadata: dict[str, Any] = {
            "method": operation.method.upper(),
            "path": operation.path,
            "servers": list(self._servers(operation)),
            "arguments": arguments.places,
            "security": security,
            "security_schemes": self._schemes(security),
            **arguments.body,
        }
        if operation.fields.get("deprecated") is True:
            metadata["deprecated"] = True
        return metadata

    def _servers(self, operation: ApiOperation) -> Iterator[str]:
        for holder in (operation.fields, operation.item, self._document.root):
            servers = holder.get("servers")
            if isinstance(servers, list) and servers:
                for server in servers:
                    if isinstance(server, Mapping) and isinstance(server.get("url"), str):
                        yield urljoin(self._document.place, _filled(server["url"], server.get("variables")))
                return

    def _schemes(self, security: Any) -> dict[str, Any]:
        """How each scheme the operation names is presented; never what is presented."""
        components = self._document.root.get("components")
        known = components.get("securitySchemes") if isinstance(components, Mapping) else None
        required = security if isinstance(security, list) else []
        names = sorted({str(name) for one in required if isinstance(one, Mapping) for name in one})
        schemes: dict[str, Any] = {}
        for name in names:
            if isinstance(known, Mapping) and name in known:
                scheme = self._document.follow(known[name], f"security scheme {name!r}")
                schemes[name] = {field: scheme[field] for field in SCHEME_FIELDS if field in scheme}
        return schemes

    def _answer(self, operation: ApiOperation) -> Table | None:
        """The schema of what a call that works returns, where the document has one that can be used."""
        responses = operation.fields.get("responses")
        if not isinstance(responses, Mapping):
            return None
        codes = sorted(str(code) for code in responses)
        good = next((code for code in codes if code.startswith("2")), "default")
        try:
            content = self._document.follow(responses.get(good), "the response").get("content")
            return _whole(self._document, chosen_media(self._document, content).schema)
        except SourceError:
            return None


def _whole(document: ApiDocument, schema: Any) -> Table | None:
    if not isinstance(schema, Mapping):
        return None
    definitions = SchemaDefinitions(document)
    made: dict[str, Any] = definitions.rewritten(schema)
    found = definitions.gathered()
    return made | {"$defs": found} if found else made


# --- words -----------------------------------------------------------------------------------


def _text(operation: ApiOperation, key: str) -> str:
    value = operation.fields.get(key)
    return value.strip() if isinstance(value, str) else ""


def _shown(summary: str) -> str:
    return cut(summary.rstrip("."), LONGEST_NAME) if len(summary) <= LONGEST_SUMMARY else ""


def _described(summary: str, description: str) -> str:
    if not summary or not description or description.startswith(summary):
        return description or summary
    return f"{summary.rstrip('.')}. {description}"


def _tags(operation: ApiOperation) -> tuple[str, ...]:
    tags = operation.fields.get("tags")
    return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()


def _filled(url: str, variables: Any) -> str:
    for name, variable in variables.items() if isinstance(variables, Mapping) else ():
        if isinstance(variable, Mapping) and "default" in variable:
            url = url.replace(f"{{{name}}}", str(variable["default"]))
    return url
