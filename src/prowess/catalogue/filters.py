"""Which capabilities a search is narrowed to, for what comes by other ways than search."""

from collections.abc import Callable

from prowess.config import DiscoveryConfig
from prowess.text.folding import folded, same_name
from prowess.types import Capability


def narrows(settings: DiscoveryConfig) -> bool:
    """Whether a search is asked to look at less than everything available."""
    return any((settings.kind != "any", settings.category, settings.provider, settings.exclude))


def filtered(settings: DiscoveryConfig) -> Callable[[Capability], bool]:
    """Whether a capability passes the filters of a search: for what comes by other ways than search."""
    wanted = {name: getattr(settings, name) for name in ("kind", "category", "provider")}
    wanted = {name: value for name, value in wanted.items() if value not in ("", "any")}
    excluded = set(map(folded, settings.exclude))

    def passes(each: Capability) -> bool:
        return (
            (each.available or not settings.only_available)
            and all(same_name(getattr(each, name), value) for name, value in wanted.items())
            and excluded.isdisjoint(map(folded, (each.id, each.name, each.display_name)))
        )

    return passes
