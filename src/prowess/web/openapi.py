"""The OpenAPI 3.1 document, read from the table of operations and the types they name."""

from typing import Any

import msgspec

from prowess.errors import ProwessError, StoreError
from prowess.operations.operation import JSON, AnyOperation, Table
from prowess.web.idempotency import KEY
from prowess.web.problems import PROBLEM, TITLES, HttpProblem, status_of

REF = "#/components/schemas/{name}"

Schema = dict[str, Any]


def document(table: Table, version: str) -> Schema:
    types = [HttpProblem, *(kind for operation in table.operations for kind in _types(operation))]
    schemas, components = msgspec.json.schema_components(types, ref_template=REF)
    found = iter(schemas)
    problem = next(found)
    paths: dict[str, Schema] = {}
    for operation in table.operations:
        known = {id: next(found) for id in _type_names(operation)}
        entry = _entry(operation, known, components, problem)
        paths.setdefault(f"/api/v1{operation.path}", {})[operation.method.lower()] = entry
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "prowess",
            "version": version,
            "description": "What an AI agent can do: what exists, what it may use, what it needs now.",
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}, {"session": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "prowess access-token add NAME"},
                "session": {"type": "apiKey", "in": "cookie", "name": "prowess_session"},
            },
        },
    }


def _type_names(operation: AnyOperation) -> list[str]:
    names = ["answer"]
    names += ["query"] if operation.query else []
    return names + (["body"] if operation.body else [])


def _types(operation: AnyOperation) -> list[Any]:
    types = [operation.answer if operation.media == JSON else str, operation.query, operation.body]
    return [kind for kind in types if kind]


def _entry(
    operation: AnyOperation, known: dict[str, Schema], components: dict[str, Schema], problem: Schema
) -> Schema:
    group = operation.path.strip("/").partition("/")[0]
    entry: Schema = {
        "operationId": operation.id,
        "summary": operation.does,
        "description": _who(operation),
        "tags": [group],
        "parameters": [*_in_path(operation), *_in_query(known, components), *_in_headers(operation)],
        "responses": _responses(operation, known["answer"], problem),
    }
    if "body" in known:
        entry["requestBody"] = {"required": True, "content": {JSON: {"schema": known["body"]}}}
    return entry


def _who(operation: AnyOperation) -> str:
    also = "; or the agent itself, with its own token" if operation.agents else ""
    return f"For: {operation.role} or above{also}."


def _in_path(operation: AnyOperation) -> list[Schema]:
    schema = {"type": "string", "minLength": 1}
    return [{"name": name, "in": "path", "required": True, "schema": schema} for name in operation.names]


def _in_query(known: dict[str, Schema], components: dict[str, Schema]) -> list[Schema]:
    if "query" not in known:
        return []
    asked = components[known["query"]["$ref"].rpartition("/")[2]]
    needed = asked.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in needed, "schema": schema}
        for name, schema in asked["properties"].items()
    ]


def _in_headers(operation: AnyOperation) -> list[Schema]:
    if operation.writes and not operation.shown_once:
        says = "Sent again with the same key, a write is answered the same and not done again."
        schema = {"type": "string", "pattern": KEY}
        return [{"name": "Idempotency-Key", "in": "header", "description": says, "schema": schema}]
    return []


def _responses(operation: AnyOperation, answer: Schema, problem: Schema) -> Schema:
    good: Schema = {"description": operation.does, "content": {operation.media: {"schema": answer}}}
    responses: Schema = {str(operation.status): good}
    if operation.method == "GET" and operation.media == JSON:
        good["headers"] = {"ETag": {"schema": {"type": "string"}}}
        responses["304"] = {"description": "Nothing changed"}
    for status, names in sorted(_refusals(operation).items()):
        content = {PROBLEM: {"schema": problem}}
        which = f" ({', '.join(sorted(names))})" if names else ""
        responses[str(status)] = {"description": f"{TITLES[status]}{which}", "content": content}
    return responses


def _refusals(operation: AnyOperation) -> dict[int, set[str]]:
    """Statuses -> the errors of the operation behind them; some come from HTTP itself."""
    found: dict[int, set[str]] = {status: set() for status in (401, 403, 421, 422, 429)}
    if operation.names:
        found[404] = set()
    if operation.method != "GET":
        found |= {status: set() for status in (400, 408, 413, 415)}
    if operation.writes:
        found[409] = set()  # an Idempotency-Key that was used for something else
    raised: tuple[type[ProwessError], ...] = (StoreError, *operation.errors)
    for error in raised:
        found.setdefault(status_of(error), set()).add(error.__name__)
    return found
