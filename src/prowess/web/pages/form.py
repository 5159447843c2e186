"""A form that a person sends from a page: who may, what it does, and the way back to the page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from prowess.errors import ProwessError, Refused
from prowess.journal.entries import WebAsked
from prowess.operations.backend import Local
from prowess.operations.operation import AnyOperation
from prowess.web import identity, page
from prowess.web.problems import problem_of

Fields = Mapping[str, str]
LONGEST_NOTE = 500


@dataclass(frozen=True, slots=True)
class NextPage:
    """What a form answers that is kept nowhere: a template and its values."""

    template: str
    title: str
    values: Mapping[str, object]


Act = Callable[[Local, Fields], str | NextPage]
"""Does what the form says in the name of a person; returns the address to show next, or the page itself."""


def form(path: str, act: Act, operation: AnyOperation) -> Route:
    """The route of a form, for those who may do the operation; one that fails is answered with a way on."""

    async def sent(request: Request) -> Response:
        person = identity.require(request, operation.role)
        async with request.form(max_files=0) as said:
            fields = {name: value for name, value in said.items() if isinstance(value, str)}
        if any("\0" in value for value in fields.values()):
            raise Refused(422, "the form holds a NUL, which no database keeps", "leave it out")
        local = Local(request.app.state.engine, person)
        try:
            next_page = await to_thread.run_sync(_done, act, operation, local, fields)
        except ProwessError as error:
            return await to_thread.run_sync(_refused, request, error)
        if isinstance(next_page, NextPage):
            return await to_thread.run_sync(_shown, request, next_page)
        return RedirectResponse(next_page, 303)

    return Route(path, sent, methods=["POST"])


def _done(act: Act, operation: AnyOperation, local: Local, fields: Fields) -> str | NextPage:
    if operation.writes and not operation.signed:
        of = {name: fields[name] for name in operation.names if name in fields}
        asked = WebAsked(by=local.person.name, role=local.person.role, operation=operation.id, of=of)
        local.engine.internals.journal.record(asked)
    return act(local, fields)


def _shown(request: Request, next_page: NextPage) -> Response:
    return page.render(request, next_page.template, 200, title=next_page.title, **next_page.values)


def backend(request: Request) -> Local:
    """The operations, for the person who looks at a page."""
    return Local(request.app.state.engine, identity.person(request))


def address(path: str, **query: object) -> str:
    """A path with its query; what is empty is left out."""
    said = urlencode({name: str(value) for name, value in query.items() if value not in ("", None)})
    return f"{path}?{said}" if said else path


def note(fields: Fields, name: str = "note") -> str:
    """What somebody wrote beside their decision, as much of it as is kept."""
    return fields.get(name, "").strip()[:LONGEST_NOTE]


def said(request: Request, sentences: Mapping[str, str]) -> str:
    """What the form before this page did: one of a few sentences, about one name.

    The name stands in the address, where somebody else's link could put any words: those are not said.
    """
    if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return ""
    sentence = sentences.get(request.query_params.get("done", ""), "")
    return sentence.replace("{}", request.query_params.get("what", ""))


def _refused(request: Request, error: ProwessError) -> Response:
    problem = problem_of(error)
    came_from = urlsplit(request.headers.get("referer", ""))
    here = came_from.path.startswith("/") and not came_from.path.startswith("//")
    back = f"{came_from.path}?{came_from.query}" if here else "/"
    return page.render(
        request, "refused.html", problem.status, title=problem.title, problem=problem, back=back
    )
