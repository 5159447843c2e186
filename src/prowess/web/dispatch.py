"""The API as an application: from a request to an operation, and from its value to an answer.

Paths are matched on their raw bytes, so that a capability whose id holds a slash has an address too.
"""

import logging
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, TypeAlias
from urllib.parse import unquote, unquote_to_bytes

import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from prowess.encoding import encoded
from prowess.engine.engine import Engine
from prowess.errors import ApprovalNeeded, Denied, ProwessError, Refused
from prowess.journal.entries import WebAsked
from prowess.operations.operation import (
    JSON,
    NO_PARAMS,
    AgentQuery,
    AnyOperation,
    Call,
    RequestParams,
    Table,
    named,
)
from prowess.operations.person import Person
from prowess.store.connections import CONNECTIONS
from prowess.web import identity
from prowess.web.credentials import quoted
from prowess.web.idempotency import Answered, Answers, key_in
from prowess.web.operations import ServerParts
from prowess.web.problems import PROBLEM, answer_to, problem_of
from prowess.web.stream import Streams
from prowess.web.users import Users

logger = logging.getLogger("prowess")

ROOT = "/api/v1"

AnyCall: TypeAlias = Call[Any]


@dataclass(frozen=True, slots=True)
class ApiContext:
    """What every call is served with."""

    engine: Engine
    people: Users
    answers: Answers
    table: Table
    streams: Streams


class Api:
    def __init__(self, serves: ApiContext) -> None:
        self._serves = serves
        # More at once would only wait for the store's connections, and make each other late.
        self._quick = CapacityLimiter(CONNECTIONS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
        except ProwessError as error:
            answer = answer_to(request, error)
        except Exception as failure:
            logger.exception("%s %s failed", scope["method"], scope["path"])
            answer = answer_to(request, failure)
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        segments = _segments(request.scope)
        operations = self._serves.table.at(segments)
        if not operations:
            raise Refused(404, "there is nothing at this address", f"see {ROOT}/openapi.json")
        operation = operations.get(request.method)
        if operation is None:
            allowed = ", ".join(sorted(operations))
            refused = Refused(405, f"{request.method} is not for this address", f"it takes {allowed}")
            return answer_to(request, refused, {"Allow": allowed})
        call = self._call(operation, request, named(operation, segments), await request.body())
        if operation.media != JSON:
            chunks = await to_thread.run_sync(operation.run, call)
            return StreamingResponse(chunks, media_type=operation.media)
        return await self._performed(operation, call, request)

    def _call(self, operation: AnyOperation, request: Request, path: dict[str, str], raw: bytes) -> AnyCall:
        person = _allowed(operation, path, request)
        query, body = _query(operation, request), _body(operation, request, raw)
        if isinstance(query, AgentQuery) and operation.about_agent:
            path["agent"] = query.agent
            query = None
        last_event = request.headers.get("last-event-id", "")
        parts = ServerParts(self._serves.people, self._serves.streams, last_event)
        return Call(self._serves.engine, person, body or query or NO_PARAMS, path, server=parts)

    async def _performed(self, operation: AnyOperation, call: AnyCall, request: Request) -> Response:
        key = key_in(request.headers) if operation.writes else ""
        if key and operation.shown_once:
            raise Refused(400, "this answer is shown once and not kept", "send it without Idempotency-Key")
        address = [operation.id.encode(), request.scope["raw_path"], request.scope["query_string"]]
        sent = b"\n".join([*address, await request.body()])
        limiter = None if operation.slow else self._quick
        answers = self._serves.answers
        answered = await to_thread.run_sync(perform, operation, call, answers, key, sent, limiter=limiter)
        if operation.method != "GET":
            media = JSON if answered.status < 400 else PROBLEM
            return Response(answered.body, answered.status, media_type=media)
        tag = f'W/"{blake2b(answered.body, digest_size=12).hexdigest()}"'
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
        if tag in (said.strip() for said in request.headers.get("if-none-match", "").split(",")):
            return Response(status_code=304, headers=headers)
        return Response(answered.body, answered.status, headers, media_type=JSON)


def perform(operation: AnyOperation, call: AnyCall, answers: Answers, key: str, sent: bytes) -> Answered:
    """Do it, once if it has a key; everything that touches the store happens in here, in one thread.

    After a failure that nobody foresaw the key stays begun: what was done by then is not known.
    """
    if not key:
        return _done(operation, call)
    who = f"{call.person.role} {call.person.name}"
    held = answers.begin(who, key, sent)
    if held:
        return held
    try:
        answered = _done(operation, call)
    except ProwessError as error:
        problem = problem_of(_for_agents(error, call))
        answered = Answered(problem.status, msgspec.json.encode(problem))
    if answered.status >= 500:
        answers.drop(who, key)
    else:
        answers.end(who, key, answered)
    return answered


def _done(operation: AnyOperation, call: AnyCall) -> Answered:
    if operation.writes and not operation.signed and not call.is_agent:
        asked = WebAsked(by=call.by, role=call.person.role, operation=operation.id, of=dict(call.path))
        call.engine.internals.journal.record(asked)
    try:
        value = operation.run(call)
    except (Denied, ApprovalNeeded) as error:
        raise _for_agents(error, call) from error
    return Answered(operation.status, encoded(quoted(value) if operation.quotes else value))


def _for_agents(error: ProwessError, call: AnyCall) -> ProwessError:
    """An agent learns that it may not; why not names rules, and perhaps what it may not know of."""
    if isinstance(error, Denied) and call.is_agent:
        return Refused(403, f"{error.agent} may not use {error.id}", "use something that is offered")
    if isinstance(error, ApprovalNeeded) and call.is_agent:
        asked = replace(error.decision, reason="a person is asked", chain=())
        return ApprovalNeeded(error.agent, error.id, error.approval, asked)
    return error


def _allowed(operation: AnyOperation, path: dict[str, str], request: Request) -> Person:
    asking = identity.caller(request).person
    if asking and asking.role == "agent":
        if operation.agents and path.get("agent") == asking.name:
            return asking
        raise Refused(403, "an agent may ask only for itself", "use the addresses below its own name")
    return identity.require(request, operation.role)


def _segments(scope: Scope) -> tuple[str, ...]:
    raw: bytes = scope["raw_path"].partition(b"?")[0].removeprefix(ROOT.encode())
    try:
        found = tuple(unquote_to_bytes(part).decode() for part in raw.strip(b"/").split(b"/"))
    except UnicodeDecodeError:
        raise Refused(404, "this address is not text", "write it in UTF-8") from None
    if any("\0" in part for part in found):
        raise Refused(404, "this address holds a NUL", "nothing has such a name")
    return found


def _query(operation: AnyOperation, request: Request) -> RequestParams | None:
    pairs = [part.partition("=") for part in request.url.query.split("&") if part]
    given: dict[str, Any] = {}
    for name, _, value in pairs:
        said = unquote(name.replace("+", " "))
        if said in given:
            raise Refused(422, f"{said!r} is given twice", "give it once")
        given[said] = unquote(value.replace("+", " "))
    if operation.query is None:
        if given:
            raise Refused(422, f"nothing is known about {min(given)!r}", "leave it out")
        return None
    try:
        return msgspec.convert(given, operation.query, strict=False)
    except msgspec.ValidationError as error:
        raise Refused(422, f"query: {error}", f"see {ROOT}/openapi.json") from None


def _body(operation: AnyOperation, request: Request, raw: bytes) -> RequestParams | None:
    if operation.body is None:
        return None
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise Refused(415, "the body is not JSON", f"send it as {JSON}")
    try:
        found = _read(raw, operation.body)
    except msgspec.ValidationError as error:
        raise Refused(422, f"body: {error}", f"see {ROOT}/openapi.json") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refused(400, f"body: {error}", "send JSON") from None
    except RecursionError:
        raise Refused(400, "body: it is nested too deep", "send it flatter") from None
    if b"\\u0000" in raw and _holds_nul(msgspec.to_builtins(found)):
        raise Refused(422, "the body holds a NUL", "leave it out")
    return found


def _read(raw: bytes, type: type[RequestParams]) -> RequestParams:
    try:
        return msgspec.json.decode(raw, type=type)
    except msgspec.ValidationError:
        # To JSON 3.0 is a whole number; only where somebody writes so is it worth a second look.
        return msgspec.convert(_whole(msgspec.json.decode(raw)), type)


def _whole(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _whole(part) for name, part in value.items()}
    return [_whole(part) for part in value] if isinstance(value, list) else value


def _holds_nul(value: object) -> bool:
    """Whether any text in it holds what no database keeps."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(_holds_nul(part) for pair in value.items() for part in pair)
    return isinstance(value, list | tuple) and any(map(_holds_nul, value))
