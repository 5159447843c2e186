"""A chat with the SDK of OpenAI or Anthropic: what these leave to the program, as steps that a driver runs.

What happens, and in which order, is written once: it yields each thing that takes time. `run` does them in
this thread, `arun` awaits them. Where policy says `ask`, the program is asked at once; what it answers is
recorded, and the call made again. Without an answer the model is told that the call waits for a person, and
goes on with something else.
"""

import inspect
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from anyio import to_thread

from prowess.engine.conversation import Conversation
from prowess.errors import ConfigError, NotFound, PolicyError
from prowess.policy.approvals import Approval, ApprovalAnswer
from prowess.prompt.formats.content import plain
from prowess.types import CallResult, Json, ToolCall

MAX_REQUESTS = 50
"""How often a model is asked that never stops calling tools."""

Approve = Callable[[Approval], ApprovalAnswer | None]
"""Shows a person the question and gives the answer; nothing where nobody can answer now."""
AsyncApprove = Callable[[Approval], ApprovalAnswer | Awaitable[ApprovalAnswer | None] | None]


class Step(NamedTuple):
    """Something that takes time.

    do: does it.
    awaited: does it where things are awaited; without it, `do` in a worker thread.
    """

    do: Callable[[], Any]
    awaited: Callable[[], Any] | None = None


_Result = TypeVar("_Result")
_Said = TypeVar("_Said")
Steps = Generator[Step, Any, _Result]


def run(steps: Steps[_Result]) -> _Result:
    """Do each step here, one after the other.

    steps: what is to be done.
    """
    came: Any = None
    while True:
        try:
            step = steps.send(came)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        came = step.do()


async def arun(steps: Steps[_Result]) -> _Result:
    """Await each step, one after the other.

    steps: what is to be done.
    """
    came: Any = None
    while True:
        try:
            step = steps.send(came)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        came = step.awaited() if step.awaited else await to_thread.run_sync(step.do)
        if inspect.isawaitable(came):
            came = await came


@dataclass(frozen=True, slots=True)
class ChatApi(Generic[_Said]):
    """How one API keeps a chat.

    begin: takes in what the user says; where the chat was left among its calls, those without an answer.
    request: what a model is asked with.
    answer: keeps the answers to calls.
    keep: keeps what the model said; what it wants called, nothing at all where it has had its say.
    """

    begin: Callable[[Conversation, list[Any]], Iterable[ToolCall]]
    request: Callable[[Conversation, list[Any], dict[str, Any]], Mapping[str, Any]]
    answer: Callable[[list[Any], list[Json]], None]
    keep: Callable[[Conversation, list[Any], _Said], Iterable[ToolCall] | None]


class Asking(NamedTuple):
    """How a program asks its model.

    create: asks it.
    approve: asks a person.
    max_requests: how often the model is asked at most.
    options: what else is in each request.
    """

    create: Callable[..., Any]
    approve: AsyncApprove | None
    max_requests: int
    options: dict[str, Any]


def conversing(api: ChatApi[_Said], talk: Conversation, messages: list[Any], asking: Asking) -> Steps[_Said]:
    """Ask the model until it has answered; what it calls is called on the way.

    api: how the chat is kept.
    talk: the conversation it belongs to.
    messages: the chat so far, the newest last; what happens is appended to it.
    asking: how the model is asked.
    """
    calls: Iterable[ToolCall] | None = yield Step(partial(api.begin, talk, messages))
    for _ in range(asking.max_requests):
        results: list[Json] = []
        for call in calls or ():
            result = yield from calling(talk, call, asking.approve)
            results.append(talk.answer(call, result))
        api.answer(messages, results)
        ask = partial(asking.create, **api.request(talk, messages, asking.options))
        said: _Said = yield Step(ask, ask)
        calls = api.keep(talk, messages, said)
        if calls is None:
            break
    return said


def calling(talk: Conversation, call: ToolCall, approve: AsyncApprove | None) -> Steps[CallResult]:
    """Make a call, once however often it is asked for.

    talk: the conversation it belongs to.
    call: as `Conversation.calls` read it.
    approve: asks a person; awaited it may be asynchronous.
    """
    given: dict[str, Any] = {"name": call.name, "arguments": call.arguments, "key": talk.key_of(call)}
    make = Step(partial(talk.call, **given), partial(talk.acall, **given))
    result: CallResult = yield make
    if not (result.approval and approve):
        return result
    ask = partial(approve, (yield Step(partial(_question, talk, result))))
    said: ApprovalAnswer | None = yield Step(ask, ask)
    if said is None:
        return result
    yield Step(partial(_answer, talk, result.approval, said))
    result = yield make
    return result


def entered(talk: Conversation, format: str, messages: Sequence[Any]) -> str:
    """Make an offer for what the user says in the newest message; its text, for behind that message.

    Nothing where the newest is not the user's words: then the loop goes on from where it was left.

    talk: the conversation it belongs to.
    format: which it must have.
    messages: the chat so far, the newest last.
    """
    if talk.format != format:
        what = f"this conversation has the format {talk.format!r}, not {format!r}"
        raise ConfigError("conversation", what, f'make it with engine.conversation(format="{format}")')
    last = plain(messages[-1]) if messages else {}
    if last.get("role") != "user":
        return ""
    content = last["content"]
    parts = [content] if isinstance(content, str) else [part.get("text", "") for part in content]
    said = "\n".join(filter(None, parts))
    is_known = talk.last is not None and parts[-1:] == [talk.last.text]
    return talk.turn(said).text if said and not is_known else ""


def _question(talk: Conversation, result: CallResult) -> Approval:
    """The question with what it is about, as a person is shown it."""
    return next(one for one in talk.engine.approvals.list(every=True) if one.id == result.approval)


def _answer(talk: Conversation, approval: str, said: ApprovalAnswer) -> None:
    with suppress(PolicyError, NotFound):  # somebody has answered elsewhere meanwhile: then that holds
        talk.engine.approvals.answer(approval, said)
