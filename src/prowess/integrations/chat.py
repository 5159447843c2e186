"""What the SDKs of OpenAI and Anthropic leave to the program: reading what came in, and asking a person.

Where policy says `ask`, the program is asked at once; what it answers is recorded, and the call made again.
Without an answer the model is told that the call waits for a person, and goes on with something else.
"""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from anyio import to_thread

from prowess.engine.conversation import Conversation
from prowess.errors import ConfigError, NotFound, PolicyError
from prowess.policy.approvals import Approval, ApprovalAnswer
from prowess.prompt.formats.content import plain
from prowess.types import CallResult, ToolCall

Approve = Callable[[Approval], ApprovalAnswer | None]
"""Shows a person the question and gives the answer; nothing where nobody can answer now."""
AsyncApprove = Callable[[Approval], ApprovalAnswer | Awaitable[ApprovalAnswer | None] | None]


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


def called(talk: Conversation, call: ToolCall, approve: Approve | None) -> CallResult:
    """Make a call, once however often it is asked for.

    talk: the conversation it belongs to.
    call: as `Conversation.calls` read it.
    approve: asks a person.
    """
    key = talk.key_of(call)
    result = talk.call(call.name, call.arguments, key=key)
    said = approve(_question(talk, result)) if result.approval and approve else None
    if said is None:
        return result
    _answer(talk, result.approval, said)
    return talk.call(call.name, call.arguments, key=key)


async def acalled(talk: Conversation, call: ToolCall, approve: AsyncApprove | None) -> CallResult:
    """What `called` does, awaited.

    talk: the conversation it belongs to.
    call: as `Conversation.calls` read it.
    approve: asks a person; may be asynchronous.
    """
    key = talk.key_of(call)
    result = await talk.acall(call.name, call.arguments, key=key)
    if not (result.approval and approve):
        return result
    said = approve(await to_thread.run_sync(_question, talk, result))
    if inspect.isawaitable(said):
        said = await said
    if said is None:
        return result
    await to_thread.run_sync(_answer, talk, result.approval, said)
    return await talk.acall(call.name, call.arguments, key=key)


def _question(talk: Conversation, result: CallResult) -> Approval:
    """The question with what it is about, as a person is shown it."""
    return next(one for one in talk.engine.approvals.list(every=True) if one.id == result.approval)


def _answer(talk: Conversation, approval: str, said: ApprovalAnswer) -> None:
    with suppress(PolicyError, NotFound):  # somebody has answered elsewhere meanwhile: then that holds
        talk.engine.approvals.answer(approval, said)
