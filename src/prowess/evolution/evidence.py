"""How much of what each provider did failed, from the journal: the evidence of who caused a fall. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping

from prowess.journal import read
from prowess.journal.entries import OutcomeRecorded
from prowess.types import JournalEntry

NEWEST = 20
"""So many uses of a provider count, the newest."""
DOUBT = 2
"""So many uses that worked are added, so that one failure alone says little."""


def failing(entries: Iterable[JournalEntry], provider_of: Mapping[str, str]) -> dict[str, float]:
    """The share of each provider's newest uses that failed; entries come oldest first."""
    used: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for entry in reversed(list(entries)):
        found = read(entry)
        if not isinstance(found, OutcomeRecorded):
            continue
        provider = provider_of.get(found.capability, "")
        if provider and used[provider] < NEWEST:
            used[provider] += 1
            failed[provider] += not found.ok
    return {provider: failed[provider] / (used[provider] + DOUBT) for provider in used if failed[provider]}
