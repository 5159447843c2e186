"""Which search showed what: so that a call can name the search it answers.

Above: the meta-tools, which search, and the calls, which follow. Only the newest are kept.
"""

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

MOST_REMEMBERED = 10_000


class SearchHistory:
    def __init__(self, most: int = MOST_REMEMBERED) -> None:
        self._most = most
        self._lock = Lock()
        self._latest: OrderedDict[tuple[str, str], str] = OrderedDict()

    def showed(self, search: str, agent: str, capabilities: Iterable[str]) -> None:
        with self._lock:
            for id in capabilities:
                self._latest[agent, id] = search
                self._latest.move_to_end((agent, id))
            while len(self._latest) > self._most:
                self._latest.popitem(last=False)

    def of(self, agent: str, capability: str) -> str:
        """The latest search of this agent that showed the capability; nothing where none did."""
        with self._lock:
            return self._latest.get((agent, capability), "")
