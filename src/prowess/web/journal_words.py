"""An entry of the journal as a sentence: what happened, before how it is stored."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from prowess.text.counts import counted

Data: TypeAlias = Mapping[str, Any]
MAX_WORDS_CHARACTERS = 160
MAX_NAMES = 3


def in_words(type: str, data: object) -> str:
    """What an entry says, on one line; empty where its type has no words of its own."""
    say = SENTENCES.get(type)
    if say is None or not isinstance(data, Mapping):
        return ""
    text = " ".join(say(data).split())
    return text if len(text) <= MAX_WORDS_CHARACTERS else f"{text[: MAX_WORDS_CHARACTERS - 1]}…"


def _offer(data: Data) -> str:
    hits = [str(hit.get("id", "")) for hit in _list(data, "hits") if isinstance(hit, Mapping)]
    asked = f"“{_cut(data.get('request'))}”" if data.get("request") else "a turn without text"
    return f"{asked}: offered {_names(hits)}"


def _search(data: Data) -> str:
    return f"searched for “{_cut(data.get('query'))}”: found {_names(_list(data, 'hits'))}"


def _call(data: Data) -> str:
    took, detail = data.get("milliseconds"), _after(": ", data.get("detail"))
    time = f" in {took:.0f} ms" if isinstance(took, int | float) else ""
    ending = {"ok": f"worked{time}", "failed": f"failed{detail}"}
    outcome = str(data.get("outcome", ""))
    return f"called {data.get('capability')}: {ending.get(outcome, f'{outcome}{detail}')}"


def _outcome(data: Data) -> str:
    said = "worked" if data.get("ok") else f"failed{_after(': ', data.get('detail'))}"
    return f"{data.get('capability')} {said}"


def _decision(data: Data) -> str:
    verdicts = {"allow": "may use", "deny": "may not use", "ask": "has to ask before it uses"}
    verdict = verdicts.get(str(data.get("verdict")), str(data.get("verdict")))
    return f"{verdict} {data.get('capability')}{_after(': ', data.get('reason'))}"


def _synced(data: Data) -> str:
    counts = [(len(_list(data, name)), name) for name in ("added", "changed", "removed")]
    said = ", ".join(f"{count} {name}" for count, name in counts if count)
    return f"sources were read: {said or 'nothing new'}"


def _policy_changed(data: Data) -> str:
    if data.get("undoes"):
        return f"{data.get('by')} took the latest change of the policy back"
    changes = ", ".join(map(str, _list(data, "changes")))
    return f"{data.get('by')} changed profile {data.get('profile')}: {changes}"


def _provider_on(data: Data) -> str:
    return f"{data.get('provider')} was switched on{_after(': ', data.get('reason'))}"


def _provider_off(data: Data) -> str:
    return f"{data.get('provider')} was switched off{_after(': ', data.get('reason'))}"


def _approval(data: Data) -> str:
    said = f"{data.get('by')} said {'yes' if data.get('state') == 'approved' else 'no'}"
    return f"{said}: {data.get('capability', '')}{_after(': ', data.get('note'))}"


def _asked(data: Data) -> str:
    of = data.get("of")
    named = ", ".join(map(str, of.values())) if isinstance(of, Mapping) else ""
    return f"{data.get('by')} asked for {data.get('operation')}{_after(' of ', named)}"


def _held(data: Data) -> str:
    return f"{data.get('capability')} is held back{_after(': ', data.get('reason'))}"


def _let_in(data: Data) -> str:
    ways = {"session": "signed in", "link": "was given a link", "token": "was given a token"}
    kind = str(data.get("kind", ""))
    return f"{data.get('name')} {ways.get(kind, f'was let in by {kind}')} as {data.get('role')}"


def _cards(data: Data) -> str:
    found = [str(one.get("id", "")) for one in _list(data, "injected") if isinstance(one, Mapping)]
    return f"cards for “{_cut(data.get('request'))}”: {_names(found)}"


SENTENCES: Mapping[str, Callable[[Data], str]] = {
    "offer": _offer,
    "search": _search,
    "call": _call,
    "call.begun": lambda data: f"began to call {data.get('capability')}",
    "outcome": _outcome,
    "decision": _decision,
    "catalogue.synced": _synced,
    "policy.changed": _policy_changed,
    "configuration.changed": lambda data: f"prowess.toml: {data.get('by')} {data.get('does')}",
    "provider.on": _provider_on,
    "provider.off": _provider_off,
    "approval.answered": _approval,
    "web.asked": _asked,
    "person.admitted": _let_in,
    "cards.selected": _cards,
    "skill_ledger": lambda data: "what was learnt of one request",
    "skill_ledger:promotable": lambda data: "what of it could be promoted was counted",
    "quarantine.held": _held,
    "cost.noted": lambda data: (
        f"showing {data.get('agent')} everything would take {counted(int(data.get('tokens') or 0), 'token')}"
    ),
    "alert.raised": lambda data: f"alert: {data.get('text')}",
    "alert.ended": lambda data: f"over: {str(data.get('kind')).replace('_', ' ')} of {data.get('subject')}",
}


def _list(data: Data, name: str) -> Sequence[object]:
    found = data.get(name)
    return found if isinstance(found, list) else ()


def _after(mark: str, text: object) -> str:
    return f"{mark}{text}" if text else ""


def _cut(text: object) -> str:
    said = str(text or "")
    return said if len(said) <= 80 else f"{said[:79]}…"


def _names(ids: Sequence[object]) -> str:
    if not ids:
        return "nothing"
    rest = len(ids) - MAX_NAMES
    return f"{', '.join(map(str, ids[:MAX_NAMES]))}{f' and {rest} more' if rest > 0 else ''}"
