"""Schemas of servers that would take longer to check than anybody has."""

import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from prowess.calling.arguments import Schemas
from prowess.types import JsonObject
from tests.support.gateway import call, text_of, world
from tests.support.wire import told, tool

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(60)]


def doubling(levels: int, keyword: str = "allOf") -> dict[str, Any]:
    steps = {f"d{i}": {keyword: [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": steps | {f"d{levels}": {"type": "object"}}}


def patterned(pattern: str) -> dict[str, Any]:
    return {"properties": {"x": {"type": "string", "pattern": pattern}}}


TREE = {"properties": {"c": {"$ref": "#/$defs/t"}}}
BOMBS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "pattern": (patterned("^(a+)+$"), {"x": "a" * 45 + "!"}),
    "backtracking": (patterned(r"^(?=(a+)+$)(a*)*\2$"), {"x": "a" * 45 + "!"}),
    "looking_ahead": (patterned("^(?:(?=.*b)a|a)*$"), {"x": "a" * 100_000 + "!"}),
    "doubling": (doubling(24), {}),
    "branching": (doubling(24, "anyOf"), {}),
    "without_end": ({"allOf": [{"$ref": "#"}]}, {}),
}


@pytest.mark.parametrize("way", BOMBS)
async def test_a_schema_that_takes_for_ever_to_check_keeps_no_other_call_waiting(
    tmp_path: Path, store_url: str, way: str
) -> None:
    schema, arguments = BOMBS[way]
    bad = told(tmp_path, "bad", {"tools": [tool("bomb", **schema)]})
    good = told(tmp_path, "good", {"tools": [tool("echo")]})
    async with world(tmp_path, bad, good, store=store_url) as here, here.client() as client:
        await call(client, "tool:good/echo")
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(lambda: call(client, "tool:bad/bomb", **arguments))
                await anyio.sleep(0)
                started = time.monotonic()
                assert text_of(await call(client, "tool:good/echo")) == "called"
                assert time.monotonic() - started < 2


async def test_what_a_schema_says_that_cannot_be_checked_in_time_is_left_to_the_server(
    tmp_path: Path,
) -> None:
    bad = told(tmp_path, "bad", {"tools": [tool("bomb", **doubling(24))]})
    async with world(tmp_path, bad) as here, here.client() as client:
        assert text_of(await call(client, "tool:bad/bomb", anything=1)) == "called"


async def test_schemas_that_take_too_long_are_named_by_doctor(tmp_path: Path, store_url: str) -> None:
    tools = [tool(name, **schema) for name, (schema, _) in BOMBS.items()]
    bad = told(tmp_path, "bad", {"tools": [*tools, tool("fine", **patterned("^[a-z]+(-[a-z]+)*$"))]})
    async with world(tmp_path, bad, store=store_url) as here:
        said = {problem.place: problem.what for problem in here.engine.diagnose()}
    unchecked = "arguments are not checked against its schema: "
    assert said["bad/doubling"] == f"{unchecked}references in it multiply without end"
    assert said["bad/branching"] == f"{unchecked}references in it multiply without end"
    assert said["bad/without_end"] == f"{unchecked}a part of it refers to itself"
    assert said["bad/pattern"] == "the pattern '^(a+)+$' in its schema can keep a matcher busy without end"
    assert "bad/fine" not in said


def nested(levels: int) -> JsonObject:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"c": value}
    return value


COSTLY: dict[str, tuple[JsonObject, JsonObject]] = {
    "a tree that is walked twice at each level": (
        {"$ref": "#/$defs/t", "$defs": {"t": {**TREE, "allOf": [dict(TREE)]}}},
        nested(40),
    ),
    "many parts for each of many items": (
        {"properties": {"a": {"items": {"allOf": [{"type": "object"} for _ in range(5000)]}}}},
        {"a": list(range(5000))},
    ),
    "many faults": (
        {"properties": {"a": {"items": {"type": "string"}}}},
        {"a": list(range(9000))},
    ),
    "what is left, asked for at every level": (
        {"allOf": [{"allOf": [{"unevaluatedProperties": False}], "unevaluatedProperties": False}] * 30},
        {f"k{number}": number for number in range(200)},
    ),
    "thousands of patterns": (
        {"patternProperties": {f"^(a{{1,50}}){{1,50}}{n}$": {} for n in range(3000)}},
        {"a": 1},
    ),
    "a name that is like nothing": (
        {"properties": {f"name{n}": {} for n in range(5000)}, "additionalProperties": False},
        {"n" * 100_000: 1},
    ),
    "a list of a million numbers": (
        {"properties": {"a": {"items": {"type": "integer"}}}},
        {"a": [1] * 1_000_000},
    ),
}


@pytest.mark.parametrize("way", COSTLY)
def test_no_check_of_arguments_takes_long_whatever_schema_and_arguments_are(way: str) -> None:
    schema, arguments = COSTLY[way]
    started = time.process_time()
    Schemas().faults(("tool:x", ""), schema, arguments)
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    ("schema", "arguments", "said"),
    [
        ({"type": "object", "required": ["url"]}, {}, "'url' is a required property"),
        (
            {"properties": {"n": {"type": ["integer", "null"]}}},
            {"n": "x"},
            "n: 'x' is not of type 'integer', 'null'",
        ),
        ({"properties": {"n": {"enum": ["a", "b"]}}}, {"n": "c"}, "n: 'c' is not one of ['a', 'b']"),
        (
            {
                "properties": {"o": {"$ref": "#/$defs/o"}},
                "$defs": {"o": {"properties": {"city": {}}, "additionalProperties": False}},
            },
            {"o": {"citi": 1}},
            "o: unknown 'citi'; did you mean 'city'?",
        ),
        ({"properties": {"n": {"maximum": 3}}}, {"n": 4}, "n: 4 is greater than the maximum of 3"),
        ({"$schema": "https://example.com/own", "required": ["a"]}, {}, "'a' is a required property"),
        (patterned("^(?!x)[a-z]+$"), {"x": "xa"}, 'x: "xa" does not match "^(?!x)[a-z]+$"'),
    ],
)
def test_what_does_not_fit_is_said_in_words_that_help(
    schema: JsonObject, arguments: JsonObject, said: str
) -> None:
    assert Schemas().faults(("tool:x", ""), schema, arguments) == [said]


@pytest.mark.parametrize(
    "schema",
    [{"type": "nonsense"}, {"$ref": "https://example.com/else"}, {"$ref": "#/$defs/none"}, patterned("(")],
)
def test_a_schema_that_is_wrong_itself_judges_nothing(schema: JsonObject) -> None:
    assert Schemas().faults(("tool:x", ""), schema, {"x": "anything"}) == []
