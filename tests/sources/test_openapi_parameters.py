"""Parameters of OpenAPI operations: every style and place arrives at a real service as it was declared.

What arrives is read by others: `uritemplate` makes what RFC 6570 says, `urllib` takes queries apart.
"""

import json
import string
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from uritemplate import expand

from tests.support.echo import EchoService, echo_service

OVER_HTTP = settings(deadline=None, max_examples=50)
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

OPERATORS = {"simple": "", "label": ".", "matrix": ";"}
QUERY_STYLES = ("form", "spaceDelimited", "pipeDelimited", "deepObject")


def operation(id: str, *parameters: dict[str, Any]) -> dict[str, Any]:
    return {"operationId": id, "summary": f"Echo {id}", "parameters": list(parameters)}


def parameter(place: str, name: str = "v", **more: Any) -> dict[str, Any]:
    return {"in": place, "name": name, "required": place == "path", "schema": {}, **more}


def in_json(place: str, name: str = "v") -> dict[str, Any]:
    found = parameter(place, name, content={"application/json": {"schema": {}}})
    del found["schema"]
    return found


def paths() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for explode in (True, False):
        for style in OPERATORS:
            id = f"{style}_{explode}"
            found[f"/{id}/{{v}}/end"] = {
                "get": operation(id, parameter("path", style=style, explode=explode))
            }
        for style in QUERY_STYLES:
            id = f"{style}_{explode}"
            found[f"/{id}"] = {"get": operation(id, parameter("query", style=style, explode=explode))}
        id = f"header_{explode}"
        found[f"/{id}"] = {"get": operation(id, parameter("header", "X-V", explode=explode))}
        for style in ("form", "cookie"):
            id = f"{style}_cookie_{explode}"
            found[f"/{id}"] = {"get": operation(id, parameter("cookie", style=style, explode=explode))}
    more = {
        "defaults": [parameter("query", "ids"), parameter("query", "x-y[z]")],
        "reserved": [parameter("query", allowReserved=True)],
        "content": [in_json("query", "q"), in_json("header", "X-V"), in_json("cookie", "c")],
        "wrong": [parameter("query", style="matrix"), parameter("query", "other")],
        "ill_named": [parameter("header", "a b"), parameter("cookie", "c;d")],
    }
    found |= {f"/{id}": {"get": operation(id, *listed)} for id, listed in more.items()}
    found["/reserved_path/{v}"] = {"get": operation("reserved_path", parameter("path", allowReserved=True))}
    found["/two/{a}{b}"] = {"get": operation("two", parameter("path", "a"), parameter("path", "b"))}
    whole: dict[str, Any] = {"application/x-www-form-urlencoded": {"schema": {}}}
    found["/whole"] = {"get": operation("whole", {"in": "querystring", "name": "q", "content": whole})}
    found["/asked"] = {"query": operation("asked", parameter("query"))}
    return found


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EchoService]:
    with echo_service(tmp_path_factory.mktemp("echo"), paths(), "3.2.0") as service:
        yield service


TEXTS = st.text(min_size=1, max_size=8) | st.sampled_from(["a/b", "..", "%41", "a,b", "a;b=c", "ä&?#+ "])
PLAIN = TEXTS | st.integers() | st.booleans()
NAMES = st.text(string.ascii_letters + string.digits + "_-.é ", min_size=1, max_size=6)
LISTS = st.lists(PLAIN, min_size=1, max_size=4)
OBJECTS = st.dictionaries(NAMES, PLAIN, min_size=1, max_size=4)
EXPLODE = st.booleans()


def written(value: Any) -> Any:
    """A value as the text that stands for it; an object as its pairs, in their order."""
    if isinstance(value, dict):
        return [(key, written(one)) for key, one in value.items()]
    if isinstance(value, list):
        return [written(one) for one in value]
    return value if isinstance(value, str) else json.dumps(value)


# --- what the standard says, by another library --------------------------------------------------


@OVER_HTTP
@given(st.sampled_from(sorted(OPERATORS)), EXPLODE, PLAIN | LISTS | OBJECTS)
def test_a_value_in_a_path_is_expanded_as_rfc_6570_says(
    service: EchoService, style: str, explode: bool, value: Any
) -> None:
    star = "*" if explode and not isinstance(value, str | int) else ""
    segment = expand(f"{{{OPERATORS[style]}v{star}}}", v=written(value))
    heard = service.sent(f"{style}_{explode}", v=value)
    if segment in (".", ".."):
        assert "cannot stand in a path" in heard.error
    else:
        assert heard.path == f"/{style}_{explode}/{segment}/end"


@OVER_HTTP
@given(EXPLODE, PLAIN | LISTS | OBJECTS)
def test_a_value_in_a_query_is_expanded_as_rfc_6570_says(
    service: EchoService, explode: bool, value: Any
) -> None:
    star = "*" if explode and not isinstance(value, str | int) else ""
    assert f"?{service.sent(f'form_{explode}', v=value).query}" == expand(f"{{?v{star}}}", v=written(value))


@OVER_HTTP
@given(EXPLODE, st.just("") | PLAIN)
def test_a_plain_value_arrives_as_given_whatever_is_in_it(
    service: EchoService, explode: bool, value: Any
) -> None:
    query = service.sent(f"form_{explode}", v=value).query
    assert parse_qsl(query, keep_blank_values=True) == [("v", written(value))]


@OVER_HTTP
@given(st.sampled_from([("spaceDelimited", " "), ("pipeDelimited", "|")]), LISTS | OBJECTS)
def test_delimited_values_come_apart_again_or_are_refused(
    service: EchoService, way: tuple[str, str], value: Any
) -> None:
    style, separator = way
    parts = written(value)
    flat = [part for pair in parts for part in pair] if isinstance(value, dict) else parts
    heard = service.sent(f"{style}_False", v=value)
    if any(separator in part for part in flat):
        assert f"a value holds '{separator}'" in heard.error
    else:
        ((name, text),) = parse_qsl(heard.query, keep_blank_values=True)
        assert (name, text.split(separator)) == ("v", flat)


@OVER_HTTP
@given(OBJECTS)
def test_every_member_of_a_deep_object_has_its_name_in_brackets(service: EchoService, value: Any) -> None:
    query = service.sent("deepObject_True", v=value).query
    assert parse_qsl(query, keep_blank_values=True) == [(f"v[{key}]", one) for key, one in written(value)]


@OVER_HTTP
@given(st.text(min_size=1, max_size=12))
def test_a_header_carries_a_value_as_it_is_or_says_why_not(service: EchoService, value: str) -> None:
    heard = service.sent("header_False", **{"X-V": value})
    fits = value.isascii() and value.isprintable() and value.strip() == value
    if fits:
        assert heard.header("X-V") == value
    else:
        assert "X-V: a header " in heard.error


@OVER_HTTP
@given(TEXTS)
def test_a_cookie_arrives_as_given_and_brings_no_other(service: EchoService, value: str) -> None:
    cookie = SimpleCookie(service.sent("form_cookie_True", v=value).header("cookie"))
    assert {name: unquote(one.value) for name, one in cookie.items()} == {"v": value}


@OVER_HTTP
@given(st.recursive(st.none() | st.booleans() | st.integers() | TEXTS, lambda one: st.lists(one) | OBJECTS))
def test_a_parameter_that_is_declared_as_json_arrives_as_json(service: EchoService, value: Any) -> None:
    assume(value is not None)
    heard = service.sent("content", q=value, **{"X-V": value}, c=value)
    assert json.loads(dict(parse_qsl(heard.query))["q"]) == value
    assert json.loads(heard.header("X-V") or "") == value
    assert json.loads(unquote((heard.header("cookie") or "").removeprefix("c="))) == value


# --- examples -----------------------------------------------------------------------------------

COLORS = ["blue", "black", "brown"]
RGB = {"R": 100, "G": 200, "B": 150}


@pytest.mark.parametrize(
    ("id", "value", "target"),
    [
        ("matrix_False", [3, 4], "/matrix_False/;v=3,4/end"),
        ("matrix_True", RGB, "/matrix_True/;R=100;G=200;B=150/end"),
        ("matrix_True", "", "/matrix_True/;v/end"),
        ("label_True", COLORS, "/label_True/.blue.black.brown/end"),
        ("label_False", RGB, "/label_False/.R,100,G,200,B,150/end"),
        ("simple_True", RGB, "/simple_True/R=100,G=200,B=150/end"),
        ("pipeDelimited_False", [1, 2, 3], "/pipeDelimited_False?v=1%7C2%7C3"),
        ("spaceDelimited_False", RGB, "/spaceDelimited_False?v=R%20100%20G%20200%20B%20150"),
        ("pipeDelimited_True", COLORS, "/pipeDelimited_True?v=blue&v=black&v=brown"),
        ("form_False", COLORS, "/form_False?v=blue,black,brown"),
        ("form_True", RGB, "/form_True?R=100&G=200&B=150"),
        ("form_True", [], "/form_True"),
        ("form_True", None, "/form_True"),
        ("form_True", 3.0, "/form_True?v=3"),
        ("form_True", [1, None, 1.5, True], "/form_True?v=1&v=1.5&v=true"),
        ("deepObject_True", {"a": {"b": [1, {"c": 2}]}}, "/deepObject_True?v%5Ba%5D%5Bb%5D%5B0%5D=1"),
        ("reserved", "http://a/b?c=d&e+f%41%", "/reserved?v=http://a/b?c%3Dd%26e%2Bf%41%25"),
        ("reserved_path", "a:b@c/d?e#f", "/reserved_path/a:b@c%2Fd%3Fe%23f"),
    ],
)
def test_examples_of_the_standard_are_sent_as_it_shows_them(
    service: EchoService, id: str, value: Any, target: str
) -> None:
    assert service.sent(id, v=value).target.startswith(target)


def test_lists_are_taken_apart_where_nothing_else_is_said(service: EchoService) -> None:
    heard = service.sent("defaults", ids=[1, 2], **{"x-y[z]": "a b"})
    assert heard.query == "ids=1&ids=2&x-y%5Bz%5D=a%20b"


def test_a_list_in_a_header_is_one_line_and_an_object_has_its_pairs(service: EchoService) -> None:
    assert service.sent("header_False", **{"X-V": COLORS}).header("X-V") == "blue,black,brown"
    assert service.sent("header_False", **{"X-V": RGB}).header("X-V") == "R,100,G,200,B,150"
    assert service.sent("header_True", **{"X-V": RGB}).header("X-V") == "R=100,G=200,B=150"


def test_cookies_that_are_taken_apart_are_cookies_of_their_own(service: EchoService) -> None:
    assert service.sent("cookie_cookie_True", v=RGB).header("cookie") == "R=100; G=200; B=150"
    assert service.sent("form_cookie_True", v=["a;b", "c"]).header("cookie") == "v=a%3Bb; v=c"
    assert service.sent("form_cookie_False", v=["a,b", "c"]).header("cookie") == "v=a%2Cb,c"


def test_a_whole_query_is_written_as_the_form_that_it_is_declared_to_be(service: EchoService) -> None:
    query = service.sent("whole", q={"a": ["x", "y z"], "b": {"c": 1}}).query
    assert parse_qsl(query) == [("a", "x"), ("a", "y z"), ("b", '{"c":1}')]


def test_the_method_query_only_reads_and_is_sent_as_such(service: EchoService) -> None:
    assert service.sent("asked", v=1).target == "/asked?v=1"


# --- what cannot be sent ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "arguments", "words"),
    [
        ("simple_False", {"v": ""}, "v: is part of the path, which cannot do without it"),
        ("simple_False", {"v": []}, "v: is part of the path"),
        ("simple_False", {"v": None}, "v: is part of the path"),
        ("simple_False", {"v": ".."}, "'..' cannot stand in a path"),
        ("two", {"a": ".", "b": "."}, "a, b: '..' cannot stand in a path"),
        ("label_False", {"v": "."}, "'..' cannot stand in a path"),
        ("reserved_path", {"v": "%2e%2E"}, "'..' cannot stand in a path"),
        ("form_True", {"v": [[1]]}, "v: holds a list or an object where only a plain value has a form"),
        ("form_True", {"v": {"a": {"b": 1}}}, "the document names no form for one inside another"),
        ("deepObject_True", {"v": 7}, "which has a form for objects only"),
        ("wrong", {"v": 1}, "v: the document gives it the style 'matrix', which a query parameter cannot"),
        ("header_False", {"X-V": "a\r\nx-more: b"}, "X-V: a header holds no line break"),
        ("header_False", {"X-V": ["a,b", "c"]}, "X-V: a value holds ','"),
        ("header_False", {"X-V": ["a,b"]}, "X-V: a value holds ','"),
        ("header_False", {"X-V": "größer"}, "a header may hold only ASCII characters"),
        ("cookie_cookie_True", {"v": "a; admin=true"}, "give it escaped"),
        ("form_cookie_True", {"v": {"a=b; c": 1}}, "no cookie can have this name"),
        ("ill_named", {"a b": "x"}, "no header can have this name"),
        ("ill_named", {"c;d": "x"}, "no cookie can have this name"),
        ("whole", {"q": "a=b"}, "give an object"),
        ("defaults", {"idz": 1}, "idz: is no argument of this operation; did you mean 'ids'?"),
        ("form_True", {"v": "x" * 70_000}, "its path and query would have"),
    ],
)
def test_what_cannot_be_sent_as_declared_is_not_sent_and_says_what_to_give(
    service: EchoService, id: str, arguments: dict[str, Any], words: str
) -> None:
    error = service.sent(id, **arguments).error
    assert f"tool:shop/{id} was not called" in error and words in error


def test_a_style_that_cannot_be_leaves_the_other_arguments_usable(service: EchoService) -> None:
    assert service.sent("wrong", other="a").target == "/wrong?other=a"


@pytest.mark.parametrize(
    ("place", "name", "expected"),
    [("header", "x-key", "sesame-open-1234"), ("cookie", "X-Key", "X-Key=sesame-open-1234")],
)
def test_a_credential_takes_the_place_of_an_argument_of_its_name(
    tmp_path: Path, place: str, name: str, expected: str
) -> None:
    signed = {**operation("signed", parameter(place, name)), "security": [{"key": []}]}
    schemes = {"securitySchemes": {"key": {"type": "apiKey", "in": place, "name": "X-Key"}}}
    with echo_service(tmp_path, {"/signed": {"get": signed}}, components=schemes) as service:
        heard = service.sent("signed", **{name: "mine"})
        assert heard.header(place if place == "cookie" else "x-key") == expected
