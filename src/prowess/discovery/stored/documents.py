"""The terms of capabilities that were candidates lately, so that no text is read again and again."""

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from threading import Lock

from prowess.discovery.lexical import IndexedTerms, document
from prowess.discovery.text import Words
from prowess.types import Capability

MOST_HELD = 20_000


class Documents:
    def __init__(self) -> None:
        self.words = Words()
        self._held: OrderedDict[tuple[str, tuple[str, ...]], IndexedTerms] = OrderedDict()
        self._lock = Lock()

    def of(
        self, capabilities: Collection[Capability], examples: Mapping[str, Sequence[str]]
    ) -> dict[str, IndexedTerms]:
        """By id; with the requests that some were shown to answer."""
        found: dict[str, IndexedTerms] = {}
        for each in capabilities:
            shown = tuple(examples.get(each.id, ()))
            key = (f"{each.id} {each.digest}", shown)
            with self._lock:
                known = self._held.get(key)
            if known is None:
                known = document(each, self.words, shown)
            found[each.id] = known
            with self._lock:
                self._held[key] = known
                self._held.move_to_end(key)
                while len(self._held) > MOST_HELD:
                    self._held.popitem(last=False)
        return found
