"""Cookies that no script reads and no other site sends; over TLS, none that another server could set."""

from dataclasses import dataclass
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response

from prowess.listen import LOOPBACK, is_among

HOST_ONLY = "__Host-"
"""Browsers take a cookie of such a name only over TLS and only from the host itself."""


@dataclass(frozen=True, slots=True)
class Cookie:
    name: str
    lasts: timedelta

    def put(self, request: Request, answer: Response, value: str) -> None:
        seconds = int(self.lasts.total_seconds())
        secure = _is_secure(request)
        answer.set_cookie(
            self._called(secure), value, max_age=seconds, secure=secure, httponly=True, samesite="lax"
        )

    def drop(self, request: Request, answer: Response) -> None:
        secure = _is_secure(request)
        answer.delete_cookie(self._called(secure), secure=secure, httponly=True, samesite="lax")

    def read(self, request: Request) -> str:
        return request.cookies.get(self._called(_is_secure(request)), "")

    def _called(self, secure: bool) -> str:
        return f"{HOST_ONLY}{self.name}" if secure else self.name


def _is_secure(request: Request) -> bool:
    """Whether the cookie needs TLS: also where a proxy on this machine brings others to us by a name."""
    return request.app.state.secure or not is_among(request.headers.get("host", ""), LOOPBACK)
