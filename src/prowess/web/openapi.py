"""The OpenAPI 3.1 document, read from the table of operations and the types they name."""

from typing import Any

import msgspec

from prowess.web.idempotency import KEY
from prowess.web.operations import JSON, Operation, Table
from prowess.web.problems import PROBLEM, TITLES, HttpProblem

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


def _type_names(operation: Operation) -> list[str]:
    names = ["answer"]
    names += ["query"] if operation.query else []
    return names + (["body"] if operation.body else [])


def _types(operation: Operation) -> list[Any]:
    return [getattr(operation, name) for name in _type_names(operation)]


def _entry(
    operation: Operation, known: dict[str, Schema], components: dict[str, Schema], problem: Schema
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


def _who(operation: Operation) -> str:
    also = "; or the agent itself, with its own token" if operation.agents else ""
    return f"For: {operation.role} or above{also}."


def _in_path(operation: Operation) -> list[Schema]:
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


def _in_headers(operation: Operation) -> list[Schema]:
    if operation.writes and not operation.shown_once:
        says = "Sent again with the same key, a write is answered the same and not done again."
        schema = {"type": "string", "pattern": KEY}
        return [{"name": "Idempotency-Key", "in": "header", "description": says, "schema": schema}]
    return []


def _responses(operation: Operation, answer: Schema, problem: Schema) -> Schema:
    good: Schema = {"description": operation.does, "content": {operation.media: {"schema": answer}}}
    responses: Schema = {str(operation.status): good}
    if operation.method == "GET" and operation.media == JSON:
        good["headers"] = {"ETag": {"schema": {"type": "string"}}}
        responses["304"] = {"description": "Nothing changed"}
    for status in sorted(_refusals(operation)):
        content = {PROBLEM: {"schema": problem}}
        responses[str(status)] = {"description": TITLES[status], "content": content}
    return responses


def _refusals(operation: Operation) -> set[int]:
    found = {401, 403, 404, 409, 421, 422, 429, 503}
    if operation.method != "GET":
        found |= {400, 408, 413, 415}
    return found
