"""The page `quarantine`: what is held back, how it differs from what was approved, and what the guard says.

A decision holds for exactly the content the person saw: the form carries its digest.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.engine.engine import Engine
from prowess.errors import NotFound
from prowess.guard.scan import Judged
from prowess.operations.person import Person
from prowess.text.invisible import visible
from prowess.text.secrets import secrets
from prowess.types import HeldCapability
from prowess.web import identity, page
from prowess.web.pages.form import Fields, address, form, said
from prowess.web.pages.pagination import paged
from prowess.web.redact import marked

AROUND = 60
"""How much of a text is shown on each side of what the guard found."""
TONES = {"high": "bad", "medium": "warn", "low": ""}
DONE = {
    "approved": "{} is approved with the content you saw. Agents can use it from now on.",
    "rejected": "{} is rejected. It stays out until its content changes.",
}


@dataclass(frozen=True, slots=True)
class FindingInContext:
    """One finding of the guard, with the words around it."""

    where: str
    severity: str
    tone: str
    reason: str
    before: str
    at: str
    after: str


def listed(request: Request) -> Response:
    identity.person(request)
    view = request.app.state.engine.catalogue.view()
    held = sorted(view.quarantined.values(), key=lambda one: (one.state != "waiting", one.since, one.id))
    rows = paged(request, [(one, view.capabilities.get(one.id)) for one in held])
    return page.render(request, "quarantine.html", title="Quarantine", rows=rows, notice=said(request, DONE))


def shown(request: Request) -> Response:
    identity.person(request)
    engine: Engine = request.app.state.engine
    held = _held(engine, request.query_params.get("id", ""))
    findings = [found for one in engine.findings.inspect(held.id) for found in _found(one)]
    approved = engine.quarantine.approved_version(held.id)
    return page.render(
        request,
        "quarantined.html",
        title=held.id,
        held=held,
        capability=engine.catalogue.get(held.id),
        approved=approved,
        lines=list(marked(engine.quarantine.difference(held.id))),
        findings=findings,
    )


def _held(engine: Engine, id: str) -> HeldCapability:
    held = engine.catalogue.view().quarantined
    if id not in held:
        raise NotFound("quarantined capability", id, held, "see the list of what is held back")
    return held[id]


def _found(one: Judged) -> Iterator[FindingInContext]:
    text = _masked(one.text)
    for finding in one.judgement.findings:
        at = finding.place
        end = min(len(text), at + AROUND)
        yield FindingInContext(
            where=one.channel.replace("_", " "),
            severity=finding.severity,
            tone=TONES[finding.severity],
            reason=finding.reason,
            before=("…" if at > AROUND else "") + visible(text[max(0, at - AROUND) : at]),
            at=visible(text[at:end]),
            after="…" if end < len(text) else "",
        )


def _masked(text: str) -> str:
    """The text with a dot for each character of a credential, so that every place in it stays."""
    for secret in secrets(text):
        length = secret.end - secret.place
        text = f"{text[: secret.place]}{'•' * length}{text[secret.end :]}"
    return text


def approve(engine: Engine, person: Person, fields: Fields) -> str:
    held = engine.quarantine.approve(fields.get("id", ""), person.name, fields.get("digest", ""))
    return address("/quarantine", done="approved", what=held.id)


def reject(engine: Engine, person: Person, fields: Fields) -> str:
    held = engine.quarantine.reject(fields.get("id", ""), person.name, fields.get("digest", ""))
    return address("/quarantine", done="rejected", what=held.id)


ROUTES = (
    Route("/quarantine", listed),
    Route("/quarantine/show", shown),
    form("/quarantine/approve", approve),
    form("/quarantine/reject", reject),
)
