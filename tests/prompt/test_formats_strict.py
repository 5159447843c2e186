"""Strict mode and the way back: what a model can send then is what the tool's own schema takes."""

import json
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from prowess import tool_format
from prowess.prompt.formats.anthropic import ANTHROPIC_STRICT
from prowess.prompt.formats.nulls import without_added_nulls
from prowess.prompt.formats.openai import OPENAI_STRICT
from prowess.prompt.formats.strict import strict_schema

NAMES = st.sampled_from(["a", "b", "c", "kind"])
VALUES = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "y"])
PLAIN = st.one_of(
    st.just({"type": "string"}),
    st.just({"type": "string", "description": "A text", "default": "x"}),
    st.just({"type": "integer", "minimum": 0}),
    st.just({"type": ["integer", "null"]}),
    st.just({"type": "boolean"}),
    st.just({"type": "null"}),
    st.builds(lambda value: {"const": value}, VALUES),
    st.builds(lambda values: {"enum": values}, st.lists(VALUES, min_size=1, max_size=3)),
    st.just({"$ref": "#/$defs/One"}),
    st.just({"$ref": "#/$defs/Two", "description": "Another"}),
)


def objects(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Objects of which some properties may be left out."""
    properties = st.dictionaries(NAMES, of, max_size=3)
    return properties.flatmap(
        lambda these: st.builds(
            lambda required, closed: {
                "type": "object",
                "properties": these,
                **({"required": required} if required else {}),
                **({"additionalProperties": False} if closed else {}),
            },
            st.lists(st.sampled_from(sorted(these)), unique=True) if these else st.just([]),
            st.booleans(),
        )
    )


def kinds(of: Any) -> Any:
    """What pydantic writes for a union whose members say which they are."""
    named = [
        {"type": "object", "properties": {"kind": {"const": kind}, "a": of}, "required": ["kind"]}
        for kind in ("x", "y")
    ]
    return {"oneOf": named, "discriminator": {"propertyName": "kind"}}


def larger(of: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, of),
        st.builds(lambda choices: {"anyOf": choices}, st.lists(of, min_size=1, max_size=3)),
        st.builds(kinds, of),
        objects(of),
    )


OF_TYPE: dict[str, st.SearchStrategy[Any]] = {
    "string": st.sampled_from(["", "x", "z"]),
    "integer": st.integers(0, 3),
    "boolean": st.booleans(),
    "null": st.none(),
}
PARTS = st.recursive(PLAIN, larger, max_leaves=6)
SCHEMAS = st.builds(
    lambda root, one, two: {**root, "$defs": {"One": one, "Two": two}}, objects(PARTS), PARTS, PARTS
)


@st.composite
def sent(draw: st.DrawFn, schema: Any, root: Any, depth: int = 6) -> Any:
    """What a model may send: every property that is required, of every value one that fits."""
    assume(depth)
    if "$ref" in schema:
        return draw(sent(root["$defs"][schema["$ref"].rpartition("/")[2]], root, depth - 1))
    for choices in ("anyOf", "enum"):
        if choices in schema:
            chosen = draw(st.sampled_from(schema[choices]))
            return draw(sent(chosen, root, depth - 1)) if choices == "anyOf" else chosen
    types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    kind = draw(st.sampled_from(types))
    if kind == "object":
        wanted = {name: name in schema["required"] or draw(st.booleans()) for name in schema["properties"]}
        inner = [name for name in wanted if wanted[name]]
        return {name: draw(sent(schema["properties"][name], root, depth - 1)) for name in inner}
    if kind == "array":
        return draw(st.lists(sent(schema["items"], root, depth - 1), max_size=2))
    return schema["const"] if "const" in schema else draw(OF_TYPE[kind])


@pytest.mark.parametrize("rules", [OPENAI_STRICT, ANTHROPIC_STRICT], ids=["openai", "anthropic"])
@settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(data=st.data())
def test_what_strict_mode_lets_a_model_send_fits_the_tools_own_schema(
    rules: Any, data: st.DataObject
) -> None:
    schema = data.draw(SCHEMAS)
    strict = strict_schema(schema, rules)
    assume(strict is not None)
    assert strict is not None
    arguments = data.draw(sent(strict, strict))
    assume(jsonschema_rs.is_valid(dict(strict), arguments))
    before = json.dumps(arguments)
    meant = without_added_nulls(arguments, schema)
    jsonschema_rs.validate(schema, meant)
    assert json.dumps(arguments) == before


@given(data=st.data())
@settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_in_a_strict_schema_of_openai_everything_is_required_and_nothing_else_may_come(
    data: st.DataObject,
) -> None:
    strict = strict_schema(data.draw(SCHEMAS), OPENAI_STRICT)
    waiting: list[Any] = [strict] if strict else []
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if one.get("type") == "object":
                assert one["required"] == list(one["properties"])
                assert one["additionalProperties"] is False
            assert not one.keys() & {"default", "oneOf", "allOf"}
            assert "$ref" not in one or one.keys() == {"$ref"}
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else []


KEYWORDS = [
    *("type", "properties", "required", "items", "anyOf", "oneOf", "allOf", "enum", "const", "$ref", "$defs"),
    *("a", "minItems", "minimum", "format", "pattern", "additionalProperties"),
]
JUNK = st.recursive(
    VALUES,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(KEYWORDS),
            inner | st.sampled_from(["object", "array", "string", "#", "#/$defs/a", "#/$defs/"]),
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(
    schema=st.dictionaries(st.sampled_from(["type", "properties", "$defs", "anyOf", "$ref"]), JUNK),
    value=JUNK,
)
def test_a_schema_that_is_none_breaks_nothing(schema: Any, value: Any) -> None:
    definition = {"name": "x", "description": "", "input_schema": schema}
    for name in ("openai", "responses", "anthropic", "gemini", "mcp"):
        assert len(tool_format(name).tools([definition], strict=True)) == 1
    without_added_nulls(value, schema)
    without_added_nulls(
        {"a": value}, {**schema, "properties": {"a": {"type": "object", "properties": schema}}}
    )


# --- one by one ------------------------------------------------------------------------------------


def strict_of(schema: dict[str, Any], name: str = "openai") -> bool:
    definition = {"name": "x", "description": "", "input_schema": schema}
    (tool,) = tool_format(name).tools([definition], strict=True)
    return bool(tool.get("function", tool).get("strict"))


def with_parameter(of: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"p": of}, "required": ["p"], **more}


TREE = {"type": "object", "properties": {"inner": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}
SAME = [{"type": "object", "properties": {"a": {"type": kind}}} for kind in ("string", "integer")]
TOLD_APART = [
    {"type": "object", "properties": {"kind": {"const": kind}, "a": {"type": "string"}}}
    for kind in ("x", "y")
]


@pytest.mark.parametrize(
    ("schema", "openai", "anthropic"),
    [
        ({"type": "object", "properties": {}}, True, True),
        ({"type": "object"}, False, False),
        (with_parameter({"type": "object"}), False, False),
        (with_parameter({"type": "object", "properties": {}}), False, False),
        (with_parameter({"type": "object", "properties": {}, "additionalProperties": False}), True, True),
        (with_parameter({"type": "object", "additionalProperties": {"type": "string"}}), False, False),
        (with_parameter({"type": "string"}, additionalProperties=True), False, False),
        (with_parameter({"type": "string"}, required=["p", "q"]), False, False),
        (with_parameter({}), False, False),
        (with_parameter(True), False, False),
        (with_parameter({"type": "array"}), False, False),
        (with_parameter({"type": "array", "items": {}}), False, False),
        (with_parameter({"type": "array", "items": {"type": "string"}}), True, True),
        (with_parameter({"type": "array", "items": {"type": "string"}, "minItems": 1}), True, True),
        (with_parameter({"type": "array", "items": {"type": "string"}, "minItems": 2}), True, False),
        (with_parameter({"type": "array", "items": {"type": "string"}, "uniqueItems": True}), False, False),
        (with_parameter({"type": "integer", "minimum": 1}), True, False),
        (with_parameter({"type": "integer", "minimum": "one"}), False, False),
        (with_parameter({"type": "string", "minLength": 1}), True, False),
        (with_parameter({"type": "string", "format": "uuid"}), True, True),
        (with_parameter({"type": "string", "format": "iban"}), False, False),
        (with_parameter({"type": "string", "pattern": "^[a-z]+$"}), True, True),
        (with_parameter({"type": "string", "pattern": "^(?!x)"}), False, False),
        (with_parameter({"oneOf": [{"type": "number"}, {"type": "integer"}]}), False, False),
        (with_parameter({"oneOf": [{"type": "string"}, {"type": "integer"}]}), True, True),
        (with_parameter({"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}), True, True),
        (with_parameter({"oneOf": TOLD_APART}), False, False),
        (with_parameter({"oneOf": [{"type": "string"}, {"type": "string"}]}), False, False),
        (
            with_parameter({"oneOf": [{"$ref": "#/$defs/A"}] * 2}, **{"$defs": {"A": {"type": "string"}}}),
            False,
            False,
        ),
        (with_parameter({"anyOf": []}), False, False),
        (with_parameter({"oneOf": [{**each, "required": ["kind"]} for each in TOLD_APART]}), True, True),
        (with_parameter({"allOf": [{"type": "string"}]}), False, False),
        (with_parameter({"anyOf": [{"type": "string"}, {"type": "integer"}]}), True, True),
        (with_parameter({"anyOf": SAME}), False, True),
        (with_parameter({"anyOf": TOLD_APART}), False, True),
        (with_parameter({"anyOf": [{**each, "required": ["kind"]} for each in TOLD_APART]}), True, True),
        (with_parameter({"$ref": "#/$defs/Tree"}, **{"$defs": {"Tree": TREE}}), True, False),
        (with_parameter({"$ref": "#/$defs/None"}), False, False),
        (with_parameter({"$ref": "https://example.org/schema"}), False, False),
        ({"type": "object", "anyOf": [with_parameter({"type": "string"})]}, False, False),
    ],
    ids=lambda value: None if isinstance(value, bool) else json.dumps(value)[:60],
)
def test_a_tool_is_strict_where_strict_mode_can_say_the_same(
    schema: dict[str, Any], openai: bool, anthropic: bool
) -> None:
    assert (strict_of(schema), strict_of(schema, "anthropic")) == (openai, anthropic)


def test_a_tool_that_cannot_be_strict_keeps_its_schema_and_leaves_the_others_strict() -> None:
    free = {"name": "free", "description": "", "input_schema": with_parameter({"type": "object"})}
    plain = {"name": "plain", "description": "", "input_schema": with_parameter({"type": "string"})}
    first, second = tool_format("responses").tools([free, plain], strict=True)
    assert (first["strict"], first["parameters"]) == (False, free["input_schema"])
    assert second["strict"] is True


def test_a_parameter_that_may_be_left_out_may_be_null_with_openai_and_stays_optional_with_anthropic() -> None:
    schema = {"type": "object", "properties": {"p": {"type": "string", "enum": ["a"], "default": "a"}}}
    openai, anthropic = strict_schema(schema, OPENAI_STRICT), strict_schema(schema, ANTHROPIC_STRICT)
    assert openai is not None and anthropic is not None
    assert openai["properties"] == {
        "p": {"type": ["string", "null"], "enum": ["a", None], "description": '(default: "a")'}
    }
    assert anthropic["properties"] == {
        "p": {"type": "string", "enum": ["a"], "description": '(default: "a")'}
    }
    assert (openai["required"], anthropic["required"]) == (["p"], [])


def test_a_null_that_the_tool_itself_allows_is_not_left_out() -> None:
    schema = {"type": "object", "properties": {"p": {"type": ["string", "null"]}, "q": {"type": "string"}}}
    assert without_added_nulls({"p": None, "q": None}, schema) == {"p": None}


def test_a_null_where_something_is_required_stays_to_be_told_about() -> None:
    assert without_added_nulls({"p": None}, with_parameter({"type": "string"})) == {"p": None}


def test_the_alternative_that_a_value_is_decides_which_nulls_were_added() -> None:
    kinds = [
        {
            "type": "object",
            "properties": {"kind": {"const": "x"}, "a": {"type": "string"}},
            "required": ["kind"],
        },
        {"type": "object", "properties": {"kind": {"const": "y"}, "a": {"type": ["string", "null"]}}},
    ]
    schema = with_parameter({"type": "array", "items": {"anyOf": kinds}})
    given = {"p": [{"kind": "x", "a": None}, {"kind": "y", "a": None}]}
    assert without_added_nulls(given, schema) == {"p": [{"kind": "x"}, {"kind": "y", "a": None}]}


def test_one_request_of_anthropic_has_no_more_strict_tools_than_it_takes() -> None:
    def strict(count: int, of: Any, required: list[str]) -> int:
        schema = {"type": "object", "properties": {"p": of, "q": of}, "required": required}
        tools = [{"name": f"t{n}", "description": "", "input_schema": schema} for n in range(count)]
        return sum(bool(tool.get("strict")) for tool in tool_format("anthropic").tools(tools, strict=True))

    assert strict(30, {"type": "string"}, ["p", "q"]) == 20
    assert strict(30, {"type": "string"}, []) == 12
    assert strict(30, {"type": ["string", "null"]}, ["p", "q"]) == 8


def test_a_schema_that_is_too_large_is_not_strict() -> None:
    many = {f"p{n}": {"type": "string"} for n in range(1001)}
    assert not strict_of({"type": "object", "properties": many})
    assert not strict_of(with_parameter({"enum": [f"v{n}" for n in range(1001)]}))
    assert not strict_of(with_parameter({"enum": ["v" * 120_001]}))


@pytest.mark.parametrize(("levels", "strict"), [(9, True), (10, False), (5000, False)])
def test_objects_are_nested_as_deep_as_openai_takes_and_no_deeper(levels: int, strict: bool) -> None:
    schema: dict[str, Any] = with_parameter({"type": "string"})
    for _ in range(levels):
        schema = with_parameter(schema)
    assert strict_of(schema) == strict


def test_more_alternatives_than_are_looked_through_are_not_strict() -> None:
    few, many = ({"anyOf": [{"const": n} for n in range(count)]} for count in (150, 250))
    assert strict_of(with_parameter(few)) and not strict_of(with_parameter(many))
    schema = {"type": "object", "properties": {"few": few, "many": many}}
    assert without_added_nulls({"few": None, "many": None}, schema) == {"many": None}


def test_a_schema_that_refers_to_itself_is_left_in_time() -> None:
    endless = {"$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}]}}}
    schema = {"type": "object", "properties": {"p": {"$ref": "#/$defs/A"}}, **endless}
    assert without_added_nulls({"p": {"q": None}}, schema) == {"p": {"q": None}}
    assert len(tool_format("openai").tools([{"name": "x", "input_schema": schema}], strict=True)) == 1
