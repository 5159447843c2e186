"""Which servers a client was told are down: once is enough, and only where it may matter.

Above: the answer to a search. Below: nothing.
"""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

from prowess.calling.caller import Caller
from prowess.discovery.text import split_name
from prowess.types import JsonObject

if TYPE_CHECKING:
    from prowess.engine.candidates import Candidates

MOST_CLIENTS = 1000


class ToldDown:
    def __init__(self) -> None:
        self._lock = Lock()
        self._told: OrderedDict[Caller, set[str]] = OrderedDict()

    def new(
        self, caller: Caller, near: "Candidates", down: Sequence[JsonObject], query: str
    ) -> list[JsonObject]:
        """Those that may have what was searched for, or are named in it; each once for each client."""
        words = set(split_name(query).casefold().split())
        matters = [one for one in down if near.unmet or words & _words_of(one)]
        with self._lock:
            told = self._told.setdefault(caller, set())
            self._told.move_to_end(caller)
            while len(self._told) > MOST_CLIENTS:
                self._told.popitem(last=False)
            new = [one for one in matters if one["server"] not in told or words & _words_of(one)]
            told.update(str(one["server"]) for one in new)
        return new


def _words_of(server: JsonObject) -> set[str]:
    return set(split_name(str(server["server"])).casefold().split())
