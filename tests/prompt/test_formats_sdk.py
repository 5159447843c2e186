"""The formats against the providers' own SDKs: their types know it, and their clients send it."""

import json
import re
from collections.abc import Callable
from typing import Any

import httpx2
import mcp_types
import pytest
from anthropic import Anthropic
from anthropic.types import ToolParam, ToolReferenceBlockParam, ToolResultBlockParam
from google.genai import Client as GeminiClient
from google.genai import types as gemini
from mcp import Client as McpClient
from mcp.server import Server
from openai import OpenAI
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionToolMessageParam
from openai.types.responses import FunctionToolParam, ToolSearchToolParam
from openai.types.responses.response_input_item_param import FunctionCallOutput
from openai.types.responses.response_tool_search_output_item_param_param import (
    ResponseToolSearchOutputItemParamParam,
)
from pydantic import BaseModel, TypeAdapter

from prowess import Offer, ToolCall, tool_format
from tests.support.formats import CALL, DEFINITIONS, FLIGHTS, LABELS, RECORDED, RESULTS, SEARCH
from tests.support.places import ROOT

pytestmark = pytest.mark.slow

ARGUMENTS = {"origin": "OSL", "day": "2026-12-01"}


def recorded(name: str) -> Any:
    return json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))


def every_tool(written: Any) -> list[Any]:
    return [tool for way in ("tools", "strict", "deferred") for tool in written[way]]


def every_answer(written: Any) -> list[Any]:
    return [*written["results"].values(), written["found"], written["found_nothing"]]


def assert_known(kind: Any, value: Any) -> None:
    """A type of an SDK takes the value, and knows everything in it: what it does not know it drops."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        kept = kind.model_validate(value).model_dump(mode="json", by_alias=kind in MCP, exclude_unset=True)
    else:
        adapter = TypeAdapter(kind)
        kept = json.loads(adapter.dump_json(adapter.validate_python(value)))
    assert kept == value


MCP = (mcp_types.Tool, mcp_types.CallToolResult)


# --- types -----------------------------------------------------------------------------------------


def test_openai_knows_every_tool_and_message() -> None:
    written = recorded("openai")
    for tool in every_tool(written):
        assert_known(ChatCompletionFunctionToolParam, tool)
    for answer in every_answer(written):
        assert_known(ChatCompletionToolMessageParam, answer)


def test_responses_know_every_tool_and_item() -> None:
    written = recorded("responses")
    for tool in every_tool(written):
        assert_known(ToolSearchToolParam if tool["type"] == "tool_search" else FunctionToolParam, tool)
    for answer in written["results"].values():
        assert_known(FunctionCallOutput, answer)
    for answer in (written["found"], written["found_nothing"]):
        assert_known(ResponseToolSearchOutputItemParamParam, answer)


def test_anthropic_knows_every_tool_and_block() -> None:
    written = recorded("anthropic")
    for tool in every_tool(written):
        assert_known(ToolParam, tool)
    for answer in every_answer(written):
        assert_known(ToolResultBlockParam, answer)
    for reference in written["found"]["content"]:
        assert_known(ToolReferenceBlockParam, reference)


def test_gemini_knows_every_tool_and_part() -> None:
    written = recorded("gemini")
    for tool in every_tool(written):
        assert_known(gemini.Tool, tool)
    for answer in every_answer(written):
        assert_known(gemini.Part, answer)


def test_mcp_knows_every_tool_and_result() -> None:
    written = recorded("mcp")
    for tool in every_tool(written):
        assert_known(mcp_types.Tool, tool)
    for answer in every_answer(written):
        assert_known(mcp_types.CallToolResult, answer)


def test_a_key_that_a_type_does_not_know_is_noticed() -> None:
    tool = {**recorded("anthropic")["tools"][0], "deferred": True}
    with pytest.raises(AssertionError):
        assert_known(ToolParam, tool)


# --- clients ---------------------------------------------------------------------------------------


class Provider:
    """Answers each request with the next of these responses, and keeps what was sent."""

    def __init__(self, *responses: Any) -> None:
        self.sent: list[Any] = []
        self._responses = list(responses)

    def client(self) -> httpx2.Client:
        return httpx2.Client(transport=httpx2.MockTransport(self._answer))

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(json.loads(request.content))
        return httpx2.Response(200, json=self._responses[len(self.sent) - 1])


def chat(message: Any) -> Any:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    return {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


def test_a_conversation_with_openai() -> None:
    function = {"name": "find_flights", "arguments": json.dumps({**ARGUMENTS, "seats": None})}
    wanted = {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
    provider = Provider(chat(wanted), chat({"content": "SK4035"}))
    openai, format = OpenAI(api_key="x", http_client=provider.client()), tool_format("openai")
    tools, messages = format.tools(DEFINITIONS, strict=True), [{"role": "user", "content": "to Oslo"}]
    said: Any = openai.chat.completions.create(model="m", messages=messages, tools=tools)  # type: ignore[arg-type]
    (call,) = format.calls(said, DEFINITIONS)
    assert (call.name, json.loads(call.arguments), call.id) == ("find_flights", ARGUMENTS, "call_1")
    answer = format.result(call, RESULTS["text"])
    history: Any = [*messages, said.choices[0].message, answer]
    last = openai.chat.completions.create(model="m", messages=history, tools=tools)
    assert format.calls(last) == ()
    assert [each["tools"] for each in provider.sent] == [tools, tools]
    assert provider.sent[1]["messages"][-1] == answer


def test_the_turn_of_the_page_is_one_with_the_sdk() -> None:
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    turn = next(part for part in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "client." in part)
    function = {"name": "find_flights", "arguments": json.dumps(ARGUMENTS)}
    wanted = {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
    provider, messages = Provider(chat(wanted)), [{"role": "user", "content": "to Oslo"}]
    offer = Offer(id="o", agent="ada", text="", hits=(), tools=DEFINITIONS)
    names = {"openai": tool_format("openai"), "model": "m", "messages": messages, "offer": offer}
    names |= {"client": OpenAI(api_key="x", http_client=provider.client()), "use": lambda _: RESULTS["text"]}
    exec(turn, names)
    assert messages[-1] == recorded("openai")["results"]["text"]
    assert provider.sent[0]["tools"] == recorded("openai")["tools"]


def response(*items: Any) -> Any:
    return {
        "id": "r", "object": "response", "created_at": 0, "model": "m", "output": items,
        "status": "completed", "parallel_tool_calls": False, "tool_choice": "auto", "tools": [],
    }  # fmt: skip


def test_a_conversation_with_responses_in_which_the_model_searches() -> None:
    search = {
        "type": "tool_search_call", "id": "s", "call_id": "call_2", "execution": "client",
        "arguments": {"query": "flights to Oslo"}, "status": "completed",
    }  # fmt: skip
    wanted = {"type": "function_call", "id": "f", "call_id": "call_1", "name": "find_flights"}
    wanted["arguments"] = json.dumps({**ARGUMENTS, "cabin": None})
    provider = Provider(response(search), response(wanted), response())
    openai, format = OpenAI(api_key="x", http_client=provider.client()), tool_format("responses")
    tools, items = format.tools([DEFINITIONS[0]], strict=True), [{"role": "user", "content": "to Oslo"}]
    said: Any = openai.responses.create(model="m", input=items, tools=tools)  # type: ignore[arg-type]
    assert format.calls(said) == (SEARCH,)
    found = format.found(SEARCH, [FLIGHTS, LABELS], strict=True)
    history: Any = [*items, *said.output, found]
    said = openai.responses.create(model="m", input=history, tools=tools)
    (call,) = format.calls(said.output, DEFINITIONS)
    assert json.loads(call.arguments) == ARGUMENTS
    answer = format.result(call, RESULTS["image"])
    openai.responses.create(model="m", input=[*history, *said.output, answer], tools=tools)
    assert [each["tools"] for each in provider.sent] == [tools] * 3
    assert provider.sent[1]["input"][-1] == found
    assert provider.sent[2]["input"][-1] == answer


def message(*blocks: Any) -> Any:
    return {
        "id": "m", "type": "message", "role": "assistant", "model": "c", "content": blocks,
        "stop_sequence": None, "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip


def test_a_conversation_with_anthropic_in_which_the_model_searches() -> None:
    search = {"type": "tool_use", "id": "call_2", "name": SEARCH.name, "input": SEARCH.arguments}
    wanted = {"type": "tool_use", "id": "call_1", "name": "find_flights", "input": ARGUMENTS}
    provider = Provider(message({"type": "text", "text": "I look."}, search), message(wanted), message())
    anthropic, format = Anthropic(api_key="x", http_client=provider.client()), tool_format("anthropic")
    tools, said = format.tools(DEFINITIONS, strict=True, defer={"find_flights"}), [("user", "to Oslo")]
    messages: list[Any] = [{"role": role, "content": text} for role, text in said]
    answers: Callable[[ToolCall], Any]
    for answers in (
        lambda call: format.found(call, [FLIGHTS]),
        lambda call: format.result(call, RESULTS["image"]),
    ):
        reply = anthropic.messages.create(model="c", max_tokens=9, messages=messages, tools=tools)
        (call,) = format.calls(reply)
        messages += [{"role": "assistant", "content": reply.content}]
        messages += [{"role": "user", "content": [answers(call)]}]
    assert call == CALL
    anthropic.messages.create(model="c", max_tokens=9, messages=messages, tools=tools)
    assert [each["tools"] for each in provider.sent] == [tools] * 3
    assert provider.sent[1]["messages"][-1]["content"] == [
        recorded("anthropic")["found"]
        | {"content": [{"type": "tool_reference", "tool_name": "find_flights"}]}
    ]
    assert provider.sent[2]["messages"][-1]["content"] == [recorded("anthropic")["results"]["image"]]


def test_a_conversation_with_gemini() -> None:
    wanted = {
        "functionCall": {"id": "call_1", "name": "find_flights", "args": ARGUMENTS},
        "thoughtSignature": "aGk=",
    }
    provider = Provider(
        *(
            {"candidates": [{"content": {"role": "model", "parts": [part]}}]}
            for part in (wanted, {"text": "SK4035"})
        )
    )
    client = GeminiClient(api_key="x", http_options=gemini.HttpOptions(httpx_client=provider.client()))
    format = tool_format("gemini")
    asked: Any = {"role": "user", "parts": [{"text": "to Oslo"}]}
    config: Any = {"tools": format.tools(DEFINITIONS)}
    said = client.models.generate_content(model="g", contents=[asked], config=config)
    (call,) = format.calls(said)
    assert call == CALL
    assert said.candidates and said.candidates[0].content
    answer: Any = {"role": "user", "parts": [format.result(call, RESULTS["image"])]}
    history: Any = [asked, said.candidates[0].content, answer]
    assert format.calls(client.models.generate_content(model="g", contents=history, config=config)) == ()
    (tool,) = provider.sent[0]["tools"]
    assert [each["name"] for each in tool["functionDeclarations"]] == [each["name"] for each in DEFINITIONS]
    (part,) = provider.sent[1]["contents"][-1]["parts"]
    shown = recorded("gemini")["results"]["image"]["function_response"]
    assert part["functionResponse"] == shown


@pytest.mark.anyio
async def test_a_client_of_mcp_lists_and_calls() -> None:
    format, asked = tool_format("mcp"), list[ToolCall]()

    async def listed(*_: object) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult.model_validate({"tools": format.tools(DEFINITIONS)})

    async def called(_: object, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        asked.extend(format.calls(params))
        result = format.result(asked[-1], RESULTS["structured"])
        return mcp_types.CallToolResult.model_validate(result)

    async with McpClient(Server("formats", on_list_tools=listed, on_call_tool=called)) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        result = await client.call_tool("find_flights", ARGUMENTS)
    assert tools["find_flights"].input_schema == FLIGHTS["input_schema"]
    assert tools["find_flights"].output_schema == FLIGHTS["output_schema"]
    assert (tools["find_flights"].meta or {})["anthropic/alwaysLoad"] is True
    assert [(call.name, call.arguments) for call in asked] == [("find_flights", ARGUMENTS)]
    assert result.structured_content == {"flights": ["SK4035"]}
