"""prowess with the SDK of Anthropic: messages, and the tool runner of its beta.

    talk = engine.conversation("ada", format="anthropic")
    messages = [{"role": "user", "content": "Which invoices of ACME are open?"}]
    said = converse(Anthropic(), talk, messages, model="claude-sonnet-5", max_tokens=1000, approve=ask)

Above: user code, which keeps the messages as in any program with this SDK. Below: the conversation. What is
allowed is in each request, deferred: what a search finds is referred to, and the list never changes.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from anyio import to_thread

from prowess.engine.conversation import Conversation
from prowess.errors import MissingExtra
from prowess.integrations.chat import Approve, AsyncApprove, acalled, called, entered
from prowess.prompt.formats.content import plain
from prowess.types import Json, ToolCall

try:
    from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool, BetaBuiltinFunctionTool, ToolError
except ImportError as missing:
    raise MissingExtra("the SDK of Anthropic", "anthropic") from missing

if TYPE_CHECKING:
    from anthropic import Anthropic, AsyncAnthropic
    from anthropic.lib.tools import BetaAsyncToolRunner, BetaToolRunner
    from anthropic.types import Message

MAX_REQUESTS = 50
"""How often a model is asked that never stops calling tools."""


def converse(
    client: "Anthropic", talk: Conversation, messages: list[Any], *, approve: Approve | None = None,
    max_requests: int = MAX_REQUESTS, **options: Any,
) -> "Message":  # fmt: skip
    """Ask the model until it has answered; what it calls is called on the way.

    client: of the SDK.
    talk: a conversation with the format "anthropic".
    messages: the chat so far, the newest last; what happens is appended to it.
    approve: asks a person where policy says so, and gives the answer.
    max_requests: how often the model is asked at most.
    options: everything else for `client.messages.create`, such as model and max_tokens.
    """
    calls = _begun(talk, messages)
    for _ in range(max_requests):
        _answer(messages, [talk.answer(call, called(talk, call, approve)) for call in calls])
        said: Message = client.messages.create(**_request(talk, messages, options))
        calls = _kept(messages, talk, said)
        if not calls and said.stop_reason != "pause_turn":
            break
    return said


async def aconverse(
    client: "AsyncAnthropic", talk: Conversation, messages: list[Any], *,
    approve: AsyncApprove | None = None, max_requests: int = MAX_REQUESTS, **options: Any,
) -> "Message":  # fmt: skip
    """What `converse` does, awaited.

    client: of the SDK.
    talk: a conversation with the format "anthropic".
    messages: the chat so far, the newest last; what happens is appended to it.
    approve: asks a person where policy says so, and gives the answer; may be asynchronous.
    max_requests: how often the model is asked at most.
    options: everything else for `client.messages.create`, such as model and max_tokens.
    """
    calls = await to_thread.run_sync(_begun, talk, messages)
    for _ in range(max_requests):
        _answer(messages, [talk.answer(call, await acalled(talk, call, approve)) for call in calls])
        said: Message = await client.messages.create(**_request(talk, messages, options))
        calls = _kept(messages, talk, said)
        if not calls and said.stop_reason != "pause_turn":
            break
    return said


def tool_runner(
    client: "Anthropic", talk: Conversation, messages: list[Any], *, approve: Approve | None = None,
    **options: Any,
) -> "BetaToolRunner[Any]":  # fmt: skip
    """The SDK's own tool runner, for what the user says in the newest message.

    client: of the SDK.
    talk: a conversation with the format "anthropic".
    messages: the chat so far, the newest last.
    approve: asks a person where policy says so, and gives the answer.
    options: everything else for `client.beta.messages.tool_runner`, such as model and max_tokens.
    """
    _begun(talk, messages)
    request = _request(talk, messages, options)
    tools = [RunnerTool(talk, tool, approve) for tool in talk.tools]
    return client.beta.messages.tool_runner(**{**request, "tools": tools})


def async_tool_runner(
    client: "AsyncAnthropic", talk: Conversation, messages: list[Any], *,
    approve: AsyncApprove | None = None, **options: Any,
) -> "BetaAsyncToolRunner[Any]":  # fmt: skip
    """The same for an asynchronous client.

    client: of the SDK.
    talk: a conversation with the format "anthropic".
    messages: the chat so far, the newest last.
    approve: asks a person where policy says so, and gives the answer; may be asynchronous.
    options: everything else for `client.beta.messages.tool_runner`, such as model and max_tokens.
    """
    _begun(talk, messages)
    request = _request(talk, messages, options)
    tools = [AsyncRunnerTool(talk, tool, approve) for tool in talk.tools]
    return client.beta.messages.tool_runner(**{**request, "tools": tools})


class RunnerTool(BetaBuiltinFunctionTool):
    """A tool of a conversation, as the tool runner takes it.

    talk: the conversation.
    definition: as the conversation lists it.
    approve: asks a person.
    """

    def __init__(self, talk: Conversation, definition: Json, approve: Approve | None) -> None:
        self._talk, self._definition, self._approve = talk, definition, approve
        self._made: list[tuple[object, Json]] = []

    def to_dict(self) -> Any:
        return self._definition

    def call(self, input: object) -> Any:
        if not (answer := _of(input, self._made)):
            call = _call(self._talk, self._definition, input)
            answer = self._talk.answer(call, called(self._talk, call, self._approve))
            self._made.append((input, answer))
        return _content(answer)


class AsyncRunnerTool(BetaAsyncBuiltinFunctionTool):
    """The same for the asynchronous tool runner.

    talk: the conversation.
    definition: as the conversation lists it.
    approve: asks a person.
    """

    def __init__(self, talk: Conversation, definition: Json, approve: AsyncApprove | None) -> None:
        self._talk, self._definition, self._approve = talk, definition, approve
        self._made: list[tuple[object, Json]] = []

    def to_dict(self) -> Any:
        return self._definition

    async def call(self, input: object) -> Any:
        if not (answer := _of(input, self._made)):
            call = _call(self._talk, self._definition, input)
            answer = self._talk.answer(call, await acalled(self._talk, call, self._approve))
            self._made.append((input, answer))
        return _content(answer)


def _of(input: object, made: list[tuple[object, Json]]) -> Json:
    """The answer there is for this very call: the runner may ask again, and then with the same object."""
    return next((answer for given, answer in made if given is input), None)


def _call(talk: Conversation, definition: Json, input: object) -> ToolCall:
    (call,) = talk.calls([{"type": "tool_use", "name": definition["name"], "input": input}])
    return call


def _content(answer: Json) -> Any:
    content = answer.get("content", [])
    if answer.get("is_error"):
        raise ToolError(content)
    return content


def _request(talk: Conversation, messages: list[Any], options: dict[str, Any]) -> dict[str, Any]:
    own = options.get("system") or []
    system = [{"type": "text", "text": own}] if isinstance(own, str) else [*own]
    if talk.instructions:
        system.append({"type": "text", "text": talk.instructions})
    return {**options, "system": system, "tools": talk.tools, "messages": messages}


def _begun(talk: Conversation, messages: list[Any]) -> Iterable[ToolCall]:
    """Take in what the user says; where the chat was left among its calls, those without an answer."""
    if text := entered(talk, "anthropic", messages):
        messages[-1] = {"role": "user", "content": [*_blocks(messages[-1]), {"type": "text", "text": text}]}
    last = plain(messages[-1]) if messages else {}
    return talk.calls(last) if last.get("role") == "assistant" else ()


def _blocks(message: Json) -> list[Json]:
    content = plain(message)["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else [*content]


def _answer(messages: list[Any], results: list[Json]) -> None:
    if results:
        messages.append({"role": "user", "content": results})


def _kept(messages: list[Any], talk: Conversation, said: "Message") -> Iterable[ToolCall]:
    """Keep what the model said; what it wants called, unless it was cut off while it said so."""
    messages.append({"role": "assistant", "content": [block.to_dict() for block in said.content]})
    return () if said.stop_reason == "max_tokens" else talk.calls(said)
