"""The page `digest`: what happened in a week, to read or to send."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.operations.backend import Local
from prowess.operations.digests import DigestQuery, send_digest, show_digest
from prowess.web import page
from prowess.web.pages.form import Fields, address, backend, form, said

DONE = {"sent": "It is on its way to those whom [alerts.mail] names."}


def shown(request: Request) -> Response:
    local = backend(request)
    return page.render(
        request,
        "digest.html",
        title="The last 7 days",
        under="/",
        digest=local.call(show_digest, DigestQuery()),
        has_mail=local.engine.internals.options.alerts.mail is not None,
        notice=said(request, DONE),
    )


def send(local: Local, fields: Fields) -> str:
    local.call(send_digest, DigestQuery())
    return address("/digest", done="sent")


ROUTES = (Route("/digest", shown), form("/digest/send", send, send_digest))
