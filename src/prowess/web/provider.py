"""Signing in at an identity provider: from a button to a session, in the workspace that somebody belongs to.

`/login/provider` sends a browser there, `/login/callback` is where it comes back to, `/login/out` signs out
at the provider. The session that follows is like any other, and lasts `session_minutes`: then the provider is
asked again, and a role that was taken away there is gone here.
"""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from prowess.config import OidcConfig
from prowess.journal import stamp
from prowess.oidc.membership import Memberships, ProviderMember, ServedNames
from prowess.oidc.sign_in import CALLBACK, BegunSignIn, ProviderSignIn, not_begun_here
from prowess.operations.person import Person
from prowess.store.token_workspace import of_token
from prowess.web import page
from prowess.web.cookies import Cookie
from prowess.web.signin import SESSION, within
from prowess.web.users import Users

BEGUN = Cookie("prowess_signing_in", timedelta(minutes=10))
MAX_WORKSPACES_SHOWN = 100
MAX_GOAL_LENGTH = 500
"""Of what is kept in a cookie, which browsers drop when it is long."""


class ServedWorkspaces(ServedNames, Protocol):
    """The workspaces that a server serves, and the people of each."""

    def people(self, name: str) -> AbstractContextManager[Users]: ...


@dataclass(frozen=True, slots=True)
class OnlyWorkspace:
    name: str
    its_people: Users

    def __contains__(self, name: object) -> bool:
        return name == self.name

    def __iter__(self) -> Iterator[str]:
        return iter((self.name,))

    def people(self, name: str) -> AbstractContextManager[Users]:
        return nullcontext(self.its_people)


@dataclass(frozen=True, slots=True)
class ProviderFace:
    """What this server does with those who come from the provider."""

    sign_in: ProviderSignIn
    served: ServedWorkspaces

    @property
    def name(self) -> str:
        return self.sign_in.name

    async def workspaces_of(self, bearer: str) -> tuple[str, ...]:
        """Where somebody with this access token may do anything; empty where it proves nobody."""
        member = await self.sign_in.bearer(bearer)
        return await to_thread.run_sync(member.workspaces, self.served) if member else ()

    async def person(self, bearer: str, workspace: str) -> Person | None:
        """Whose access token this is, where it is taken and they may do anything here."""
        member = await self.sign_in.bearer(bearer)
        role = member.role_in(workspace) if member else None
        if member is None or role is None:
            return None
        return Person(member.name, role, expires_at=stamp(datetime.fromtimestamp(member.expires_at, UTC)))

    def admit(self, member: ProviderMember, workspace: str) -> str:
        """A session for somebody, with who vouched for them; its text."""
        role = member.role_in(workspace)
        assert role is not None, "asked of those that the member may enter"
        by = f"{self.sign_in.config.issuer} (subject {member.subject})"
        lasts = timedelta(minutes=self.sign_in.config.session_minutes)
        with self.served.people(workspace) as people:
            return people.issue(member.name, role, "session", lasts, by).text

    def end(self, session: str) -> None:
        """End what a browser had before, and with it a role that was taken away since."""
        _, workspace = of_token(session)
        if workspace in self.served:
            with self.served.people(workspace) as people:
                if held := people.person(session, "session"):
                    people.end(held.pass_id, held.name)


def provider_face(
    config: OidcConfig, environment: Mapping[str, str], served: ServedWorkspaces, only: str = ""
) -> ProviderFace:
    """only: the one workspace that is served; empty where there are many."""

    def secret() -> str:
        return environment.get(config.secret, "") if config.secret else ""

    return ProviderFace(ProviderSignIn(config, Memberships(config, only), secret), served)


def routes(face: ProviderFace) -> list[Route]:
    return [
        Route("/login/provider", partial(_begin, face)),
        Route(CALLBACK, partial(_finish, face)),
        Route("/login/out", partial(_sign_out, face)),
    ]


async def _begin(face: ProviderFace, request: Request) -> Response:
    # Without a word, where they were before.
    asked = request.query_params.get("workspace") or of_token(SESSION.read(request))[1]
    goal = within(request.query_params.get("next", "/"))
    address, begun = await face.sign_in.begin(goal if len(goal) <= MAX_GOAL_LENGTH else "/", asked)
    answer = RedirectResponse(address, 303)
    BEGUN.put(request, answer, msgspec.json.encode(begun).hex())
    return answer


async def _finish(face: ProviderFace, request: Request) -> Response:
    member = await face.sign_in.finish(begun := _begun(request), request.url.query)
    return await to_thread.run_sync(_entered, face, request, member, begun)


def _entered(face: ProviderFace, request: Request, member: ProviderMember, begun: BegunSignIn) -> Response:
    face.end(SESSION.read(request))
    mine = member.workspaces(face.served)
    chosen = begun.workspace if begun.workspace in mine else mine[0] if len(mine) == 1 else ""
    if chosen:
        answer: Response = RedirectResponse(within(begun.goal), 303)
        SESSION.put(request, answer, face.admit(member, chosen))
    else:
        answer = page.render(
            request, "member.html", 200 if mine else 403, provider=face.name, member=member,
            title="Choose a workspace" if mine else "Not allowed", workspaces=mine[:MAX_WORKSPACES_SHOWN],
            next=within(begun.goal),
        )  # fmt: skip
        SESSION.drop(request, answer)
    BEGUN.drop(request, answer)
    return answer


async def _sign_out(face: ProviderFace, request: Request) -> Response:
    return RedirectResponse(await face.sign_in.sign_out_address() or "/login", 303)


def _begun(request: Request) -> BegunSignIn:
    try:
        return msgspec.json.decode(bytes.fromhex(BEGUN.read(request)), type=BegunSignIn)
    except (ValueError, msgspec.MsgspecError):
        raise not_begun_here() from None
