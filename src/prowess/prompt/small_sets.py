"""Whether everything that somebody may use is shown whole, because that costs no more than looking once.

    small = SmallSets()
    small.has("ada", view, 9, lambda: 1100)  # True: nine tools, 1,100 tokens

One rule for the gateway's list, for offers and for conversations. What was shown whole stays so until it is
a quarter beyond the limits, so that one tool more or less does not turn a list over and back; that is
remembered as long as the process runs. Above: whoever shows tools. Below: nothing.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock

MOST_TOOLS = 12
MOST_TOKENS = 1500
"""What the gateway's meta-tools (848) and the answer to one search (some 650) cost."""
STAYS = 1.25
"""Beyond the limits by so much, what was small is small no more."""
REMEMBERED = 1024


@dataclass(frozen=True, slots=True)
class _Judged:
    """What was asked about last, and the answer."""

    set: object
    is_small: bool


class SmallSets:
    def __init__(self) -> None:
        self._lock = Lock()
        self._judged: OrderedDict[Hashable, _Judged] = OrderedDict()

    def has(self, whose: Hashable, set: object, count: int, cost: Callable[[], int]) -> bool:
        """Whether a set is small, or was and still nearly is; one that is empty is not.

        whose: for whom it is, such as an agent.
        set: what stands for all that is in it; the same object is not judged again.
        count: how many tools it has.
        cost: counts the tokens of all definitions; asked only where there are few.
        """
        last = self._judged.get(whose)
        if last is not None and last.set is set:
            return last.is_small
        slack = STAYS if last is not None and last.is_small else 1
        is_small = 0 < count <= MOST_TOOLS * slack and cost() <= MOST_TOKENS * slack
        with self._lock:
            self._judged[whose] = _Judged(set, is_small)
            self._judged.move_to_end(whose)
            while len(self._judged) > REMEMBERED:
                self._judged.popitem(last=False)
        return is_small
