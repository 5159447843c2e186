"""prowess with the SDK of OpenAI: chat completions, and Responses with its tool search that the client runs.

    talk = engine.conversation("ada", format="openai")
    messages = [{"role": "user", "content": "Which invoices of ACME are open?"}]
    said = complete(OpenAI(), talk, messages, model="gpt-5", approve=ask)
    print(said.choices[0].message.content)

Above: user code, which keeps the messages as in any program with this SDK. Below: the conversation. All that
has happened is in the messages: where a request failed, the same function goes on from there.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from prowess.engine.conversation import Conversation
from prowess.integrations import chat
from prowess.prompt.formats.content import plain
from prowess.types import Json, ToolCall

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response


def complete(
    client: "OpenAI", talk: Conversation, messages: list[Any], *, approve: chat.Approve | None = None,
    create: Callable[..., "ChatCompletion"] | None = None, max_requests: int = chat.MAX_REQUESTS,
    **options: Any,
) -> "ChatCompletion":  # fmt: skip
    """Chat completions until the model has answered; what it calls is called on the way.

    client: of the SDK.
    talk: a conversation with the format "openai".
    messages: the chat so far, the newest last; what happens is appended to it.
    approve: asks a person where policy says so, and gives the answer.
    create: asks the model instead of `client.chat.completions.create`, such as one that streams.
    max_requests: how often the model is asked at most.
    options: everything else for `client.chat.completions.create`, such as model.
    """
    asking = chat.Asking(create or client.chat.completions.create, approve, max_requests, options)
    return chat.run(chat.conversing(COMPLETIONS, talk, messages, asking))


async def acomplete(
    client: "AsyncOpenAI", talk: Conversation, messages: list[Any], *,
    approve: chat.AsyncApprove | None = None, create: Callable[..., Any] | None = None,
    max_requests: int = chat.MAX_REQUESTS, **options: Any,
) -> "ChatCompletion":  # fmt: skip
    """What `complete` does, awaited.

    client: of the SDK.
    talk: a conversation with the format "openai".
    messages: the chat so far, the newest last; what happens is appended to it.
    approve: asks a person where policy says so, and gives the answer; may be asynchronous.
    create: asks the model instead of `client.chat.completions.create`, and is awaited.
    max_requests: how often the model is asked at most.
    options: everything else for `client.chat.completions.create`, such as model.
    """
    asking = chat.Asking(create or client.chat.completions.create, approve, max_requests, options)
    return await chat.arun(chat.conversing(COMPLETIONS, talk, messages, asking))


def respond(
    client: "OpenAI", talk: Conversation, items: list[Any], *, approve: chat.Approve | None = None,
    create: Callable[..., "Response"] | None = None, max_requests: int = chat.MAX_REQUESTS, **options: Any,
) -> "Response":  # fmt: skip
    """Responses until the model has answered; it searches for tools with the API's own tool search.

    client: of the SDK.
    talk: a conversation with the format "responses".
    items: the chat so far, the newest last; what happens is appended to it.
    approve: asks a person where policy says so, and gives the answer.
    create: asks the model instead of `client.responses.create`, such as one that streams.
    max_requests: how often the model is asked at most.
    options: everything else for `client.responses.create`, such as model.
    """
    asking = chat.Asking(create or client.responses.create, approve, max_requests, options)
    return chat.run(chat.conversing(RESPONSES, talk, items, asking))


async def arespond(
    client: "AsyncOpenAI", talk: Conversation, items: list[Any], *, approve: chat.AsyncApprove | None = None,
    create: Callable[..., Any] | None = None, max_requests: int = chat.MAX_REQUESTS, **options: Any,
) -> "Response":  # fmt: skip
    """What `respond` does, awaited.

    client: of the SDK.
    talk: a conversation with the format "responses".
    items: the chat so far, the newest last; what happens is appended to it.
    approve: asks a person where policy says so, and gives the answer; may be asynchronous.
    create: asks the model instead of `client.responses.create`, and is awaited.
    max_requests: how often the model is asked at most.
    options: everything else for `client.responses.create`, such as model.
    """
    asking = chat.Asking(create or client.responses.create, approve, max_requests, options)
    return await chat.arun(chat.conversing(RESPONSES, talk, items, asking))


def _chat(talk: Conversation, messages: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    return {**options, "messages": _instructed(talk, messages, "system"), "tools": talk.tools}


def _response(talk: Conversation, items: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    return {**options, "input": _instructed(talk, items, "developer"), "tools": talk.tools}


def _answer(messages: list[Any], results: list[Json]) -> None:
    messages += results


def _kept(talk: Conversation, messages: list[Any], said: "ChatCompletion") -> Iterable[ToolCall] | None:
    messages.append(_message(said.choices[0].message.to_dict()))
    return talk.calls(said) or None


def _message(said: Json) -> Json:
    """What the model said, as the API takes it back: without what the SDK adds where it gathers a stream."""
    kept = {key: value for key, value in said.items() if value is not None and key != "parsed"}
    if "tool_calls" in kept:
        kept["tool_calls"] = [_without_index(call) for call in kept["tool_calls"]]
    return {"content": None, **kept}


def _without_index(call: Json) -> Json:
    function = {key: value for key, value in call.get("function", {}).items() if key != "parsed_arguments"}
    kept = {key: value for key, value in call.items() if key not in ("index", "function")}
    return {**kept, **({"function": function} if function else {})}


def _kept_items(talk: Conversation, items: list[Any], said: "Response") -> Iterable[ToolCall] | None:
    items += [item.to_dict() for item in said.output]
    return talk.calls(said) or None


def _instructed(talk: Conversation, messages: list[Any], role: str) -> list[Any]:
    first = {"role": role, "content": talk.instructions}
    return [first, *messages] if talk.instructions else messages


def _begun(talk: Conversation, messages: list[Any]) -> Iterable[ToolCall]:
    """Take in what the user says; where the chat was left among its calls, those without an answer."""
    if text := chat.entered(talk, "openai", messages):
        messages.append({"role": "system", "content": text})
    given = [plain(one) for one in messages]
    answered = {one.get("tool_call_id") for one in given}
    asking = [one for one in given if one.get("role") == "assistant"][-1:]
    return [call for one in asking for call in talk.calls(one) if call.id not in answered]


def _resumed(talk: Conversation, items: list[Any]) -> Iterable[ToolCall]:
    """The same for the items of Responses."""
    if text := chat.entered(talk, "responses", items):
        items.append({"role": "developer", "content": text})
    given = [plain(one) for one in items]
    answered = {one.get("call_id") for one in given if str(one.get("type")).endswith("_output")}
    return [call for call in talk.calls(given) if call.id not in answered]


COMPLETIONS: "chat.ChatApi[ChatCompletion]" = chat.ChatApi(
    begin=_begun, request=_chat, answer=_answer, keep=_kept
)
RESPONSES: "chat.ChatApi[Response]" = chat.ChatApi(
    begin=_resumed, request=_response, answer=_answer, keep=_kept_items
)
