"""The pages that change a policy: a form, what it would do, its history and the way back."""

from collections.abc import Mapping, Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.errors import NotFound, PolicyError
from prowess.operations.backend import Local
from prowess.operations.operation import NO_PARAMS
from prowess.operations.policy_changes import (
    ConfirmChanges,
    ConfirmUndo,
    PastChanges,
    ProfilesCompared,
    ProposalShown,
    ProposeChanges,
    change_policy,
    diff_profiles,
    list_changes,
    propose_changes,
    propose_undo,
    undo_change,
)
from prowess.web import page
from prowess.web.pages.form import Fields, address, backend, form, said

WAYS = {
    "allow": ("may use", "additional_tools+={}"),
    "ask": ("asks a person before it uses", "ask+={}"),
    "deny": ("may not use", "disallowed_tools+={}"),
    "unallow": ("no longer names as allowed", "additional_tools-={}"),
    "unask": ("no longer asks about", "ask-={}"),
    "undeny": ("no longer denies", "disallowed_tools-={}"),
    "grant": ("holds the grant", "capabilities.{}=true"),
    "ungrant": ("does not hold the grant", "capabilities.{}=false"),
}
"""What a form says of a profile, and the change that is."""
MAX_LINES = 400
"""So many lines of what a change does are shown."""
DONE = {
    "changed": "{} is changed. Agents go by it from their next turn on.",
    "undone": "The latest change of {} is taken back.",
}
MarkedLines = tuple[tuple[str, str], ...]


def change_form(request: Request) -> Response:
    """The form, and what the change that its fields name would do."""
    local, asked = backend(request), request.query_params
    profile, changes = asked.get("profile", ""), _changes(asked)
    proposal, refused = _seen(local, profile, changes)
    return _page(request, local, proposal=proposal, refused=refused, undoing=False, asked=asked)


def undo_form(request: Request) -> Response:
    """What taking back the latest change would do."""
    local, refused, proposal = backend(request), None, None
    try:
        proposal = local.call(propose_undo, NO_PARAMS)
    except (NotFound, PolicyError) as error:
        refused = error
    return _page(request, local, proposal=proposal, refused=refused, undoing=True, asked={})


def compare(request: Request) -> Response:
    """Two profiles beside each other: who gains and loses what that goes from one to the other."""
    local, asked = backend(request), request.query_params
    profiles = sorted(local.engine.policy.rules.profiles)
    before, after = asked.get("before", ""), asked.get("after", "")
    found = None
    first, second = (*profiles, "", "")[:2]
    if before and after:
        found = local.call(diff_profiles, ProfilesCompared(before=before, after=after))
    return page.render(
        request, "policy_compare.html", title="Policy", tab="compare", profiles=profiles,
        before=before or first, after=after or second, found=found,
        effect=_effect(found.words) if found else (),
        more=max(0, len(found.words) - MAX_LINES) if found else 0,
    )  # fmt: skip


def change(local: Local, fields: Fields) -> str:
    changes = tuple(filter(None, fields.get("changes", "").splitlines()))
    if not changes:
        raise PolicyError("policy", "no change is named", "use the form")
    asked = ConfirmChanges(changes=changes, digest=fields.get("digest", ""))
    made = local.call(change_policy, asked, name=fields.get("profile", ""))
    return address("/policy/change", done="changed", what=made.file)


def undo(local: Local, fields: Fields) -> str:
    made = local.call(undo_change, ConfirmUndo(digest=fields.get("digest", "")))
    return address("/policy/change", done="undone", what=made.file)


def _page(
    request: Request,
    local: Local,
    *,
    proposal: ProposalShown | None,
    refused: PolicyError | NotFound | None,
    undoing: bool,
    asked: Mapping[str, str],
) -> Response:
    rules = local.engine.policy.rules
    agents = [one.name for one in local.engine.agents.list() if proposal and one.profile == proposal.profile]
    return page.render(
        request,
        "policy_change.html",
        title="Policy",
        tab="change",
        profiles=sorted(rules.profiles),
        grants=sorted(rules.grants),
        ways=WAYS,
        asked={name: asked.get(name, "") for name in ("profile", "do", "pattern", "more")},
        proposal=proposal,
        refused=refused,
        undoing=undoing,
        agents=agents,
        text=marked(proposal.lines) if proposal else (),
        effect=_effect(proposal.words) if proposal else (),
        more=max(0, len(proposal.words) - MAX_LINES) if proposal else 0,
        history=local.call(list_changes, PastChanges()),
        notice=said(request, DONE),
    )


def _changes(asked: Mapping[str, str]) -> tuple[str, ...]:
    """What the fields of the form say, as changes of a profile."""
    pattern = asked.get("pattern", "").strip()
    way = WAYS.get(asked.get("do", ""))
    first = [way[1].format(pattern)] if way and pattern else []
    return (*first, *(line.strip() for line in asked.get("more", "").splitlines() if line.strip()))


def _seen(
    local: Local, profile: str, changes: Sequence[str]
) -> tuple[ProposalShown | None, PolicyError | NotFound | None]:
    if not profile or not changes:
        return None, None
    try:
        return local.call(propose_changes, ProposeChanges(changes=tuple(changes)), name=profile), None
    except (PolicyError, NotFound) as error:
        return None, error


def marked(lines: Sequence[str]) -> MarkedLines:
    """The difference of a file, without the names above it."""
    kept = [line for line in lines if not line.startswith(("---", "+++"))]
    return tuple(("…", line) if line.startswith("@@") else (line[:1] or " ", line[1:]) for line in kept)


def _effect(words: Sequence[str]) -> MarkedLines:
    found = []
    for line in words[:MAX_LINES]:
        bare = line.strip()
        mark = bare[:1] if bare[:1] in "+-" else " "
        found.append((mark, bare[2:] if mark != " " else bare))
    return tuple(found)


ROUTES = (
    Route("/policy/change", change_form, methods=["GET"]),
    form("/policy/change", change, change_policy),
    Route("/policy/undo", undo_form, methods=["GET"]),
    form("/policy/undo", undo, undo_change),
    Route("/policy/compare", compare),
)
