"""prowess with the SDK of OpenAI: chat completions, and Responses with its tool search that the client runs.

    talk = engine.conversation("ada", format="openai")
    messages = [{"role": "user", "content": "Which invoices of ACME are open?"}]
    said = complete(OpenAI(), talk, messages, model="gpt-5", approve=ask)
    print(said.choices[0].message.content)

Above: user code, which keeps the messages as in any program with this SDK. Below: the conversation. All that
has happened is in the messages: where a request failed, the same function goes on from there.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from prowess.engine.conversation import Conversation
from prowess.integrations.chat import Approve, AsyncApprove, acalled, called, entered
from prowess.prompt.formats.content import plain
from prowess.types import ToolCall

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI
    from openai.types.chat import ChatCompletion
    from openai.types.responses import Response

MAX_REQUESTS = 50
"""How often a model is asked that never stops calling tools."""


def complete(
    client: "OpenAI", talk: Conversation, messages: list[Any], *, approve: Approve | None = None,
    max_requests: int = MAX_REQUESTS, **options: Any,
) -> "ChatCompletion":  # fmt: skip
    """Chat completions until the model has answered; what it calls is called on the way.

    client: of the SDK.
    talk: a conversation with the format "openai".
    messages: the chat so far, the newest last; what happens is appended to it.
    approve: asks a person where policy says so, and gives the answer.
    max_requests: how often the model is asked at most.
    options: everything else for `client.chat.completions.create`, such as model.
    """
    calls = _begun(talk, messages)
    for _ in range(max_requests):
        messages += [talk.answer(call, called(talk, call, approve)) for call in calls]
        said: ChatCompletion = client.chat.completions.create(**_chat(talk, messages), **options)
        messages.append(said.choices[0].message.to_dict())
        if not (calls := talk.calls(said)):
            break
    return said


async def acomplete(
    client: "AsyncOpenAI", talk: Conversation, messages: list[Any], *, approve: AsyncApprove | None = None,
    max_requests: int = MAX_REQUESTS, **options: Any,
) -> "ChatCompletion":  # fmt: skip
    """What `complete` does, awaited.

    client: of the SDK.
    talk: a conversation with the format "openai".
    messages: the chat so far, the newest last; what happens is appended to it.
    approve: asks a person where policy says so, and gives the answer; may be asynchronous.
    max_requests: how often the model is asked at most.
    options: everything else for `client.chat.completions.create`, such as model.
    """
    calls = await to_thread.run_sync(_begun, talk, messages)
    for _ in range(max_requests):
        messages += [talk.answer(call, await acalled(talk, call, approve)) for call in calls]
        said: ChatCompletion = await client.chat.completions.create(**_chat(talk, messages), **options)
        messages.append(said.choices[0].message.to_dict())
        if not (calls := talk.calls(said)):
            break
    return said


def respond(
    client: "OpenAI", talk: Conversation, items: list[Any], *, approve: Approve | None = None,
    max_requests: int = MAX_REQUESTS, **options: Any,
) -> "Response":  # fmt: skip
    """Responses until the model has answered; it searches for tools with the API's own tool search.

    client: of the SDK.
    talk: a conversation with the format "responses".
    items: the chat so far, the newest last; what happens is appended to it.
    approve: asks a person where policy says so, and gives the answer.
    max_requests: how often the model is asked at most.
    options: everything else for `client.responses.create`, such as model.
    """
    calls = _resumed(talk, items)
    for _ in range(max_requests):
        items += [talk.answer(call, called(talk, call, approve)) for call in calls]
        said: Response = client.responses.create(**_response(talk, items), **options)
        items += [item.to_dict() for item in said.output]
        if not (calls := talk.calls(said)):
            break
    return said


async def arespond(
    client: "AsyncOpenAI", talk: Conversation, items: list[Any], *, approve: AsyncApprove | None = None,
    max_requests: int = MAX_REQUESTS, **options: Any,
) -> "Response":  # fmt: skip
    """What `respond` does, awaited.

    client: of the SDK.
    talk: a conversation with the format "responses".
    items: the chat so far, the newest last; what happens is appended to it.
    approve: asks a person where policy says so, and gives the answer; may be asynchronous.
    max_requests: how often the model is asked at most.
    options: everything else for `client.responses.create`, such as model.
    """
    calls = await to_thread.run_sync(_resumed, talk, items)
    for _ in range(max_requests):
        items += [talk.answer(call, await acalled(talk, call, approve)) for call in calls]
        said: Response = await client.responses.create(**_response(talk, items), **options)
        items += [item.to_dict() for item in said.output]
        if not (calls := talk.calls(said)):
            break
    return said


def _chat(talk: Conversation, messages: list[Any]) -> dict[str, Any]:
    return {"messages": _instructed(talk, messages, "system"), "tools": talk.tools}


def _response(talk: Conversation, items: list[Any]) -> dict[str, Any]:
    return {"input": _instructed(talk, items, "developer"), "tools": talk.tools}


def _instructed(talk: Conversation, messages: list[Any], role: str) -> list[Any]:
    first = {"role": role, "content": talk.instructions}
    return [first, *messages] if talk.instructions else messages


def _begun(talk: Conversation, messages: list[Any]) -> Iterable[ToolCall]:
    """Take in what the user says; where the chat was left among its calls, those without an answer."""
    if text := entered(talk, "openai", messages):
        messages.append({"role": "system", "content": text})
    given = [plain(one) for one in messages]
    answered = {one.get("tool_call_id") for one in given}
    asking = [one for one in given if one.get("role") == "assistant"][-1:]
    return [call for one in asking for call in talk.calls(one) if call.id not in answered]


def _resumed(talk: Conversation, items: list[Any]) -> Iterable[ToolCall]:
    """The same for the items of Responses."""
    if text := entered(talk, "responses", items):
        items.append({"role": "developer", "content": text})
    given = [plain(one) for one in items]
    answered = {one.get("call_id") for one in given if str(one.get("type")).endswith("_output")}
    return [call for call in talk.calls(given) if call.id not in answered]
