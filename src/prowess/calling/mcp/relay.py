"""A call in which the server asks back, for every pairing of revisions.

Server and client each ask and answer either by requests of their own (the older revisions) or by results
and new calls (the newest). Where both do it in the newest way nothing is kept here.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from mcp_types import ErrorData, InputRequest, InputResponses, Request
from pydantic import TypeAdapter, ValidationError

from prowess.calling.client import Client
from prowess.calling.mcp.elicitation_client import AskableClient, Brought, cannot, passed_state, signed
from prowess.calling.mcp.questions import ElicitationClient
from prowess.calling.mcp.suspended_calls import Parking
from prowess.calling.mcp.upstream import Upstream
from prowess.errors import SourceError

MOST_ROUNDS = 10
"""How often a server may ask before it has answered."""

QUESTION: TypeAdapter[InputRequest] = TypeAdapter(InputRequest)

AsideWork = Callable[[ElicitationClient | None], Awaitable[dict[str, Any]]]
"""What goes on with whoever can be asked."""

Make = Callable[[Brought], Request[Any, Any]]
"""The request, with what a client brought back for it."""


class Dialogue:
    def __init__(self, parking: Parking) -> None:
        self._parking = parking

    async def hold(self, upstream: Upstream, id: str, make: Make, client: Client) -> dict[str, Any]:
        """Ask a server; returns its answer, or what the client must bring an answer to."""
        elicitation_client = client.elicitation_client
        if elicitation_client is None:
            return _answered(upstream, await upstream.ask(make(Brought()), client.progress))
        if not elicitation_client.by_return:
            return await self._driven(upstream, make, client, elicitation_client)
        if elicitation_client.brought.handle:
            return await self._parking.resume(client, id, elicitation_client.brought.handle)
        if elicitation_client.answers and not upstream.asks_by_return:
            return await self._parking.begin(
                client,
                id,
                lambda suspended: upstream.ask(
                    make(Brought()), suspended.report if client.progress else None, suspended
                ),
            )
        result = await upstream.ask(
            make(elicitation_client.brought.for_server), client.progress, elicitation_client
        )
        return _passed_on(upstream, result, elicitation_client) if _asks(result) else result

    async def aside(self, id: str, client: Client, work: AsideWork) -> dict[str, Any]:
        """Go on with a call whose client may be asked meanwhile, in whichever way it can be."""
        elicitation_client = client.elicitation_client
        if elicitation_client is None or not elicitation_client.by_return:
            return await work(elicitation_client)
        if not elicitation_client.answers:
            return await work(None)
        return await self._parking.begin(client, id, work)

    async def _driven(
        self, upstream: Upstream, make: Make, client: Client, elicitation_client: ElicitationClient
    ) -> dict[str, Any]:
        """Put what a server of the newest revision asks to a client of an older one."""
        brought = Brought()
        for _ in range(MOST_ROUNDS):
            result = await upstream.ask(make(brought), client.progress, elicitation_client)
            if not _asks(result):
                return result
            responses: InputResponses = {}
            for key, question in _questions(upstream, result).items():
                reply = await elicitation_client.answer(question, upstream.source.name)
                if isinstance(reply, ErrorData):
                    raise _unanswered(upstream, reply)
                responses[key] = reply
            brought = Brought(responses or None, result.get("requestState") or "")
        raise SourceError(upstream.source.name, f"asked {MOST_ROUNDS} times and never answered", "")


def _asks(result: dict[str, Any]) -> bool:
    return result.get("resultType") == "input_required"


def _answered(upstream: Upstream, result: dict[str, Any]) -> dict[str, Any]:
    if _asks(result):
        raise SourceError(upstream.source.name, "asks for more, and nobody can be asked", "")
    return result


def _passed_on(
    upstream: Upstream, result: dict[str, Any], elicitation_client: AskableClient
) -> dict[str, Any]:
    questions = _questions(upstream, result)
    for question in questions.values():
        if not elicitation_client.can(question):
            raise _unanswered(upstream, cannot(question))
    shown = {
        key: signed(question, upstream.source.name).model_dump(by_alias=True, mode="json", exclude_none=True)
        for key, question in questions.items()
    }
    asked = {"inputRequests": shown} if shown else {}
    return {**result, **asked, "requestState": passed_state(result.get("requestState"))}


def _questions(upstream: Upstream, result: dict[str, Any]) -> dict[str, InputRequest]:
    try:
        asked = dict(result.get("inputRequests") or {})
        return {key: QUESTION.validate_python(value) for key, value in asked.items()}
    except (ValidationError, ValueError) as error:
        what = "what the server asks does not follow the protocol"
        raise SourceError(upstream.source.name, what, "") from error


def _unanswered(upstream: Upstream, refusal: ErrorData) -> SourceError:
    what = f"asks something that was not answered: {refusal.message[:300]}"
    return SourceError(upstream.source.name, what, "use a client that can, or another capability")
