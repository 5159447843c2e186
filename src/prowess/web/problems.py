"""What went wrong, as an answer: problem+json for programs, a short page for people."""

from collections.abc import Mapping
from urllib.parse import quote

import msgspec
from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from prowess import errors
from prowess.errors import ProwessError, Refused
from prowess.web import page

API = "/api/"
PROBLEM = "application/problem+json"
CONFLICT = 409
"""What prowess can name and does not list below: it cannot be done as things are."""
STATUS: dict[type[ProwessError], int] = {
    errors.StoreError: 503,
    errors.MissingExtra: 501,
    errors.NotFound: 404,
    errors.Outdated: 409,
    errors.FindingStands: 409,
    errors.Denied: 403,
    errors.ApprovalNeeded: 403,
    errors.EncoderUnavailable: 503,
    errors.RemoteError: 502,
    # By an operation; what the server itself refuses carries a status of its own.
    errors.Refused: 403,
}
TITLES = {
    400: "The request cannot be read",
    401: "Nobody is signed in",
    403: "Not allowed",
    404: "Not found",
    405: "This cannot be done here",
    408: "It took too long",
    409: "It cannot be done as things are",
    413: "Too much at once",
    415: "Not a form this server reads",
    421: "Another server is meant",
    422: "The request is not usable",
    429: "Too many requests",
    501: "A part is not installed",
    502: "Another server did not answer",
    503: "The store cannot be used",
}


class HttpProblem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What happened, to what, and what to do next (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str = ""
    remedy: str = ""
    approval: str = ""
    """The question that waits for a person, where that is what is missing."""


def status_of(error: type[ProwessError]) -> int:
    return next((STATUS[kind] for kind in error.__mro__ if kind in STATUS), CONFLICT)


def urn_of(error: type[ProwessError]) -> str:
    """What kind of problem it is, for programs."""
    return f"urn:prowess:{_kebab(error.__name__)}"


def problem_of(error: Exception) -> HttpProblem:
    if isinstance(error, ProwessError):
        status = error.status if isinstance(error, Refused) else status_of(type(error))
        return HttpProblem(
            type=urn_of(type(error)),
            title=TITLES.get(status, "It went wrong"),
            status=status,
            detail=error.message,
            remedy=error.remedy,
            approval=getattr(error, "approval", ""),
        )
    if isinstance(error, HTTPException):
        title = TITLES.get(error.status_code, "It went wrong")
        return HttpProblem(type="about:blank", title=title, status=error.status_code)
    # What an unforeseen failure says may hold anything, a secret too: it goes to the log, not outside.
    return HttpProblem(type="about:blank", title="The server failed", status=500, remedy="see its log")


def answer_to(request: Request, error: Exception, more: Mapping[str, str] | None = None) -> Response:
    problem = problem_of(error)
    headers = {**_headers(problem.status, error), **(more or {})}
    if request.url.path.startswith(API):
        body = msgspec.json.encode(problem)
        return Response(body, problem.status, headers, media_type=PROBLEM)
    if problem.status == 401 and request.method == "GET":
        goal = f"{request.url.path}?{request.url.query}" if request.url.query else request.url.path
        form = f"{_way_in(request)}?next={quote(goal)}"
        # A part of a page cannot hold the form: the whole page goes there.
        is_part = page.wants_part(request)
        return Response(None, 204, {"HX-Redirect": form}) if is_part else RedirectResponse(form, 303)
    answer = page.render(request, "error.html", problem.status, title=problem.title, problem=problem)
    answer.headers.update(headers)
    return answer


async def handle(request: Request, error: Exception) -> Response:
    # A page asks the store what waits for its reader: not while everybody else is kept waiting.
    return await to_thread.run_sync(answer_to, request, error)


def _way_in(request: Request) -> str:
    """Who comes back after an hour is signed in by the provider without a form of ours."""
    return "/login/provider" if request.app.state.provider else "/login"


def _headers(status: int, error: Exception) -> dict[str, str]:
    given = getattr(error, "headers", None)
    if status == 401:
        return {"WWW-Authenticate": "Bearer"}
    return {"Retry-After": "5"} if status == 429 else dict(given or {})


def _kebab(name: str) -> str:
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).lstrip("-")
