"""Bodies of OpenAPI operations: every kind arrives at a real service as it was declared.

What arrives is read by others: starlette with python-multipart takes forms apart.
"""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prowess.sources.openapi.source import OpenApiSource
from tests.support.echo import EchoService, echo_service
from tests.support.gateway import text_of

OVER_HTTP = settings(deadline=None, max_examples=50)
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"
TEXT = {"type": "string"}
BINARY = {"type": "string", "format": "binary"}


def operation(
    id: str, kind: str, schema: Any = None, encoding: Any = None, required: bool = True
) -> dict[str, Any]:
    media = {"schema": schema} if schema is not None else {}
    media |= {"encoding": encoding} if encoding else {}
    body = {"required": required, "content": {kind: media}}
    return {f"/{id}": {"post": {"operationId": id, "summary": f"Echo {id}", "requestBody": body}}}


def thing(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


UPLOAD = thing(
    file={**BINARY, "description": "What to keep."},
    note=TEXT,
    many={"type": "array", "items": BINARY},
    place=thing(x={"type": "integer"}),
    tags={"type": "array", "items": TEXT},
    places={"type": "array", "items": thing(x={"type": "integer"})},
)
MEDIA = thing(
    photo={"contentMediaType": "image/png"},
    untyped={},
    maybe={"anyOf": [{"type": "string", "contentMediaType": "application/octet-stream"}, {"type": "null"}]},
    coded={"type": "string", "contentEncoding": "base64", "contentMediaType": "image/gif"},
    table={"type": "string", "contentMediaType": "text/csv"},
    ready={"type": "string", "contentMediaType": "application/json"},
    xml={"type": "string"},
    quoted={"type": "string"},
    drawing={},
    latin={"type": "string"},
    ids={"type": "array", "items": TEXT},
)
MEDIA_ENCODING = {
    "xml": {"contentType": "application/xml"},
    "quoted": {"contentType": "application/json"},
    "drawing": {"contentType": "image/png, image/jpeg"},
    "photo": {"contentType": "image/*"},
    "latin": {"contentType": "text/plain; charset=iso-8859-1"},
    "ids": {"style": "pipeDelimited"},
}
STYLES = thing(a=TEXT, b=TEXT, c=TEXT, d=TEXT, e=TEXT, f=TEXT, g=BINARY, h=TEXT)
STYLE_ENCODING = {
    "a": {"style": "form", "explode": False},
    "b": {"style": "deepObject"},
    "c": {"explode": True},
    "d": {"style": "spaceDelimited"},
    "e": {"contentType": "application/json"},
    "f": {"allowReserved": True},
    "h": {"style": "simple"},
}


def loose(schema: dict[str, Any]) -> dict[str, Any]:
    """The same without types, so that any value may be tried."""
    plain = {name: {} if one == TEXT else one for name, one in schema["properties"].items()}
    return {**schema, "properties": plain}


def paths() -> dict[str, Any]:
    listed = {"type": "object", "additionalProperties": True}
    composed = {"allOf": [thing(file={"allOf": [BINARY]}), thing(note=TEXT)]}
    several = operation("several", "text/plain", TEXT)
    several["/several"]["post"]["requestBody"]["content"] |= {
        "multipart/mixed": {},
        FORM: {"schema": thing(a=TEXT)},
        "application/vnd.api+json; charset=utf-8": {"schema": thing(a=TEXT)},
    }
    pictures = operation("pictures", "image/png")
    pictures["/pictures"]["post"]["requestBody"]["content"]["image/jpeg"] = {}
    return {
        **operation("json", "application/json", {}),
        **operation("fields", "application/json", thing(a={}, b={})),
        **operation("open", "application/json", {**thing(a={}), "additionalProperties": TEXT}),
        **operation("range", "*/*", {}),
        **operation("form", FORM, listed),
        **operation("small_form", FORM, thing(a={"type": "array", "items": TEXT})),
        **operation("styles", FORM, loose(STYLES), STYLE_ENCODING),
        **operation("upload", MULTIPART, UPLOAD),
        **operation("media", MULTIPART, MEDIA, MEDIA_ENCODING),
        **operation("composed", MULTIPART, composed),
        **operation("parts", MULTIPART, listed),
        **operation("text", "text/plain", TEXT),
        **operation("latin", "text/plain; charset=iso-8859-1", TEXT),
        **operation("xml", "application/xml", thing(a=TEXT)),
        **operation("lines", "application/x-ndjson"),
        **operation("bytes", "application/octet-stream", BINARY),
        **operation("any_image", "image/*"),
        **pictures,
        **several,
    }


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EchoService]:
    with echo_service(tmp_path_factory.mktemp("echo"), paths()) as service:
        yield service


def in_base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


# --- what is given arrives ------------------------------------------------------------------------

NAMES = st.text("abcdefäöü-_[]. &=+%", min_size=1, max_size=6)
TEXTS = st.text(max_size=10) | st.sampled_from(["a&b=c", "x\r\n--x", '"', "ä€ ", "+%20"])
PLAIN = TEXTS | st.integers() | st.booleans()
FORMS = st.dictionaries(NAMES, PLAIN | st.lists(PLAIN, min_size=1, max_size=3), min_size=1, max_size=4)
JSON = st.recursive(st.none() | st.floats(allow_nan=False, allow_infinity=False) | PLAIN, st.lists)


def pairs_of(form: dict[str, Any]) -> list[tuple[str, str]]:
    listed = [(name, one) for name, v in form.items() for one in (v if isinstance(v, list) else [v])]
    return [(name, one if isinstance(one, str) else json.dumps(one)) for name, one in listed]


@OVER_HTTP
@given(JSON)
def test_any_json_is_the_body_as_it_was_given(service: EchoService, value: Any) -> None:
    heard = service.sent("json", body=value)
    assert (heard.type, json.loads(heard.body)) == ("application/json", value)


@OVER_HTTP
@given(FORMS)
def test_every_field_of_a_form_arrives_with_all_its_values(
    service: EchoService, form: dict[str, Any]
) -> None:
    heard = service.sent("form", body=form)
    assert heard.type == FORM
    assert service.form(heard) == pairs_of(form)


@OVER_HTTP
@given(FORMS)
def test_every_field_of_a_form_in_parts_arrives_with_all_its_values(
    service: EchoService, form: dict[str, Any]
) -> None:
    heard = service.sent("parts", body=form)
    assert heard.type.startswith(f"{MULTIPART}; boundary=")
    assert service.form(heard) == pairs_of(form)


@OVER_HTTP
@given(st.binary(max_size=200), st.booleans())
def test_bytes_arrive_as_they_were_before_they_became_base64(
    service: EchoService, content: bytes, as_url: bool
) -> None:
    given = f"data:image/png;base64,{in_base64(content)}" if as_url else in_base64(content)
    assert service.sent("bytes", body=given).body == content
    kind, extension = ("image/png", "png") if as_url else ("application/octet-stream", "bin")
    heard = service.sent("upload", file=given)
    assert service.form(heard) == [("file", (f"file.{extension}", kind, content))]


@OVER_HTTP
@given(TEXTS)
def test_text_arrives_as_it_is_and_says_in_which_characters(service: EchoService, text: str) -> None:
    heard = service.sent("text", body=text)
    assert (heard.type, heard.body.decode()) == ("text/plain; charset=utf-8", text)


# --- examples -------------------------------------------------------------------------------------


def test_a_form_in_parts_has_a_boundary_files_and_fields_each_with_its_type(service: EchoService) -> None:
    heard = service.sent(
        "upload",
        file="aGVsbG8=",
        note="n",
        many=["YQ==", "data:text/plain;name=b%20c.txt;base64,Yg=="],
        place={"x": 1},
        tags=["x", "y z"],
        places=[{"x": 1}, {"x": 2}],
    )
    assert service.form(heard) == [
        ("file", ("file.bin", "application/octet-stream", b"hello")),
        ("note", "n"),
        ("many", ("many.bin", "application/octet-stream", b"a")),
        ("many", ("b c.txt", "text/plain", b"b")),
        ("place", '{"x":1}'),
        ("tags", "x"),
        ("tags", "y z"),
        ("places", '{"x":1}'),
        ("places", '{"x":2}'),
    ]
    assert heard.body.count(b"Content-Type: application/json") == 3


def test_a_list_in_a_form_is_its_name_with_each_value(service: EchoService) -> None:
    assert service.sent("small_form", a=["x", "y z"]).body == b"a=x&a=y+z"


def test_styles_of_a_form_are_those_of_a_query(service: EchoService) -> None:
    heard = service.sent(
        "styles",
        a=["x", "y"],
        b={"k": {"m": [1]}},
        c={"p": 1, "q": 2},
        d=["x", "y"],
        e="text",
        f="a%20b&c",
    )
    assert service.form(heard) == [
        ("a", "x,y"),
        ("b[k][m][0]", "1"),
        ("p", "1"),
        ("q", "2"),
        ("d", "x y"),
        ("e", '"text"'),
        ("f", "a b&c"),
    ]


def test_content_types_of_parts_are_those_declared_and_those_of_what_is_given(service: EchoService) -> None:
    heard = service.sent(
        "media",
        photo="data:image/webp;base64,YQ==",
        untyped="YQ==",
        maybe="YQ==",
        coded="aGVsbG8",
        table="a,b\n1,ä",
        ready='{"a": 1}',
        xml="<a/>",
        quoted="text",
        drawing="YQ==",
        latin="ä",
        ids=["x", "y"],
    )
    found = dict(service.form(heard))
    assert found["photo"] == ("photo.webp", "image/webp", b"a")
    assert found["untyped"] == ("untyped.bin", "application/octet-stream", b"a")
    assert found["maybe"] == ("maybe.bin", "application/octet-stream", b"a")
    assert found["table"] == ("table.csv", "text/csv", "a,b\n1,ä".encode())
    assert found["drawing"] == ("drawing.png", "image/png", b"a")
    assert (found["coded"], found["ready"], found["xml"]) == ("aGVsbG8=", '{"a": 1}', "<a/>")
    assert (found["quoted"], found["ids"]) == ('"text"', "x|y")
    assert b"Content-Transfer-Encoding: base64\r\nContent-Type: image/gif" in heard.body
    assert b"Content-Type: application/xml" in heard.body
    assert b"charset=iso-8859-1\r\n\r\n\xe4\r\n" in heard.body


def test_a_body_that_cannot_be_taken_apart_is_one_argument_with_its_files(service: EchoService) -> None:
    heard = service.sent("composed", body={"file": "YQ==", "note": "n"})
    assert service.form(heard) == [
        ("file", ("file.bin", "application/octet-stream", b"a")),
        ("note", "n"),
    ]


@pytest.mark.parametrize(
    ("id", "given", "type", "body"),
    [
        ("fields", {"a": None}, "application/json", b'{"a":null}'),
        ("fields", {}, "application/json", b"{}"),
        ("json", {"body": None}, "application/json", b"null"),
        ("open", {"a": 1, "more": "x"}, "application/json", b'{"a":1,"more":"x"}'),
        ("range", {"body": [1]}, "application/json", b"[1]"),
        ("several", {"a": "x"}, "application/vnd.api+json; charset=utf-8", b'{"a":"x"}'),
        ("small_form", {}, FORM, b""),
        ("latin", {"body": "ä"}, "text/plain; charset=iso-8859-1", b"\xe4"),
        ("xml", {"body": "<a>ä</a>"}, "application/xml", "<a>ä</a>".encode()),
        ("lines", {"body": '{"a":1}\n'}, "application/x-ndjson", b'{"a":1}\n'),
        ("bytes", {"body": "data:,a%20b"}, "application/octet-stream", b"a b"),
        ("bytes", {"body": "-_8"}, "application/octet-stream", b"\xfb\xff"),
        ("any_image", {"body": "data:image/gif;base64,YQ=="}, "image/gif", b"a"),
        ("pictures", {"body": "YQ=="}, "image/png", b"a"),
        ("pictures", {"body": "data:image/jpeg;base64,YQ=="}, "image/jpeg", b"a"),
    ],
)
def test_a_body_has_the_type_that_is_declared_and_is_written_in_it(
    service: EchoService, id: str, given: dict[str, Any], type: str, body: bytes
) -> None:
    heard = service.sent(id, **given)
    assert (heard.type, heard.body) == (type, body)


# --- what cannot be sent ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "arguments", "words"),
    [
        ("open", {"more": 1}, "more: 1 is not of type 'string'"),
        ("fields", {"c": 1}, "c: is no argument of this operation; it takes: a, b"),
        ("upload", {"file": "no base64!"}, "file: is not Base64; give it in Base64, or as a URL"),
        ("upload", {"file": "data:text/plain"}, "file: is a data: URL without a comma"),
        ("media", {"photo": "YQ=="}, "photo: does not say which kind of image/* it is"),
        ("media", {"photo": "data:text/html,a"}, "photo: is text/html, where image/* is taken"),
        ("media", {"drawing": "data:image/gif,a"}, "drawing: is image/gif, where image/png, image/jpeg is"),
        ("media", {"latin": "€"}, "latin: cannot be written in iso-8859-1"),
        ("media", {"ids": ["a|b", "c"]}, "ids: a value holds '|'"),
        ("upload", {}, "a form in parts cannot be empty"),
        ("styles", {"a": ["x,y", "z"]}, "a: a value holds ','"),
        ("styles", {"g": "YQ=="}, "g: holds bytes, which a form without parts cannot carry"),
        ("styles", {"h": "x"}, "h: has the style 'simple', which no field has"),
        ("styles", {"f": "%ff"}, "half a character"),
        ("latin", {"body": "€"}, "body: cannot be written in iso-8859-1"),
        ("lines", {"body": [{"a": 1}]}, "body: [{'a': 1}] is not of type 'string'"),
        (
            "pictures",
            {"body": "data:image/gif,a"},
            "body: is image/gif, where image/png, image/jpeg is taken",
        ),
    ],
)
def test_what_cannot_be_sent_as_declared_is_not_sent_and_says_what_to_give(
    service: EchoService, id: str, arguments: dict[str, Any], words: str
) -> None:
    error = service.sent(id, **arguments).error
    assert f"tool:shop/{id} was not called" in error and words in error


def test_a_body_beyond_the_limit_is_not_sent(service: EchoService) -> None:
    assert "more than 32 MiB; send less at a time" in service.sent("text", body="x" * (33 * 2**20)).error


# --- what a model is told --------------------------------------------------------------------------


def schemas(tmp_path: Path, paths: dict[str, Any], version: str = "3.1.0") -> dict[str, Any]:
    file = tmp_path / "api.json"
    file.write_text(json.dumps({"openapi": version, "paths": paths}))
    (entry,) = OpenApiSource(name="echo", location=str(file)).read({}).entries
    return {draft.capability.name: draft.detail.input_schema for draft in entry.drafts or ()}


def test_a_model_is_told_how_to_give_bytes_and_what_is_written_by_hand(tmp_path: Path) -> None:
    found = schemas(tmp_path, paths())
    file = found["upload"]["properties"]["file"]
    assert (file["type"], file["contentEncoding"]) == ("string", "base64")
    assert file["description"].startswith("What to keep. Base64, or a data: URL")
    many = found["upload"]["properties"]["many"]
    assert many["items"] == {"type": "string", "contentEncoding": "base64"}
    assert found["composed"]["properties"]["body"]["description"].startswith("file: Base64")
    xml = found["xml"]["properties"]["body"]
    assert (xml["type"], xml["contentMediaType"]) == ("string", "application/xml")
    assert "a" in xml["contentSchema"]["properties"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"multipart/mixed": {}}, "its body is sent as 'multipart/mixed', which is not supported"),
        ({"text/plain\r\nx: y": {}}, "which is not supported"),
        ({MULTIPART: {"schema": {}, "itemEncoding": {}}}, "told apart by their order"),
        (
            {MULTIPART: {"schema": thing(a=TEXT), "encoding": {"a": {"headers": {"X": {"required": True}}}}}},
            "the part 'a' of its body needs the header 'X'",
        ),
    ],
)
def test_an_operation_whose_body_cannot_be_made_is_a_problem_and_no_tool(
    tmp_path: Path, body: dict[str, Any], words: str
) -> None:
    file = tmp_path / "api.json"
    file.write_text(
        json.dumps({"openapi": "3.2.0", "paths": {"/a": {"post": {"requestBody": {"content": body}}}}})
    )
    found = OpenApiSource(name="echo", location=str(file)).read({})
    assert [draft for entry in found.entries for draft in entry.drafts or ()] == []
    (problem,) = found.problems
    assert words in problem.what


def test_before_3_1_styles_are_for_forms_without_parts_alone(tmp_path: Path) -> None:
    body = operation("old", MULTIPART, thing(ids={"type": "array"}), {"ids": {"style": "pipeDelimited"}})
    with echo_service(tmp_path, body, "3.0.3") as service:
        heard = service.sent("old", ids=["x", "y"])
        assert service.form(heard) == [("ids", "x"), ("ids", "y")]


def test_a_body_that_is_composed_of_itself_is_read_once(tmp_path: Path) -> None:
    again = {"$ref": "#/paths/~1a/post/requestBody/content/multipart~1form-data/schema"}
    body = {"content": {MULTIPART: {"schema": {"allOf": [again] * 40, "properties": {"file": BINARY}}}}}
    found = schemas(tmp_path, {"/a": {"post": {"operationId": "a", "requestBody": body}}})
    assert found["a"]["properties"]["body"]["description"].startswith("file: Base64")


def test_json_that_is_none_is_not_sent(service: EchoService) -> None:
    given = {"id": "tool:shop/json", "arguments": '{"body": [NaN]}'}
    result = service.portal.call(lambda: service.client.call_tool("call_with_effects", given))
    assert "tool:shop/json was not called: body: is not JSON" in text_of(result)
