"""Gate several lessons so that no fewer pass than would one by one, and what passes does no harm together.

Above: the runs of gates. Below: `gating`. A lesson that adds nothing beside another, or has lost its judges
to it, passes all the same if it passes by itself; one that costs something beside the others does not.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from prowess.learning.gating import HARDLY, GateContext, gate, may_pass
from prowess.learning.lessons import Lesson
from prowess.learning.promotion import Gated
from prowess.learning.trial import Trial

MAX_REPLAYED_ALONE = 100_000
"""So many requests are replayed to gate lessons alone after a batch; beyond, people name what matters."""
MAX_GATED_ALONE = 200

Passed = Mapping[str, Gated]


def gated_together(parts: Sequence[Lesson], context: GateContext, trial: Trial) -> tuple[Gated, ...]:
    """All of them together; what that blocks, one after the other as well, as if it were promoted."""
    together = {result.lesson: result for result in gate(parts, context, trial)}
    passed: Passed = _passed(together.values())
    if 1 < len(parts) <= MAX_GATED_ALONE and len(passed) < len(parts):
        able = [part for part in parts if may_pass(part, context, trial)]
        if len(able) * len(context.judges) <= MAX_REPLAYED_ALONE:
            alone = _passed(gate([part], context, trial)[0] for part in able)
            passed = _OneByOne(context, trial, alone).most(parts, passed)
    return tuple(passed.get(id, result) for id, result in together.items())


@dataclass(frozen=True, slots=True)
class _OneByOne:
    """Lessons gated one after the other, each beside those that passed before it."""

    context: GateContext
    trial: Trial
    alone: Passed = field(default_factory=dict)
    """What passes by itself."""

    def most(self, parts: Sequence[Lesson], passed: Passed) -> Passed:
        """The most that pass: beside what the batch passed, or in one order or the other."""
        best = self.extended(parts, passed)
        for order in (parts, parts[::-1]):
            if not passed.keys() | self.alone.keys() <= best.keys():
                best = max(best, self.extended(order, {}), key=len)
        return best

    def extended(self, parts: Sequence[Lesson], passed: Passed) -> Passed:
        """What passed, and what passes beside it, in this order, until nothing more does."""
        found: dict[str, Gated] = dict(passed)
        before = -1
        while len(found) > before:
            before = len(found)
            for part in parts:
                beside = [replace(one, examples=found[one.id].examples) for one in parts if one.id in found]
                result = None if part.id in found else self._gated(part, beside)
                found |= {part.id: result} if result else {}
        return found

    def _gated(self, part: Lesson, beside: Sequence[Lesson]) -> Gated | None:
        """What passes: what does so beside these, or by itself and without harm to these."""
        context = replace(self.context, stable=(*self.context.stable, *beside))
        alone = self.alone.get(part.id)
        if not beside or (alone is None and not may_pass(part, context, self.trial)):
            return alone
        result = gate([part], context, self.trial)[0]
        if result.satisfied:
            return result
        return alone if alone and _is_harmless(result) else None


def _passed(results: Iterable[Gated]) -> dict[str, Gated]:
    return {result.lesson: result for result in results if result.satisfied}


def _is_harmless(beside: Gated) -> bool:
    """Whether everything is answered as well with it as without."""
    change = sum(row.after - row.before for row in beside.benchmark.rows)
    return change >= -HARDLY and all(row.ok for row in beside.tests.rows)
