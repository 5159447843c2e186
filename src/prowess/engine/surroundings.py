"""What surrounds an evaluation: what the agent can use, whose calls fail, what no switch can bring back."""

from collections.abc import Callable
from dataclasses import replace

from prowess.catalogue.catalogue import Catalogue
from prowess.catalogue.stored import several
from prowess.catalogue.view import View
from prowess.engine.listing import CatalogueListing
from prowess.engine.usable import Usable, usable
from prowess.errors import EvolutionError
from prowess.evolution.evidence import failing
from prowess.evolution.generations import Generations
from prowess.evolution.params import OnRegression
from prowess.evolution.records import EvaluationContext
from prowess.evolution.snapshot import Snapshot
from prowess.journal import Journal, count_of
from prowess.journal.entries import OutcomeRecorded
from prowess.store.database import Database, Transaction
from prowess.world import Worlds

OUTCOMES = 500
OFF_FOR_ALL = "it is switched off for everybody"


class EvaluationSurroundings:
    """Reads what an evaluation is to know beside the scores."""

    def __init__(
        self,
        database: Database,
        journal: Journal,
        catalogue: Catalogue,
        worlds: Worlds,
        now: Callable[[], str],
        generations: Generations,
        on_regression: OnRegression,
        there: Callable[[View], CatalogueListing],
    ) -> None:
        """there: what there is in a view, counted and by pages."""
        self._database = database
        self._journal = journal
        self._catalogue = catalogue
        self._worlds = worlds
        self._now = now
        self._generations = generations
        self._on_regression = on_regression
        self._there = there

    def now(
        self, agent: str, snapshot: Snapshot | None, counted: int | None = None
    ) -> tuple[EvaluationContext, Usable | None]:
        """What surrounds an evaluation, and what the agent can use, unless a snapshot says it.

        counted: the last entry that its scores are from; without it, the last there is.
        """
        world = self._worlds.now(of_all_nodes=True)
        view = world.view
        with self._database.reading() as transaction:
            tools = self._generations.params(transaction, agent).tool_acquisition
            last = count_of(transaction, agent) if counted is None else counted
        found = None if snapshot else usable(world, agent, tools, self._there)
        active = snapshot or (found.snapshot if found else Snapshot())
        context = EvaluationContext(
            snapshot=active,
            at=self._now(),
            registry={p.name: p.faculties for p in view.providers.values()} if snapshot else {},
            policy_revision=world.policy.revision,
            catalogue_version=view.version,
            barred=_barred(found, view, agent) if found else {},
            catalogue=None if snapshot else frozenset(view.providers),
            evidence=self._evidence(agent, view, active),
            on_regression=self._on_regression,
            counted=last,
        )
        return context, found

    def decided(self, transaction: Transaction, agent: str, context: EvaluationContext) -> EvaluationContext:
        """With what people switched off, as the evaluation's own transaction sees it."""
        return replace(context, decided_off=self._catalogue.decided_off(transaction, agent))

    def _evidence(self, agent: str, view: View, active: Snapshot) -> dict[str, float]:
        """Whose calls fail, where something is unproven and could be suspected."""
        with self._database.reading() as transaction:
            standing = self._generations.standing(transaction, agent)
            seen = self._generations.seen(transaction, agent)
        if not standing.generation or (active == seen and not standing.probation.arrived):
            return {}
        latest = self._journal.latest(OUTCOMES, agent, OutcomeRecorded.type)
        used = several(view.capabilities, {str(entry.data.get("capability", "")) for entry in latest})
        return failing(latest, {id: one.provider for id, one in used.items()})


def _barred(found: Usable, view: View, agent: str) -> dict[str, str]:
    """What is kept away by more than a switch of this agent's, and by what."""
    barred = {p: why for p, why in found.reasons.items() if not view.off(p, agent)}
    off = (p for p in found.reasons if (p, "") in view.switched_off)
    return barred | dict.fromkeys(off, OFF_FOR_ALL)


def refuse_unnamed(agent: object) -> None:
    """What has no name, or one that no store can keep, has no evolution."""
    if not isinstance(agent, str) or not agent or agent.encode("utf-8", "replace").decode() != agent:
        raise EvolutionError("evolution", f"{agent!r} is no agent's name", "give the name of an agent")
