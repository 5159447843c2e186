"""What the official conformance suite expects of the server that it is pointed at; stdio, behind a gateway.

The names and texts are the suite's; results are written as they go over the wire.
"""

import hashlib
import hmac
import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CompleteRequestParams,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    GetPromptRequestParams,
    LoggingMessageNotification,
    LoggingMessageNotificationParams,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    UnsubscribeRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

Context = ServerRequestContext[Any]
Result = dict[str, Any]
Tool = Callable[[Context, CallToolRequestParams], Awaitable[Result]]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
KEY = b"integrity"
CACHED: Result = {"ttlMs": 60_000, "cacheScope": "private", "resultType": "complete"}


def text(said: str) -> Result:
    return {"type": "text", "text": said}


def done(*content: Result) -> Result:
    return {"content": list(content), "isError": False, "resultType": "complete"}


def form(message: str, **properties: Result) -> Result:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def sampling(prompt: str, most: int) -> Result:
    messages = [{"role": "user", "content": text(prompt)}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": most}}


ROOTS: Result = {"method": "roots/list", "params": {}}
NAME = form("What is your name?", name={"type": "string"})


def required(state: str = "", **requests: Result) -> Result:
    asked: Result = {"resultType": "input_required", "inputRequests": requests}
    return asked | ({"requestState": state} if state else {})


def given(params: Any) -> dict[str, Any]:
    return {key: value.model_dump(by_alias=True) for key, value in (params.input_responses or {}).items()}


def sealed(state: str) -> str:
    return f"{state}.{hmac.digest(KEY, state.encode(), hashlib.sha256).hex()}"


def check(state: str | None) -> None:
    said = (state or "").partition(".")[0]
    if state != sealed(said):
        raise MCPError(INVALID_PARAMS, "requestState was changed")


# --- tools -------------------------------------------------------------------------------------


async def logging(context: Context, params: CallToolRequestParams) -> Result:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        message = LoggingMessageNotificationParams(level="info", data=said)
        notification = LoggingMessageNotification(params=message)
        await context.session.send_notification(notification, related_request_id=context.request_id)
        await anyio.sleep(0.05)
    return done(text("logged"))


async def progress(context: Context, params: CallToolRequestParams) -> Result:
    for so_far in (0, 50, 100):
        await context.session.report_progress(so_far, 100)
        await anyio.sleep(0.05)
    return done(text("done"))


async def sample(context: Context, params: CallToolRequestParams) -> Result:
    prompt = str((params.arguments or {}).get("prompt", ""))
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        answer = given(params).get("sample")
        said = answer["content"]["text"] if answer else ""
        return done(text(f"LLM response: {said}")) if answer else required(sample=sampling(prompt, 100))
    request = CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], max_tokens=100))
    heard = await context.session.send_request(request, CreateMessageResult)
    return done(text(f"LLM response: {getattr(heard.content, 'text', '')}"))


async def elicit(
    context: Context, params: CallToolRequestParams, message: str, schema: Result, begin: str
) -> Result:
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        found = given(params).get("answer")
        asked: Result = {"message": message, "requestedSchema": schema}
        if found is None:
            return required(answer={"method": "elicitation/create", "params": asked})
        return done(text(f"{begin}: action={found['action']}, content={json.dumps(found.get('content'))}"))
    request = ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))
    answer = await context.session.send_request(request, ElicitResult)
    said = f"action={answer.action}, content={json.dumps(answer.content)}"
    return done(text(f"{begin}: {said}"))


async def ask(context: Context, params: CallToolRequestParams) -> Result:
    who = {"username": "User's response", "email": "User's email address"}
    properties = {name: {"type": "string", "description": about} for name, about in who.items()}
    schema = {"type": "object", "properties": properties, "required": list(who)}
    return await elicit(context, params, str((params.arguments or {})["message"]), schema, "User response")


async def defaults(context: Context, params: CallToolRequestParams) -> Result:
    properties = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    schema = {"type": "object", "properties": properties}
    return await elicit(context, params, "Defaults", schema, "Elicitation completed")


async def enums(context: Context, params: CallToolRequestParams) -> Result:
    options = ["option1", "option2", "option3"]
    titled = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
    names = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]}
    properties = {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", **names},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    schema = {"type": "object", "properties": properties}
    return await elicit(context, params, "Choose", schema, "Elicitation completed")


def asking(key: str, request: Result, said: str, state: str = "") -> Tool:
    """A tool that asks once, in the way of the newest revision."""

    async def answer(context: Context, params: CallToolRequestParams) -> Result:
        found = given(params).get(key)
        if found is None:
            return required(sealed(state) if state else "", **{key: request})
        if state:
            check(params.request_state)
        return done(text(f"{said} {json.dumps(found)}"))

    return answer


async def hello(context: Context, params: CallToolRequestParams) -> Result:
    content = given(params).get("user_name", {}).get("content") or {}
    name = content.get("name") if isinstance(content, dict) else None
    return done(text(f"Hello, {name}!")) if name else required(user_name=NAME)


async def several(context: Context, params: CallToolRequestParams) -> Result:
    wanted: dict[str, Any] = {
        "user_name": NAME,
        "greeting": sampling("Generate a greeting", 50),
        "client_roots": ROOTS,
    }
    if not wanted.keys() <= given(params).keys():
        return required(sealed("several"), **wanted)
    check(params.request_state)
    return done(text("all answered"))


async def rounds(context: Context, params: CallToolRequestParams) -> Result:
    answers = given(params)
    if "step2" in answers:
        return done(text("both steps done"))
    if "step1" in answers:
        colour = form("Step 2: What is your favorite color?", color={"type": "string"})
        return required(sealed("two"), step2=colour)
    return required(sealed("one"), step1=form("Step 1: What is your name?", name={"type": "string"}))


async def capable(context: Context, params: CallToolRequestParams) -> Result:
    """Asks only what the client says it can answer."""
    able = context.session.client_capabilities
    asked: dict[str, Any] = {}
    if able is not None and able.elicitation is not None:
        asked["user_name"] = NAME
    if able is not None and able.sampling is not None:
        asked["capital"] = sampling("What is the capital of France?", 100)
    return done(text("answered")) if given(params) or not asked else required(**asked)


def saying(*content: Result) -> Tool:
    async def answer(context: Context, params: CallToolRequestParams) -> Result:
        return done(*content)

    return answer


async def fails(context: Context, params: CallToolRequestParams) -> Result:
    said = text("This tool intentionally returns an error for testing")
    return {"content": [said], "isError": True, "resultType": "complete"}


def embedded(uri: str, kind: str, said: str) -> Result:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": said}}


IMAGE: Result = {"type": "image", "data": PNG, "mimeType": "image/png"}
MIXED = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
EMBEDDED = embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
CONFIRM = form("Please confirm", ok={"type": "boolean"})
TOOLS: dict[str, Tool] = {
    "test_simple_text": saying(text("This is a simple text response for testing.")),
    "test_image_content": saying(IMAGE),
    "test_audio_content": saying({"type": "audio", "data": WAV, "mimeType": "audio/wav"}),
    "test_embedded_resource": saying(EMBEDDED),
    "test_multiple_content_types": saying(text("Multiple content types test:"), IMAGE, MIXED),
    "test_error_handling": fails,
    "test_tool_with_logging": logging,
    "test_tool_with_progress": progress,
    "test_sampling": sample,
    "test_elicitation": ask,
    "test_elicitation_sep1034_defaults": defaults,
    "test_elicitation_sep1330_enums": enums,
    "test_input_required_result_elicitation": hello,
    "test_input_required_result_sampling": asking(
        "capital_question", sampling("What is the capital of France?", 100), "The model said"
    ),
    "test_input_required_result_list_roots": asking("client_roots", ROOTS, "The roots are"),
    "test_input_required_result_request_state": asking("confirm", CONFIRM, "state-ok", "state"),
    "test_input_required_result_tampered_state": asking("confirm", CONFIRM, "state-ok", "tampered"),
    "test_input_required_result_multiple_inputs": several,
    "test_input_required_result_multi_round": rounds,
    "test_input_required_result_capabilities": capable,
}
ARGUMENTS = {"test_sampling": ("prompt",), "test_elicitation": ("message",)}


async def tools(context: Context, params: Any) -> Result:
    listed = []
    for name in TOOLS:
        names = ARGUMENTS.get(name, ())
        properties = {one: {"type": "string"} for one in names}
        schema = {"type": "object", "properties": properties, "required": list(names)}
        listed.append({"name": name, "description": f"Do what {name} says.", "inputSchema": schema})
    return {"tools": listed, **CACHED}


async def call(context: Context, params: CallToolRequestParams) -> Result:
    if params.name not in TOOLS:
        raise MCPError(INVALID_PARAMS, f"no tool {params.name}")
    return await TOOLS[params.name](context, params)


# --- resources and prompts ---------------------------------------------------------------------


async def resources(context: Context, params: Any) -> Result:
    uris = ("test://static-text", "test://static-binary", "test://watched-resource")
    listed = [{"uri": uri, "name": uri.partition("//")[2], "description": "For tests."} for uri in uris]
    return {"resources": listed, **CACHED}


async def templates(context: Context, params: Any) -> Result:
    one = {"uriTemplate": "test://template/{id}/data", "name": "data", "description": "For tests."}
    return {"resourceTemplates": [one], **CACHED}


async def read(context: Context, params: ReadResourceRequestParams) -> Result:
    uri = str(params.uri)
    if uri == "test://static-binary":
        found: Result = {"uri": uri, "mimeType": "image/png", "blob": PNG}
    elif uri.startswith("test://template/"):
        id = uri.split("/")[3]
        data = {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}
        found = {"uri": uri, "mimeType": "application/json", "text": json.dumps(data)}
    else:
        said = "This is the content of the static text resource."
        found = {"uri": uri, "mimeType": "text/plain", "text": said}
    return {"contents": [found], **CACHED}


PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


async def prompts(context: Context, params: Any) -> Result:
    listed = [
        {
            "name": name,
            "description": "For tests.",
            "arguments": [{"name": one, "description": "For tests.", "required": True} for one in names],
        }
        for name, names in PROMPTS.items()
    ]
    return {"prompts": listed, **CACHED}


async def prompt(context: Context, params: GetPromptRequestParams) -> Result:
    said, arguments = [text("This is a simple prompt for testing.")], params.arguments or {}
    match params.name:
        case "test_prompt_with_arguments":
            said = [text("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'".format(**arguments))]
        case "test_prompt_with_embedded_resource":
            content = "Embedded resource content for testing."
            resource = embedded(str(arguments["resourceUri"]), "text/plain", content)
            said = [resource, text("Please process the embedded resource above.")]
        case "test_prompt_with_image":
            said = [IMAGE, text("Please analyze the image above.")]
        case "test_input_required_result_prompt" if not given(params):
            message = "What context should the prompt use?"
            return required(user_context=form(message, context={"type": "string"}))
    messages = [{"role": "user", "content": one} for one in said]
    return {"messages": messages, "resultType": "complete"}


async def complete(context: Context, params: CompleteRequestParams) -> Result:
    values = [one for one in ("paris", "park", "party") if one.startswith(params.argument.value)]
    return {"completion": {"values": values}, "resultType": "complete"}


async def nothing(context: Context, params: Any) -> Result:
    return {}


async def main() -> None:
    server: Server[Any] = Server(
        "conformance", on_subscriptions_listen=ListenHandler(InMemorySubscriptionBus())
    )
    handlers: list[tuple[str, Any, Any]] = [
        ("tools/list", PaginatedRequestParams, tools),
        ("tools/call", CallToolRequestParams, call),
        ("resources/list", PaginatedRequestParams, resources),
        ("resources/templates/list", PaginatedRequestParams, templates),
        ("resources/read", ReadResourceRequestParams, read),
        ("resources/subscribe", SubscribeRequestParams, nothing),
        ("resources/unsubscribe", UnsubscribeRequestParams, nothing),
        ("prompts/list", PaginatedRequestParams, prompts),
        ("prompts/get", GetPromptRequestParams, prompt),
        ("completion/complete", CompleteRequestParams, complete),
        ("logging/setLevel", SetLevelRequestParams, nothing),
    ]
    for method, params, handler in handlers:
        server.add_request_handler(method, params, handler)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
