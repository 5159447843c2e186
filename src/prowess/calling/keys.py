"""A call with a key is made once: the same key answers with the first result.

Above: the calls. Below: the intents, which keep it. What still goes on, or was cut off, is not done again.
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from prowess.calling.call_end import CallEnd, CallRequest, PreparedCall, misfitting, not_made
from prowess.calling.caller import Caller
from prowess.calling.intents import TOO_LONG, Intent, Intents
from prowess.errors import CallFailed
from prowess.policy.arguments import digest_of
from prowess.store.database import Database
from prowess.types import Ending


class KeyTaken(Exception):
    """Somebody is making the call with this key right now."""

    def __init__(self, request: CallRequest, id: str) -> None:
        super().__init__(request.key)
        self.end = _going_on(request.key, id, "just now")


class _KeptEnd(msgspec.Struct):
    answer: dict[str, Any]
    ending: Ending
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Keys:
    database: Database
    intents: Intents

    def earlier(self, request: CallRequest, caller: Caller, fitting: PreparedCall) -> CallEnd | None:
        """What the first call with this key came to; nothing where this is the first."""
        with self.database.reading() as transaction:
            first = self.intents.keyed(transaction, caller.agent, request.key)
        if first is None:
            return None
        id = fitting.capability.id
        if (first.capability, first.arguments) != (id, digest_of(fitting.arguments)):
            fault = f"the key {request.key!r} belongs to another call, or to other arguments"
            return misfitting(id, f"{id} was not called: {fault}.", (fault,))
        if not first.ended_at:
            return _going_on(request.key, id, first.begun_at)
        return _repeated(id, request.key, first.result)

    def kept(self, ended: CallEnd) -> str:
        """How a call ended, as its key keeps it."""
        return msgspec.json.encode(_KeptEnd(ended.answer, ended.ending, ended.detail)).decode()


def remembered(request: CallRequest, caller: Caller, ready: PreparedCall, arguments: str) -> Intent:
    """The intent to make a call."""
    return Intent(
        id=ready.call,
        agent=caller.agent,
        capability=ready.capability.id,
        key=request.key,
        arguments=arguments,
    )


def _repeated(id: str, key: str, result: str) -> CallEnd:
    if result == TOO_LONG:
        text = f"{id} was called with the key {key!r} before; its result was too long to be kept."
        return not_made(id, "refused", text, "the first result was too long to be kept")
    first = msgspec.json.decode(result, type=_KeptEnd)
    error = CallFailed(id, first.ending, first.detail) if first.ending != "ok" else None
    return CallEnd(
        answer=first.answer,
        ending=first.ending,
        capability=id,
        detail=first.detail,
        error=error,
        repeated=True,
    )


def _going_on(key: str, id: str, since: str) -> CallEnd:
    text = (
        f"{id} was begun with the key {key!r} ({since}) and its end is not known: it may still go on, or it"
        " was cut off and a person must find out whether it took effect. It is not done a second time."
    )
    return not_made(id, "unknown", text, "a call with this key has no end yet")
