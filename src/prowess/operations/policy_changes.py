"""A policy is changed: seen first, in its text and in what it does to whom; written; undone."""

from typing import Annotated

import msgspec

from prowess.engine.engine import Engine
from prowess.errors import NotFound, Outdated, PolicyError
from prowess.operations.operation import Call, Limit, Name, NoParams, RequestParams, operation
from prowess.policy.diff import PolicyDifference, ProfileDifference
from prowess.policy.proposals import PolicyProposal
from prowess.types import Problem

Change = Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]
Digest = Annotated[str, msgspec.Meta(max_length=100)]


class ProposeChanges(RequestParams, frozen=True, kw_only=True):
    changes: Annotated[tuple[Change, ...], msgspec.Meta(min_length=1, max_length=50)]
    """Such as level=read, capabilities.mail=true, ask+=tool:bank/* or ask-=tool:bank/*."""


class ConfirmChanges(ProposeChanges, frozen=True, kw_only=True):
    digest: Digest
    """That of the proposal that was looked at."""


class ConfirmUndo(RequestParams, frozen=True, kw_only=True):
    digest: Digest
    """That of the proposal that was looked at."""


class ProfilesCompared(RequestParams, frozen=True, kw_only=True):
    before: Name
    after: Name


class PastChanges(RequestParams, frozen=True, kw_only=True):
    limit: Limit = 50


class ProposalShown(msgspec.Struct, frozen=True, kw_only=True):
    """What a person confirms."""

    file: str
    digest: str
    """Names the text that the change is for; confirming names it, too."""
    profile: str
    changes: tuple[str, ...]
    lines: tuple[str, ...]
    """The difference of the text, as a pull request shows it."""
    effect: PolicyDifference
    """Who gains and loses what."""
    words: tuple[str, ...]
    """The same, a line for each."""
    problems: tuple[Problem, ...]
    """What would be wrong then and is not now."""


class ComparedProfiles(msgspec.Struct, frozen=True, kw_only=True):
    difference: ProfileDifference
    words: tuple[str, ...]
    """The same, a line for each."""


class ChangeMade(msgspec.Struct, frozen=True, kw_only=True):
    """A change of a policy file that the journal has."""

    id: str
    at: str
    by: str
    file: str
    profile: str
    changes: tuple[str, ...]
    undoes: str
    """The change that it takes back."""
    undone: bool


@operation("policy.propose", "POST /policy/profiles/{name}/proposal", reads=True,
           errors=(NotFound, PolicyError))  # fmt: skip
def propose_changes(call: Call[ProposeChanges]) -> ProposalShown:
    """What changes of a profile would do, in its file and to whom; nothing is written."""
    return _shown(call.engine.policy.propose(call.path["name"], *call.params.changes))


@operation("policy.change", "POST /policy/profiles/{name}/changes", role="admin", signed=True,
           errors=(NotFound, PolicyError, Outdated))  # fmt: skip
def change_policy(call: Call[ConfirmChanges]) -> ProposalShown:
    """Write changes of a profile that somebody has looked at."""
    proposal = call.engine.policy.propose(call.path["name"], *call.params.changes)
    return _confirmed(call.engine, proposal, call.params.digest, call.by)


@operation("policy.propose_undo", "GET /policy/undo", errors=(NotFound, PolicyError))
def propose_undo(call: Call[NoParams]) -> ProposalShown:
    """What taking back the latest change would do; nothing is written."""
    return _shown(call.engine.policy.propose_undo())


@operation("policy.undo", "POST /policy/undo", role="admin", signed=True,
           errors=(NotFound, PolicyError, Outdated))  # fmt: skip
def undo_change(call: Call[ConfirmUndo]) -> ProposalShown:
    """Take back the latest change."""
    return _confirmed(call.engine, call.engine.policy.propose_undo(), call.params.digest, call.by)


@operation("policy.changes", "GET /policy/changes")
def list_changes(call: Call[PastChanges]) -> tuple[ChangeMade, ...]:
    """What was changed in the policy files by a command, a page or a program, the newest first."""
    found = call.engine.policy.changes()
    undone = {entry.undoes for _, entry in found}
    return tuple(
        ChangeMade(
            id=entry.id, at=at, by=entry.by, file=entry.file.rpartition("/")[2], profile=entry.profile,
            changes=tuple(entry.changes), undoes=entry.undoes, undone=entry.id in undone,
        )
        for at, entry in found[: call.params.limit]
    )  # fmt: skip


@operation("policy.diff", "GET /policy/diff", errors=(NotFound, PolicyError))
def diff_profiles(call: Call[ProfilesCompared]) -> ComparedProfiles:
    """What an agent gains and loses that has one profile and then another."""
    found = call.engine.policy.diff(call.params.before, call.params.after)
    return ComparedProfiles(difference=found, words=tuple(found.lines()))


def _confirmed(engine: Engine, proposal: PolicyProposal, digest: str, by: str) -> ProposalShown:
    if digest != proposal.digest:
        raise Outdated(proposal.file.name)
    engine.policy.change(proposal, by)
    return _shown(proposal)


def _shown(proposal: PolicyProposal) -> ProposalShown:
    return ProposalShown(
        file=proposal.file.name,
        digest=proposal.digest,
        profile=proposal.profile,
        changes=proposal.changes,
        lines=proposal.lines,
        effect=proposal.effect,
        words=tuple(proposal.effect.lines()),
        problems=proposal.problems,
    )
