"""What a regression is judged by: whose calls fail, and what no switch can bring back."""

from collections.abc import Iterable
from dataclasses import replace

from prowess.catalogue.view import View
from prowess.evolution.evidence import failing
from prowess.evolution.params import OnRegression
from prowess.evolution.records import EvaluationContext
from prowess.types import JournalEntry

OFF_FOR_ALL = "it is off for everybody; run: prowess provider on {}"
KEPT_AWAY = "policy, a secret or its server keeps it away, and no switch"


def with_surroundings(
    context: EvaluationContext,
    agent: str,
    view: View,
    entries: Iterable[JournalEntry] = (),
    on_regression: OnRegression = "roll_back",
) -> EvaluationContext:
    """The same context, with what is known of each provider beside whether it is active."""
    active = set(context.snapshot.active_providers)
    barred = {}
    for name in view.providers.keys() - active:
        if (name, "") in view.switched_off:
            barred[name] = OFF_FOR_ALL.format(name)
        elif not view.off(name, agent):
            barred[name] = KEPT_AWAY
    providers = {id: one.provider for id, one in view.capabilities.items()}
    return replace(
        context,
        barred=barred,
        catalogue=frozenset(view.providers),
        evidence=failing(entries, providers),
        on_regression=on_regression,
    )
