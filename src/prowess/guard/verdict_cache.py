"""What was judged is not judged again: verdicts by content, channel and provenance, the last ones of them.

They belong to one guard, which holds them: another version of it begins anew.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

MAX_VERDICTS = 4096

Verdict = TypeVar("Verdict")


class VerdictCache(Generic[Verdict]):
    def __init__(self, most: int = MAX_VERDICTS) -> None:
        self._kept: OrderedDict[Hashable, Verdict] = OrderedDict()
        self._most = most
        self._lock = Lock()

    def of(self, text: str, about: Hashable, judge: Callable[[], Verdict]) -> Verdict:
        """The verdict on a text, from memory or from the judge."""
        content = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        key = (content, about)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        found = judge()
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return found

    def __len__(self) -> int:
        return len(self._kept)
