"""Every error prowess raises, in one tree.

    ProwessError
      ConfigError            prowess.toml cannot be used
      StoreError             the database cannot be reached or is not ours
        StoreBusy            others wrote to it for too long
        StoreAway            it does not answer now; once it does, this goes on by itself
        StoreFull            there is no room on its disk; once there is, this goes on by itself
              WorkspaceError       not a name for a workspace
      BackupError            a backup or an archive cannot be written, read or taken
      MissingExtra           an optional part is not installed
      NotFound               no such capability, provider, agent ...
            Outdated               it changed between a person's look and their decision
            FindingStands          the guard found something that nobody may accept
      SourceError            one source, file or server cannot be read
        LoginNeeded          a server wants a login, which a person must make
      JournalBroken          an entry was edited, removed or forged
      PolicyError            a grant or profile cannot be used
      SecretError            a secret cannot be kept, or its home cannot be read
      AlertNotSent           an alert did not arrive; it is tried again
      Denied                 policy says no
      ApprovalNeeded         policy says: ask a person first
      InvalidArguments       the arguments of a call do not fit
      CallFailed             a call was made and failed, or could not be made
      EncoderUnavailable     dense search cannot run; lexical search still serves
      EvolutionError         scores, a snapshot or parameters cannot be used
            LearningError          evidence, a lesson or a gate cannot be used
      Refused                a request over HTTP is not served; carries its status
      RemoteError            another server cannot be reached, or says no

Each one says what happened, to what, and what to do next, and carries the data it speaks of.
"""

from collections.abc import Iterable, Sized
from difflib import get_close_matches

from prowess.installation import install_command
from prowess.types import Decision, Ending, Problem

MOST_COMPARED = 50_000
"""So many words are compared with one that nobody knows; more take seconds."""


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word closest to this one, or nothing when none is close, or there are too many to look."""
    if isinstance(known, Sized) and len(known) > MOST_COMPARED:
        return ""
    return next(iter(get_close_matches(word, list(known), n=1)), "")


class ProwessError(Exception):
    """Base of all; `message` says what happened to what, `remedy` what to do next."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(f"{message}; {remedy}" if remedy else message)
        self.message = message
        self.remedy = remedy


class ConfigError(ProwessError):
    """prowess.toml or an option cannot be used; `place` says where."""

    def __init__(self, place: str, what: str, remedy: str) -> None:
        super().__init__(f"{place}: {what}", remedy)
        self.place = place


class StoreError(ProwessError):
    """The database cannot be reached, or is not one of prowess."""


class StoreBusy(StoreError):
    """Others wrote for too long; nothing was changed. The store is not named, since clients may read this."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the store is busy: others have been writing to it for {seconds:g} s",
            "try again; if that goes on, end the process that holds it, or use PostgreSQL for many writers",
        )


class StoreAway(StoreError):
    """The database does not answer, or is older than it was; a change that had begun may be undone."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(
            f"the store {place} does not answer: {why}",
            "try again in a moment: prowess reconnects by itself; if not, check the server and the URL",
        )


class StoreFull(StoreError):
    """There is no room where the store is kept; nothing was changed, and what was acknowledged is there."""

    def __init__(self, place: str, why: str) -> None:
        super().__init__(
            f"the store {place} cannot be written to, nothing was changed: {why}",
            "make room on the disk that the database is on; prowess goes on by itself then",
        )


class WorkspaceError(StoreError):
    """This cannot be the name of a workspace."""

    def __init__(self, workspace: str) -> None:
        super().__init__(
            f"{workspace!r} cannot be the name of a workspace",
            "use up to 63 of a-z, 0-9, '.', '_' and '-', and begin with a letter or a digit",
        )
        self.workspace = workspace


class BackupError(ProwessError):
    """A backup or an archive cannot be written, read or taken; `place` is the file."""

    def __init__(self, place: str, what: str, remedy: str) -> None:
        super().__init__(f"{place}: {what}", remedy)
        self.place = place


class MissingExtra(ProwessError):
    """An optional part is not installed; `extra` names it, and the remedy is the command."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional part", f"run: {install_command(extra)}")
        self.extra = extra


class NotFound(ProwessError):
    """No such capability, provider, agent ...; `name` is what was asked for, and the nearest one is named."""

    def __init__(self, what: str, name: str, known: Iterable[str] = (), see: str = "") -> None:
        close = nearest(name, known)
        remedy = f"did you mean {close!r}?" if close else see
        super().__init__(f"no {what} named {name!r}", remedy)
        self.name = name


class Outdated(ProwessError):
    """Something changed between a person's look at it and their decision; `name` says what."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} changed since you looked at it", "look at it again, then decide")
        self.name = name


class FindingStands(ProwessError):
    """The guard found something in `id` that nobody may accept; `reasons` says what."""

    def __init__(self, id: str, reasons: Iterable[str]) -> None:
        self.id = id
        self.reasons = tuple(reasons)
        super().__init__(
            f"what the guard found in {id} cannot be accepted: {'; '.join(self.reasons)}",
            "say it in other words, put it into `code`, or keep the credential where secrets are kept",
        )


class SourceError(ProwessError):
    """One place cannot be read; a source turns it into a `Problem` and goes on."""

    def __init__(self, place: str, what: str, remedy: str, output: str = "") -> None:
        super().__init__(f"{place}: {what}", remedy)
        self.place = place
        self.what = what
        self.output = output
        """What a program that was started for it wrote last."""

    def problem(self, source: str) -> Problem:
        return Problem(source, self.place, self.what, self.remedy)


class LoginNeeded(SourceError):
    """A server wants a login, which a person must make: the remedy is for them, and no model sees it."""


class JournalBroken(ProwessError):
    """An entry was edited, removed or forged: `number` of `chain`."""

    def __init__(self, chain: str, number: int, what: str) -> None:
        name = f"the chain of agent {chain!r}" if chain else "the chain without an agent"
        super().__init__(
            f"journal: {name}, entry {number}: {what}",
            "restore the store from a backup taken before this, and find out who wrote to it",
        )
        self.chain = chain
        self.number = number


class PolicyError(ProwessError):
    """A grant or profile cannot be used; `place` says where."""

    def __init__(self, place: str, what: str, remedy: str) -> None:
        super().__init__(f"{place}: {what}", remedy)
        self.place = place


class SecretError(ProwessError):
    """A secret cannot be kept, or its home cannot be read; `place` is the name or the file, never a value."""

    def __init__(self, place: str, what: str, remedy: str) -> None:
        super().__init__(f"{place}: {what}", remedy)
        self.place = place


class AlertNotSent(ProwessError):
    """An alert did not arrive on a channel; it is tried again."""

    def __init__(self, channel: str, what: str, remedy: str = "") -> None:
        super().__init__(f"{channel}: {what}", remedy)
        self.channel = channel


class Denied(ProwessError):
    """Policy does not allow this use. The text is for people and the host program, never for a model."""

    def __init__(self, agent: str, id: str, decision: Decision) -> None:
        super().__init__(f"{agent} may not use {id}: {decision.reason}", f"see: prowess why {agent} {id}")
        self.agent = agent
        self.id = id
        self.decision = decision


class ApprovalNeeded(ProwessError):
    """A person must approve this use first; `approval` is the id of the question."""

    def __init__(self, agent: str, id: str, approval: str, decision: Decision) -> None:
        super().__init__(
            f"{agent} may use {id} only after a person approves it: {decision.reason}",
            # A model may read this: it says what to do, and no command that would answer the question.
            "wait until a person has answered, then try again with the same arguments",
        )
        self.agent = agent
        self.id = id
        self.approval = approval
        self.decision = decision


class InvalidArguments(ProwessError):
    """The arguments of a call do not fit; `faults` names each fault."""

    def __init__(self, id: str, faults: Iterable[str]) -> None:
        self.id = id
        self.faults = tuple(faults)
        super().__init__(
            f"{id}: the arguments do not fit: {'; '.join(self.faults)}", f"see: prowess show {id}"
        )


class CallFailed(ProwessError):
    """A call was made and failed, or could not be made; `ending` says which, as `CallResult.ending` does."""

    def __init__(self, id: str, ending: Ending, what: str, remedy: str = "") -> None:
        super().__init__(f"{id}: {what}", remedy)
        self.id = id
        self.ending = ending


class EncoderUnavailable(ProwessError):
    """Search by meaning cannot run; search by words still serves."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"the encoder cannot be used: {reason}", remedy)


class EvolutionError(ProwessError):
    """Scores, a snapshot, parameters or a step of evolution cannot be used."""

    def __init__(self, place: str, what: str, remedy: str) -> None:
        super().__init__(f"{place}: {what}", remedy)
        self.place = place


class LearningError(ProwessError):
    """Evidence, a ledger, a lesson or a gate cannot be used."""

    def __init__(self, place: str, what: str, remedy: str) -> None:
        super().__init__(f"{place}: {what}", remedy)
        self.place = place


class Refused(ProwessError):
    """A request over HTTP is refused."""

    def __init__(self, status: int, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.status = status


class RemoteError(ProwessError):
    """A server that `--server` names cannot be reached, or says no."""

    def __init__(self, server: str, what: str, remedy: str = "", status: int = 0) -> None:
        super().__init__(f"{server}: {what}", remedy)
        self.server = server
        self.status = status
