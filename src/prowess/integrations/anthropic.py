"""prowess with the SDK of Anthropic: messages, and the tool runner of its beta.

    talk = engine.conversation("ada", format="anthropic")
    messages = [{"role": "user", "content": "Which invoices of ACME are open?"}]
    said = converse(Anthropic(), talk, messages, model="claude-sonnet-5", max_tokens=1000, approve=ask)

Above: user code, which keeps the messages as in any program with this SDK. Below: the conversation. What is
allowed is in each request, deferred: what a search finds is referred to, and the list never changes.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from prowess.engine.conversation import Conversation
from prowess.errors import MissingExtra
from prowess.integrations import chat
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


def converse(
    client: "Anthropic", talk: Conversation, messages: list[Any], *, approve: chat.Approve | None = None,
    create: "Callable[..., Message] | None" = None, max_requests: int = chat.MAX_REQUESTS, **options: Any,
) -> "Message":  # fmt: skip
    """Ask the model until it has answered; what it calls is called on the way.

    client: of the SDK.
    talk: a conversation with the format "anthropic".
    messages: the chat so far, the newest last; what happens is appended to it.
    approve: asks a person where policy says so, and gives the answer.
    create: asks the model instead of `client.messages.create`, such as one that streams.
    max_requests: how often the model is asked at most.
    options: everything else for `client.messages.create`, such as model and max_tokens.
    """
    asking = chat.Asking(create or client.messages.create, approve, max_requests, options)
    return chat.run(chat.conversing(MESSAGES, talk, messages, asking))


async def aconverse(
    client: "AsyncAnthropic", talk: Conversation, messages: list[Any], *,
    approve: chat.AsyncApprove | None = None, create: Callable[..., Any] | None = None,
    max_requests: int = chat.MAX_REQUESTS, **options: Any,
) -> "Message":  # fmt: skip
    """What `converse` does, awaited.

    client: of the SDK.
    talk: a conversation with the format "anthropic".
    messages: the chat so far, the newest last; what happens is appended to it.
    approve: asks a person where policy says so, and gives the answer; may be asynchronous.
    create: asks the model instead of `client.messages.create`, and is awaited.
    max_requests: how often the model is asked at most.
    options: everything else for `client.messages.create`, such as model and max_tokens.
    """
    asking = chat.Asking(create or client.messages.create, approve, max_requests, options)
    return await chat.arun(chat.conversing(MESSAGES, talk, messages, asking))


def tool_runner(
    client: "Anthropic", talk: Conversation, messages: list[Any], *, approve: chat.Approve | None = None,
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
    tools = [RunnerTool(RunnerCalls(talk, tool, approve)) for tool in talk.tools]
    return client.beta.messages.tool_runner(**{**request, "tools": tools})


def async_tool_runner(
    client: "AsyncAnthropic", talk: Conversation, messages: list[Any], *,
    approve: chat.AsyncApprove | None = None, **options: Any,
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
    tools = [AsyncRunnerTool(RunnerCalls(talk, tool, approve)) for tool in talk.tools]
    return client.beta.messages.tool_runner(**{**request, "tools": tools})


class RunnerTool(BetaBuiltinFunctionTool):
    """A tool of a conversation, as the tool runner takes it.

    made: makes its calls.
    """

    def __init__(self, made: "RunnerCalls") -> None:
        self._made = made

    def to_dict(self) -> Any:
        return self._made.definition

    def call(self, input: object) -> Any:
        return _content(chat.run(self._made.answering(input)))


class AsyncRunnerTool(BetaAsyncBuiltinFunctionTool):
    """The same for the asynchronous tool runner.

    made: makes its calls.
    """

    def __init__(self, made: "RunnerCalls") -> None:
        self._made = made

    def to_dict(self) -> Any:
        return self._made.definition

    async def call(self, input: object) -> Any:
        return _content(await chat.arun(self._made.answering(input)))


class RunnerCalls:
    """The calls that a tool runner makes of one tool: each once, though the runner may ask for it again.

    talk: the conversation.
    definition: of the tool, as the conversation lists it.
    approve: asks a person.
    """

    def __init__(self, talk: Conversation, definition: Json, approve: chat.AsyncApprove | None) -> None:
        self._talk, self.definition, self._approve = talk, definition, approve
        self._made: list[tuple[object, Json]] = []

    def answering(self, input: object) -> chat.Steps[Json]:
        """Make the call, unless it was: what is asked for again comes with the same object.

        input: what the model gave.
        """
        for given, answer in self._made:
            if given is input:
                return answer
        (call,) = self._talk.calls([{"type": "tool_use", "name": self.definition["name"], "input": input}])
        result = yield from chat.calling(self._talk, call, self._approve)
        answer = self._talk.answer(call, result)
        self._made.append((input, answer))
        return answer


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
    if text := chat.entered(talk, "anthropic", messages):
        messages[-1] = {"role": "user", "content": [*_blocks(messages[-1]), {"type": "text", "text": text}]}
    last = plain(messages[-1]) if messages else {}
    return talk.calls(last) if last.get("role") == "assistant" else ()


def _blocks(message: Json) -> list[Json]:
    content = plain(message)["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else [*content]


def _answer(messages: list[Any], results: list[Json]) -> None:
    if results:
        messages.append({"role": "user", "content": results})


def _kept(talk: Conversation, messages: list[Any], said: "Message") -> Iterable[ToolCall] | None:
    """Keep what the model said; what it wants called, unless it was cut off while it said so."""
    messages.append({"role": "assistant", "content": [block.to_dict() for block in said.content]})
    calls = () if said.stop_reason == "max_tokens" else talk.calls(said)
    return calls if calls or said.stop_reason == "pause_turn" else None


MESSAGES: "chat.ChatApi[Message]" = chat.ChatApi(begin=_begun, request=_request, answer=_answer, keep=_kept)
