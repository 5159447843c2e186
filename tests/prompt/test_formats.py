"""Tools, calls and results, as each provider writes them."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prowess import CallResult, tool_format
from prowess.errors import ConfigError
from prowess.prompt.formats.known import FORMATS
from prowess.types import DISCOVER
from tests.support.formats import (
    CALL,
    DEFINITIONS,
    FLIGHTS,
    LABELS,
    PNG,
    RECORDED,
    RESULTS,
    SEARCH,
    written,
)
from tests.support.places import ROOT

ALL = [each.name for each in FORMATS]
SAID: dict[str, Any] = {
    "openai": {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "find_flights", "arguments": '{"origin": "OSL", "day": "2026-12-01"}'},
            },
            {"id": "call_9", "type": "custom", "custom": {"name": "other", "input": "x"}},
        ],
    },
    "responses": {
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {
                "type": "function_call",
                "call_id": "call_1",
                "name": "find_flights",
                "arguments": '{"origin": "OSL", "day": "2026-12-01"}',
            },
        ]
    },
    "anthropic": {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look."},
            {
                "type": "tool_use",
                "id": "call_1",
                "name": "find_flights",
                "input": {"origin": "OSL", "day": "2026-12-01"},
            },
        ],
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "I look."},
                        {
                            "functionCall": {
                                "id": "call_1",
                                "name": "find_flights",
                                "args": {"origin": "OSL", "day": "2026-12-01"},
                            }
                        },
                    ],
                }
            }
        ]
    },
    "mcp": {
        "jsonrpc": "2.0",
        "id": "call_1",
        "method": "tools/call",
        "params": {"name": "find_flights", "arguments": {"origin": "OSL", "day": "2026-12-01"}},
    },
}
"""One response of each provider that wants the same called."""

KEYS = [
    *("choices", "message", "tool_calls", "function", "output", "content", "type", "parts", "candidates"),
    *("params", "function_call"),
]


def named(tools: list[Any]) -> dict[str, Any]:
    """Tools by name, whichever provider they are written for."""
    flat = [each for tool in tools for each in tool.get("function_declarations", [tool])]
    functions = [each.get("function", each) for each in flat]
    return {each.get("name", each.get("type", "")): each for each in functions}


# --- what is written -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_a_format_writes_what_was_recorded(name: str) -> None:
    recorded = json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))
    assert json.loads(json.dumps(written()[name])) == recorded


def test_an_unknown_format_is_refused_with_the_known_ones_and_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"did you mean 'anthropic'\? known: openai, responses, anthropic"):
        tool_format("antropic")


@pytest.mark.parametrize("name", ALL)
def test_writing_changes_no_definition(name: str) -> None:
    before = json.dumps(DEFINITIONS)
    written()
    assert json.dumps(DEFINITIONS) == before


@pytest.mark.parametrize("name", ["openai", "responses", "anthropic", "gemini"])
def test_no_schema_has_alternatives_at_its_top_and_no_parameter_is_lost(name: str) -> None:
    tool = named(tool_format(name).tools(DEFINITIONS))["show_version"]
    schema = tool.get("parameters") or tool.get("input_schema") or tool["parameters_json_schema"]
    assert set(schema) == {"type", "properties"}
    assert sorted(schema["properties"]) == ["since", "version"]


def test_a_tool_without_parameters_has_an_empty_object_of_them() -> None:
    bare = {"name": "now", "description": "The time.", "input_schema": {"type": "object"}}
    (tool,) = tool_format("openai").tools([bare])
    assert tool["function"]["parameters"] == {"type": "object", "properties": {}}


# --- what is deferred ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["responses", "anthropic"])
def test_a_deferred_tool_is_in_the_list_and_marked(name: str) -> None:
    tools = named(tool_format(name).tools(DEFINITIONS, defer={"find_flights"}))
    assert [each for each, tool in tools.items() if tool.get("defer_loading")] == ["find_flights"]


@pytest.mark.parametrize("name", ["openai", "gemini", "mcp"])
def test_where_nothing_can_be_deferred_it_is_left_out_of_the_list(name: str) -> None:
    tools = named(tool_format(name).tools(DEFINITIONS, defer={"find_flights"}))
    assert list(tools) == [DISCOVER, "github__set_labels", "show_version"]


@pytest.mark.parametrize("name", ALL)
def test_the_tool_that_searches_is_never_deferred(name: str) -> None:
    deferred = tool_format(name).tools(DEFINITIONS, defer={each["name"] for each in DEFINITIONS})
    searching = named(deferred).get(DISCOVER) or named(deferred)["tool_search"]
    assert "defer_loading" not in searching


# --- what a model wants called ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_the_calls_in_a_response_are_the_same_whoever_made_it(name: str) -> None:
    (call,) = tool_format(name).calls(SAID[name])
    arguments = json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
    assert replace(call, arguments=arguments) == CALL


@pytest.mark.parametrize("name", ALL)
@given(
    said=st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(KEYS),
                inner | st.sampled_from(["tool_use", "function_call", "tool_search_call"]),
            )
        ),
        max_leaves=12,
    )
)
def test_a_response_that_wants_nothing_called_has_no_calls(name: str, said: Any) -> None:
    assert tool_format(name).calls(said) == ()


@pytest.mark.parametrize("name", ["openai", "responses"])
def test_arguments_that_a_model_broke_off_are_handed_on_as_they_are(name: str) -> None:
    broken = json.loads(json.dumps(SAID[name]).replace('2026-12-01\\"}', "2026-12"))
    (call,) = tool_format(name).calls(broken, DEFINITIONS)
    assert call.arguments == '{"origin": "OSL", "day": "2026-12'


def test_a_search_that_the_client_runs_is_a_call_of_the_tool_that_searches() -> None:
    item = {"type": "tool_search_call", "call_id": "call_2", "arguments": {"query": "flights to Oslo"}}
    responses = tool_format("responses")
    assert responses.calls([{**item, "execution": "client"}]) == (SEARCH,)
    assert responses.calls([{**item, "execution": "server"}]) == ()


@pytest.mark.parametrize("name", ["openai", "responses"])
def test_nulls_that_strict_mode_asked_for_are_left_out_of_the_call(name: str) -> None:
    sent = {
        "origin": "OSL", "day": "2026-12-01", "seats": None, "cabin": None,
        "traveller": {"name": "Ada", "born": None},
    }  # fmt: skip
    said = json.loads(json.dumps(SAID[name]))
    item = said["tool_calls"][0]["function"] if name == "openai" else said["output"][1]
    item["arguments"] = json.dumps(sent)
    (call,) = tool_format(name).calls(said, DEFINITIONS)
    assert json.loads(call.arguments) == {**CALL.arguments, "traveller": {"name": "Ada"}}


ODD = {
    "type": "object",
    "properties": {
        "filter[name]": {"type": "string"},
        "filter_name": {"type": "string"},
        "$top": {"type": "integer"},
        "ids": {"type": "array", "items": {"type": "object", "properties": {"$id": {"type": "string"}}}},
        "x" * 70: {"type": "boolean"},
        "日": {"type": "string"},
    },
    "required": ["filter[name]", "ids"],
}


@pytest.mark.parametrize("strict", [False, True])
def test_anthropic_takes_every_name_of_a_parameter_and_the_call_gets_its_own_back(strict: bool) -> None:
    anthropic, definitions = tool_format("anthropic"), [{"name": "list", "input_schema": ODD}]
    (tool,) = anthropic.tools(definitions, strict=strict)
    names = list(tool["input_schema"]["properties"])
    assert names == ["filter_name_2", "filter_name", "top", "ids", "x" * 64, "parameter"]
    assert tool["input_schema"]["required"] == ["filter_name_2", "ids"]
    said = {"content": [{"type": "tool_use", "id": "1", "name": "list", "input": dict.fromkeys(names, 1)}]}
    (call,) = anthropic.calls(said, definitions)
    assert list(call.arguments) == list(ODD["properties"])


@given(names=st.lists(st.text(min_size=1, max_size=80), unique=True, max_size=8))
def test_no_two_parameters_get_one_name(names: list[str]) -> None:
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    anthropic, definitions = tool_format("anthropic"), [{"name": "x", "input_schema": schema}]
    (tool,) = anthropic.tools(definitions)
    taken = list(tool["input_schema"]["properties"])
    assert all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name) for name in taken)
    said = {"content": [{"type": "tool_use", "name": "x", "input": {name: name for name in taken}}]}
    (call,) = anthropic.calls(said, definitions)
    assert list(call.arguments) == names


# --- what came of it -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("what", ["text", "error"])
def test_the_model_reads_the_text_of_every_result(name: str, what: str) -> None:
    assert json.dumps(RESULTS[what].text)[1:-1] in json.dumps(tool_format(name).result(CALL, RESULTS[what]))


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("openai", "Error: no airport OSLO"),
        ("responses", "Error: no airport OSLO"),
        ("anthropic", '"is_error": true'),
        ("gemini", '"error": "no airport OSLO'),
        ("mcp", '"isError": true'),
    ],
)
def test_an_error_looks_like_none_of_the_results(name: str, mark: str) -> None:
    answers = {what: json.dumps(tool_format(name).result(CALL, each)) for what, each in RESULTS.items()}
    assert [what for what, answer in answers.items() if mark in answer] == ["error"]


@pytest.mark.parametrize("name", ["responses", "anthropic", "gemini", "mcp"])
def test_an_image_is_shown_and_what_cannot_be_shown_is_named(name: str) -> None:
    answer = json.dumps(tool_format(name).result(CALL, RESULTS["image"]))
    assert PNG in answer
    assert "SK4035,129" in answer and "All fares" in answer
    assert ("UklGRg==" in answer) == (name == "mcp")
    assert ("[audio of type audio/wav that cannot be shown here]" in answer) == (name != "mcp")


def test_where_results_are_text_an_image_is_named() -> None:
    content = tool_format("openai").result(CALL, RESULTS["image"])["content"]
    assert "[image of type image/png that cannot be shown here]" in content


@pytest.mark.parametrize("name", ["anthropic", "responses"])
def test_an_error_is_told_in_text_alone(name: str) -> None:
    answer = json.dumps(tool_format(name).result(CALL, RESULTS["error"]))
    assert PNG not in answer
    assert "[image of type image/png that cannot be shown here]" in answer


@pytest.mark.parametrize("name", ALL)
def test_data_without_a_text_is_read_as_json(name: str) -> None:
    answer = tool_format(name).result(CALL, RESULTS["structured"])
    assert "SK4035" in json.dumps(answer)


def test_data_that_is_no_object_is_text_in_mcp() -> None:
    listed = CallResult(capability="tool:find_flights", ending="ok", structured=["SK4035"])
    answer = tool_format("mcp").result(CALL, listed)
    assert answer == {"content": [{"type": "text", "text": '["SK4035"]'}], "isError": False}


def test_a_result_without_text_has_no_empty_block() -> None:
    empty = CallResult(capability="tool:x", ending="ok", content=({"type": "text", "text": ""},))
    assert tool_format("anthropic").result(CALL, empty) == {"type": "tool_result", "tool_use_id": "call_1"}


# --- what a search found ---------------------------------------------------------------------------


def test_anthropic_is_given_references_to_tools_of_the_list() -> None:
    anthropic = tool_format("anthropic")
    listed = {tool["name"] for tool in anthropic.tools(DEFINITIONS, defer={"find_flights"})}
    found = [block["tool_name"] for block in anthropic.found(SEARCH, [FLIGHTS, LABELS])["content"]]
    assert found == ["find_flights", "github__set_labels"]
    assert set(found) <= listed


def test_responses_are_given_the_tools_themselves_strict_where_the_others_are() -> None:
    found = tool_format("responses").found(SEARCH, [FLIGHTS, LABELS], strict=True)
    assert (found["type"], found["call_id"], found["execution"]) == ("tool_search_output", "call_2", "client")
    assert [(tool["name"], tool["strict"]) for tool in found["tools"]] == [
        ("find_flights", True),
        ("github__set_labels", False),
    ]


def test_a_search_that_failed_is_answered_as_a_search_without_tools() -> None:
    failed = CallResult(capability=DISCOVER, ending="unavailable")
    answer = tool_format("responses").result(SEARCH, failed)
    assert answer == {
        "type": "tool_search_output",
        "call_id": "call_2",
        "execution": "client",
        "status": "incomplete",
        "tools": [],
    }


@pytest.mark.parametrize("name", ["openai", "gemini", "mcp"])
def test_the_others_read_the_definitions_as_json(name: str) -> None:
    assert "find_flights" in json.dumps(tool_format(name).found(SEARCH, [FLIGHTS]))


@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini", "mcp"])
def test_a_search_that_found_nothing_says_so(name: str) -> None:
    assert "No tool was found." in json.dumps(tool_format(name).found(SEARCH, []))


# --- the page about them ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_the_page_has_a_row_for_each_format(name: str) -> None:
    assert f"\n| `{name}`" in (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
