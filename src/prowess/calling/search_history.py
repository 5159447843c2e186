"""Which search showed what in a conversation: so that a call can name the search it answers.

Above: the searches of every face, and the calls, which follow. Only the newest are kept, and none for longer
than a conversation rests: what is called an hour later is called for another reason.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from threading import Lock
from typing import NamedTuple, TypeVar

from prowess.calling.caller import Caller

MAX_REMEMBERED = 10_000
SECONDS_KEPT = 3600.0
SECONDS_TO_REWORD = 600.0
"""A search this soon after one that led nowhere may be the same need in other words."""

_Key = TypeVar("_Key")


class _Shown(NamedTuple):
    search: str
    at: float


class SearchHistory:
    """What was shown to each conversation of each agent.

    most: how many are kept.
    elapsed: gives seconds that only grow.
    """

    def __init__(self, most: int = MAX_REMEMBERED, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._elapsed = elapsed
        self._lock = Lock()
        self._latest: OrderedDict[tuple[str, str, str], _Shown] = OrderedDict()
        self._open: OrderedDict[tuple[str, str], _Shown] = OrderedDict()

    def showed(self, search: str, caller: Caller, capabilities: Iterable[str]) -> None:
        """A search of this caller showed these, or nothing at all."""
        shown, talk = _Shown(search, self._elapsed()), _conversation(caller)
        with self._lock:
            self._keep(self._open, talk, shown)
            for id in capabilities:
                self._keep(self._latest, (*talk, id), shown)

    def of(self, caller: Caller, capability: str) -> str:
        """The latest search of this caller that showed the capability; nothing where none did."""
        with self._lock:
            return self._unless_old(self._latest.get((*_conversation(caller), capability)), SECONDS_KEPT)

    def unanswered(self, caller: Caller) -> str:
        """The last search of this caller, if nothing that it showed has worked since."""
        with self._lock:
            return self._unless_old(self._open.get(_conversation(caller)), SECONDS_TO_REWORD)

    def answered(self, caller: Caller, search: str) -> None:
        """Something that a search showed was called, and it worked."""
        with self._lock:
            last = self._open.get(_conversation(caller))
            if last is not None and last.search == search:
                del self._open[_conversation(caller)]

    def _unless_old(self, shown: _Shown | None, seconds: float) -> str:
        return shown.search if shown and self._elapsed() - shown.at <= seconds else ""

    def _keep(self, kept: OrderedDict[_Key, _Shown], key: _Key, shown: _Shown) -> None:
        kept[key] = shown
        kept.move_to_end(key)
        while len(kept) > self._most:
            kept.popitem(last=False)


def _conversation(caller: Caller) -> tuple[str, str]:
    """Whoever proves its name in the middle of a conversation goes on with it."""
    return caller.agent, caller.conversation
