"""Signing in and out: by the one-time link that the server printed, or by a token."""

from urllib.parse import urlsplit

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from prowess.web import identity, page
from prowess.web.cookies import Cookie
from prowess.web.users import LASTS, Users

SESSION = Cookie(identity.COOKIE, LASTS["session"])
NOT_VALID = "This is not valid, or not any more."


def form(request: Request) -> Response:
    """The form; or, with a link, a session at once."""
    link = request.query_params.get("link", "")
    if link:
        return _signed_in(request, link, "/")
    return _form(request, request.query_params.get("next", "/"))


async def sign_in(request: Request) -> Response:
    # The body of a form can only be read asynchronously; the store only in a thread.
    async with request.form() as said:
        token, goal = str(said.get("token", "")), str(said.get("next", "/"))
    return await to_thread.run_sync(_signed_in, request, token.strip(), goal)


def sign_out(request: Request) -> Response:
    person = identity.person(request)
    people: Users = request.app.state.people
    if identity.caller(request).session:  # a token is revoked by whoever may, not by leaving
        people.end(person.pass_id, person.name)
    answer = RedirectResponse("/login?out=1", 303)
    SESSION.drop(request, answer)
    return answer


def within(goal: str) -> str:
    """A place on this server, never another."""
    parts = urlsplit(goal)
    local = goal.startswith("/") and not goal.startswith(("//", "/\\")) and not parts.netloc
    return goal if local and goal.isprintable() else "/"


def _signed_in(request: Request, text: str, goal: str) -> Response:
    people: Users = request.app.state.people
    issued = people.sign_in(text)
    if issued is None:
        return _form(request, goal, NOT_VALID, 403)
    answer = RedirectResponse(within(goal), 303)
    SESSION.put(request, answer, issued.text)
    return answer


def _form(request: Request, goal: str, said: str = "", status: int = 200) -> Response:
    provider = request.app.state.provider
    return page.render(
        request, "login.html", status, title="Sign in", next=within(goal), said=said,
        provider=provider.name if provider else "", out="out" in request.query_params,
    )  # fmt: skip


ROUTES = [
    Route("/login", form, methods=["GET"]),
    Route("/login", sign_in, methods=["POST"]),
    Route("/logout", sign_out, methods=["POST"]),
]
