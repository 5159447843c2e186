"""Requests of the journal with what answered them: what was used for a request, and worked. Pure.

Above: the benchmark, which measures a person's own catalogue with them. Below: entries of the journal. What a
model searched for within a turn, or in other words before, answers that request as well.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from prowess.learning.paraphrases import normalised
from prowess.learning.usage_entries import OfferedRequest, Tried, use_of
from prowess.types import JournalEntry


@dataclass(frozen=True, slots=True)
class AnsweredRequest:
    """A request of one agent, and everything that worked for it."""

    offer: str
    agent: str
    request: str
    worked: tuple[str, ...]


def answered_requests(entries: Iterable[JournalEntry]) -> tuple[AnsweredRequest, ...]:
    """Each request once, in the order in which it was first made."""
    asked: dict[str, OfferedRequest] = {}
    tried: list[Tried] = []
    for entry in entries:
        use = use_of(entry)
        if isinstance(use, OfferedRequest):
            asked[use.offer] = use
        elif isinstance(use, Tried) and use.ok:
            tried.append(use)
    worked: dict[str, dict[str, None]] = {}
    for one in tried:
        for offer in _around(one.offer, asked):
            worked.setdefault(offer, {})[one.capability] = None
    found: dict[tuple[str, str], AnsweredRequest] = {}
    for offer, use in asked.items():
        if use.needs and use.request and offer in worked:
            key = (use.agent, normalised(use.request))
            before = found[key] if key in found else AnsweredRequest(offer, use.agent, use.request, ())
            both = tuple(dict.fromkeys((*before.worked, *worked[offer])))
            found[key] = AnsweredRequest(before.offer, before.agent, before.request, both)
    return tuple(found.values())


def _around(offer: str, asked: dict[str, OfferedRequest]) -> Iterable[str]:
    """The request, and those that it was made within or says in other words."""
    waiting, seen = [offer], dict[str, None]()
    while waiting:
        one = waiting.pop()
        use = asked.get(one)
        if use is None or one in seen:
            continue
        seen[one] = None
        waiting += [each for each in (use.asked_in, use.follows) if each]
    return seen
