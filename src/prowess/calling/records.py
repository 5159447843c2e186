"""What the journal is told of a call: that it began, how it ended, and what came of it, without any secret.

Above: the calls. Below: the call log, which writes also when the store is busy at that moment.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from prowess.calling.arguments import as_arguments
from prowess.calling.call_end import CallEnd, CallRequest
from prowess.calling.call_log import CallLog
from prowess.calling.client import Client
from prowess.calling.error_redaction import without_values
from prowess.calling.results import size
from prowess.calling.use import UseCheck
from prowess.catalogue.uris import LONGEST_URI
from prowess.config import JournalConfig
from prowess.errors import StoreError
from prowess.journal import Entry, canonical
from prowess.journal.between_turns import ResultSuspected
from prowess.journal.entries import Called, OutcomeRecorded
from prowess.journal.payloads import AlongWith, Payload
from prowess.policy.arguments import shown
from prowess.text.values import redacted_values
from prowess.world import Worlds

MAX_DETAIL_CHARACTERS = 300
MAX_ID_CHARACTERS = 200
MADE = ("ok", "failed")
"""Endings of a call that was made and has an outcome."""
COUNTED = (*MADE, "denied", "refused")
"""Endings that say something about the agent."""


@dataclass(frozen=True, slots=True)
class CallRecords:
    log: CallLog
    use: UseCheck
    worlds: Worlds
    keeps: JournalConfig
    note: Callable[[str], None]
    """Told which agent something came of a call of."""

    def end(
        self, request: CallRequest, client: Client, ended: CallEnd, call: str, milliseconds: float,
        answers: str, along: AlongWith | None = None,
    ) -> None:  # fmt: skip
        """One transaction: a call and what came of it are remembered together.

        answers: the offer or search that showed what was called; empty where none did.
        """
        agent = client.caller.agent
        detail = self._discreet(request, client, ended)[:MAX_DETAIL_CHARACTERS]
        given, answered = self._kept(request, ended)
        entry = Called(
            capability=ended.capability[:MAX_ID_CHARACTERS],
            way=request.way,
            outcome=ended.ending,
            detail=detail,
            decision=ended.decision,
            revision=ended.revision,
            milliseconds=round(milliseconds, 3),
            characters=size(ended.answer),
            uri=self._address(request, ended),
            search="" if request.offer else answers,
            arguments=given.digest if given else "",
            result=answered.digest if answered else "",
            call=call,
            offer=request.offer,
        )
        entries: list[Entry] = [entry]
        if ended.ending in MADE and not ended.repeated:
            entries.append(_outcome(entry, answers))
        if ended.is_suspected:
            entries.append(ResultSuspected(capability=entry.capability, call=call))
        kept = [payload for payload in (given, answered) if payload]
        self.log.record(entries, agent, ended.ending in (*MADE, "cancelled"), kept, along)
        if ended.ending in COUNTED and not ended.repeated:
            self.note(agent)

    def _kept(self, request: CallRequest, ended: CallEnd) -> tuple[Payload | None, Payload | None]:
        """Arguments and result without credentials, where [journal] says that they are kept."""
        keeps = self.keeps
        if not (keeps.keep_days and (keeps.keep_arguments or keeps.keep_results)):
            return None, None
        try:
            given = self._payload(request.arguments) if keeps.keep_arguments else None
            return given, self._payload(ended.answer) if keeps.keep_results else None
        except StoreError:  # which texts are secret is not known then, so none is kept
            return None, None

    def _payload(self, value: object) -> Payload:
        return Payload.of(canonical(redacted_values(value, self.use.hiding())))

    def _discreet(self, request: CallRequest, client: Client, ended: CallEnd) -> str:
        """What went wrong, without any value that was given; what we say ourselves has none."""
        if ended.ending != "failed" or not ended.detail:
            return ended.detail
        asked = client.elicitation_client
        answers = (
            [one.model_dump(mode="json") for one in (asked.brought.responses or {}).values()] if asked else []
        )
        given = as_arguments(request.arguments) or {"": request.arguments}
        try:
            return without_values(self.use.hidden(ended.detail), given, answers)
        except StoreError:  # which texts are secret is not known then, so none is kept
            return ""

    def _address(self, request: CallRequest, ended: CallEnd) -> str:
        """What was read, where it has a URI: a template alone says little."""
        try:
            return self._uri(request, ended)
        except StoreError:  # what is secret in it is not known then
            return ""

    def _uri(self, request: CallRequest, ended: CallEnd) -> str:
        if request.way != "resource" and not ended.capability.startswith("resource:"):
            return ""
        named = self.worlds.now().view.capabilities.get(ended.capability)
        given: Mapping[str, Any] = as_arguments(request.arguments) or {}
        uri, own = given.get("uri"), named.metadata.get("uri") if named else None
        if isinstance(uri, str) and len(uri) > LONGEST_URI:
            return f"[{len(uri)} characters]"  # it was not read, and looking it through would take its time
        said = shown({"uri": own or uri or ""}, self.use.hidden)["uri"]
        return said.removeprefix('"').removesuffix('"')


def _outcome(call: Called, answers: str) -> OutcomeRecorded:
    """What came of a call that was made."""
    return OutcomeRecorded(
        offer=answers,
        capability=call.capability,
        ok=call.outcome == "ok",
        detail=call.detail,
        milliseconds=call.milliseconds,
        key=call.call,
    )
