"""The `openapi` source: every operation a tool, one bad operation a problem, no document a trap."""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.errors import ConfigError
from prowess.sources.openapi.source import OpenApiSource
from prowess.types import Draft, SourceReading
from tests.support.ports import LOOKS

PETS = """
openapi: 3.0.3
info: {title: Pets, version: "1"}
servers:
  - url: https://{region}.pets.example/v1
    variables: {region: {default: eu}}
security: [{key: []}]
paths:
  /pets/{petId}:
    parameters:
      - {name: petId, in: path, required: true, schema: {type: integer}, description: Which pet.}
      - {name: verbose, in: query, schema: {type: boolean}}
    get:
      operationId: getPet
      summary: Get a pet.
      description: With everything that is known about it.
      tags: [pets]
      parameters:
        - $ref: '#/components/parameters/Trace'
        - {name: verbose, in: query, required: true, schema: {type: string}}
        - {name: Accept, in: header, schema: {type: string}}
      responses:
        "200": {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Pet'}}}}
    put:
      summary: Change a pet
      deprecated: true
      security: []
      requestBody:
        required: true
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Pet'}
      responses: {}
  /pets:
    post:
      requestBody:
        content:
          application/json:
            schema: {type: array, items: {$ref: '#/components/schemas/Pet'}}
      responses: {}
components:
  parameters:
    Trace: {name: X-Trace, in: header, schema: {type: string}, explode: false}
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key, description: Ask for one.}
  schemas:
    Pet:
      type: object
      required: [name]
      properties:
        name: {type: string, nullable: true}
        parent: {$ref: '#/components/schemas/Pet'}
        nullable: {type: string}
"""


def reading(tmp_path: Path, document: str | dict[str, Any], **more: Any) -> SourceReading:
    file = tmp_path / "api"
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return OpenApiSource(name="pets", location=str(file), **more).read({})


def drafts(found: SourceReading) -> dict[str, Draft]:
    return {draft.capability.id: draft for entry in found.entries for draft in entry.drafts or ()}


def document(paths: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": paths, **more}


@pytest.fixture
def pets(tmp_path: Path) -> dict[str, Draft]:
    found = reading(tmp_path, PETS)
    assert found.problems == ()
    return drafts(found)


def test_every_operation_is_a_tool_named_by_its_id_or_its_method_and_path(pets: dict[str, Draft]) -> None:
    assert sorted(pets) == ["tool:pets/getPet", "tool:pets/post_pets", "tool:pets/put_pets_petId"]
    get = pets["tool:pets/getPet"].capability
    assert get.display_name == "Get a pet"
    assert get.description == "Get a pet. With everything that is known about it."
    assert get.tags == ("pets",)
    assert pets["tool:pets/post_pets"].capability.display_name == "Post Pets"


def test_only_what_may_change_something_has_side_effects(pets: dict[str, Draft]) -> None:
    assert not pets["tool:pets/getPet"].capability.has_side_effects
    assert pets["tool:pets/put_pets_petId"].capability.has_side_effects


def test_parameters_of_the_path_and_of_the_operation_are_one_schema(pets: dict[str, Draft]) -> None:
    schema = pets["tool:pets/getPet"].detail.input_schema
    assert schema == {
        "type": "object",
        "properties": {
            "petId": {"type": "integer", "description": "Which pet."},
            "verbose": {"type": "string"},
            "X-Trace": {"type": "string"},
        },
        "required": ["petId", "verbose"],
    }


def test_the_properties_of_an_object_body_are_arguments_and_any_other_body_is_one(
    pets: dict[str, Draft],
) -> None:
    put, post = pets["tool:pets/put_pets_petId"], pets["tool:pets/post_pets"]
    assert put.capability.parameters == ("petId", "verbose", "name", "parent", "nullable")
    assert put.detail.input_schema is not None
    assert put.detail.input_schema["required"] == ["petId", "name"]
    assert put.capability.metadata["arguments"]["name"] == {"in": "body", "name": "name"}
    assert post.capability.metadata["arguments"] == {"body": {"in": "body", "name": ""}}


def test_what_a_later_call_needs_is_kept_and_no_secret_is_invented(pets: dict[str, Draft]) -> None:
    get, put = pets["tool:pets/getPet"].capability, pets["tool:pets/put_pets_petId"].capability
    assert get.metadata == {
        "method": "GET",
        "path": "/pets/{petId}",
        "servers": ["https://eu.pets.example/v1"],
        "arguments": {
            "petId": {"in": "path", "name": "petId"},
            "verbose": {"in": "query", "name": "verbose"},
            "X-Trace": {"in": "header", "name": "X-Trace", "explode": False},
        },
        "security": [{"key": []}],
        "security_schemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}},
    }
    assert put.metadata["security"] == [] and put.metadata["deprecated"] is True
    assert put.metadata["content_type"] == "application/json"
    assert get.required_secrets == ()


def test_a_schema_that_refers_to_itself_stays_finite(pets: dict[str, Draft]) -> None:
    schema = pets["tool:pets/put_pets_petId"].detail.input_schema
    assert schema is not None
    assert schema["properties"]["parent"] == {"$ref": "#/$defs/Pet"}
    assert schema["$defs"]["Pet"]["properties"]["parent"] == {"$ref": "#/$defs/Pet"}
    assert schema["$defs"]["Pet"]["properties"]["name"] == {"type": ["string", "null"]}
    assert "nullable" in schema["$defs"]["Pet"]["properties"]


def test_json_and_yaml_of_one_document_give_the_same_tools(tmp_path: Path, pets: dict[str, Draft]) -> None:
    from prowess.text.documents import parse_yaml

    assert drafts(reading(tmp_path, json.dumps(parse_yaml(PETS, "pets")))) == pets


def test_two_parameters_with_one_name_are_two_arguments(tmp_path: Path) -> None:
    both = [{"name": "id", "in": "path", "schema": {}}, {"name": "id", "in": "query", "schema": {}}]
    found = drafts(reading(tmp_path, document({"/a/{id}": {"get": {"parameters": both}}})))
    (draft,) = found.values()
    assert draft.capability.metadata["arguments"] == {
        "id": {"in": "path", "name": "id"},
        "query_id": {"in": "query", "name": "id"},
    }


# --- what is wrong -----------------------------------------------------------------------------

BAD: dict[str, Any] = {
    "external": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "other.yaml#/A"}}}}},
    "remote": {"parameters": [{"$ref": "https://example.com/a.json"}]},
    "missing": {"parameters": [{"$ref": "#/components/parameters/None"}]},
    "turning": {"parameters": [{"$ref": "#/components/parameters/A"}]},
    "nameless": {"parameters": [{"in": "query"}]},
    "misplaced": {"parameters": [{"name": "x", "in": "body"}]},
    "listless": {"parameters": {"name": "x"}},
    "wordy": {"operationId": "x" * 300},
    "text": "not a mapping",
}


@pytest.mark.parametrize("kind", BAD)
def test_one_bad_operation_is_a_problem_and_the_others_stay(tmp_path: Path, kind: str) -> None:
    turning = {
        "parameters": {"A": {"$ref": "#/components/parameters/B"}, "B": {"$ref": "#/components/parameters/A"}}
    }
    paths = {"/bad": {"post": BAD[kind]}, "/good": {"get": {"operationId": "good"}}}
    found = reading(tmp_path, document(paths, components=turning))
    assert list(drafts(found)) == ["tool:pets/good"]
    (problem,) = found.problems
    assert problem.place.endswith("POST /bad") and problem.remedy
    assert found.entries[0].stamp == ""


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/a/{id}", "its path has {id}, which no parameter declares"),
        ("a/b", "its path does not begin with a slash"),
    ],
)
def test_a_path_that_leads_elsewhere_or_cannot_be_filled_is_a_problem(
    tmp_path: Path, path: str, what: str
) -> None:
    found = reading(tmp_path, document({path: {"get": {}}}))
    assert drafts(found) == {}
    assert [problem.what for problem in found.problems] == [what]


def test_of_two_operations_with_one_id_the_second_is_a_problem(tmp_path: Path) -> None:
    paths = {"/a": {"get": {"operationId": "same"}}, "/b": {"get": {"operationId": "same"}}}
    found = reading(tmp_path, document(paths))
    assert len(drafts(found)) == 1
    assert "names another operation too" in found.problems[0].what


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is empty"),
        ("{", "not valid JSON"),
        ("a: [", "not valid YAML"),
        ("[]", "must be a mapping"),
        ("swagger: '2.0'", "Swagger 2"),
        ("title: x", "not an OpenAPI 3"),
        ("openapi: 3.0.0\npaths: []", "`paths` is not a mapping"),
        ("{" * 100_000, "not valid JSON"),
    ],
)
def test_a_document_that_cannot_be_used_is_down_with_its_reason(tmp_path: Path, text: str, what: str) -> None:
    found = reading(tmp_path, text)
    assert what in found.down
    assert found.providers[0].down == found.down


def test_a_document_that_does_not_exist_is_down(tmp_path: Path) -> None:
    assert "does not exist" in OpenApiSource(name="a", location=str(tmp_path / "none.yaml")).read({}).down


def test_a_document_of_more_operations_than_the_limit_is_cut_with_a_warning(tmp_path: Path) -> None:
    paths: dict[str, Any] = {f"/p{number}": {"get": {}} for number in range(30)}
    found = reading(tmp_path, document(paths), max_items=20)
    assert len(drafts(found)) == 20
    assert found.problems[0].severity == "warning"


def test_schemas_that_refer_to_very_many_others_are_cut_at_a_limit(tmp_path: Path) -> None:
    following = {
        f"S{n}": {"properties": {"next": {"$ref": f"#/components/schemas/S{n + 1}"}}} for n in range(999)
    }
    body = {
        "content": {
            "application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/S0"}}}
        }
    }
    components = {"schemas": following | {"S999": {}}}
    found = reading(tmp_path, document({"/a": {"post": {"requestBody": body}}}, components=components))
    (draft,) = drafts(found).values()
    assert draft.detail.input_schema is not None
    assert len(draft.detail.input_schema["$defs"]) == 200


@pytest.mark.parametrize("wrong", [{"name": "a/b", "location": "x"}, {"name": "a", "location": ""}])
def test_a_source_without_a_usable_name_or_place_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        OpenApiSource(**wrong)  # type: ignore[arg-type]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=6) | st.just("#/paths"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "get",
                    "parameters",
                    "requestBody",
                    "content",
                    "schema",
                    "$ref",
                    "properties",
                    "servers",
                    "in",
                    "name",
                    "multipart/form-data",
                    "image/*",
                    "encoding",
                    "headers",
                    "contentType",
                    "contentMediaType",
                    "type",
                    "items",
                    "allOf",
                    "anyOf",
                    "additionalProperties",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@pytest.mark.slow
@settings(max_examples=200)
@given(VALUES, VALUES, VALUES)
def test_whatever_a_document_holds_reading_it_never_raises(
    tmp_path_factory: pytest.TempPathFactory, paths: Any, security: Any, operation: Any
) -> None:
    whole = document(
        {"/a": paths, "/b": {"get": operation}}, security=security, components=paths, servers=paths
    )
    found = reading(tmp_path_factory.mktemp("api"), whole)
    assert all(json.dumps(draft.detail.input_schema) for draft in drafts(found).values())


# --- again and from the web --------------------------------------------------------------------


def test_a_file_that_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    file = tmp_path / "api.yaml"
    file.write_text(PETS)
    os.utime(file, (1, 1))
    source = OpenApiSource(name="pets", location=str(file), now=lambda: time.time() + 10)
    (entry,) = source.read({}).entries
    assert entry.stamp
    (again,) = source.read({entry.place: entry.stamp}).entries
    assert (again.stamp, again.drafts) == (entry.stamp, None)
    assert source.paths == (str(file),)


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path.startswith("/gone"):
            self.send_error(404)
            return
        self.send_response(200)
        self.end_headers()
        if self.path.startswith("/drip"):
            with_patience(self)
        else:
            self.wfile.write(PETS.encode().replace(b"https://{region}.pets.example/v1", b"/v1"))

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def with_patience(page: Page) -> None:
    for _ in range(100):
        try:
            page.wfile.write(b"#")
            page.wfile.flush()
        except OSError:
            return
        time.sleep(0.05)


@contextmanager
def web() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, args=(LOOKS,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_a_document_on_the_web_is_read_and_its_servers_are_made_whole() -> None:
    with web() as address:
        source = OpenApiSource(name="pets", location=f"{address}/api.yaml?key=sesame")
        found = source.read({})
        tool = drafts(found)["tool:pets/getPet"].capability
        assert tool.metadata["servers"] == [f"{address}/v1"]
        assert "sesame" not in repr(found)
        (entry,) = found.entries
        assert source.read({entry.place: entry.stamp}).entries[0].drafts is None
        assert source.paths == ()


def test_a_document_that_is_gone_from_the_web_is_down_with_its_status() -> None:
    with web() as address:
        assert (
            OpenApiSource(name="a", location=f"{address}/gone").read({}).down
            == "the server answered HTTP 404"
        )


def test_a_server_that_drips_is_cut_off_at_the_timeout() -> None:
    with web() as address:
        started = time.monotonic()
        assert "in time" in OpenApiSource(name="a", location=f"{address}/drip", timeout=0.3).read({}).down
        assert time.monotonic() - started < 15


def test_an_address_where_nobody_listens_is_down() -> None:
    assert (
        "cannot be fetched"
        in OpenApiSource(name="a", location="http://127.0.0.1:9/a.yaml", timeout=2).read({}).down
    )
