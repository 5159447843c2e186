"""What belongs to capabilities, as a prompt may have it; people read it as it was written.

Above: the parts of a turn and of a call. Below: the catalogue. A document of one's own may quote an attack to
speak about it. From others such a quotation is taken out: the model would read the words of an attacker.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from prowess.catalogue.catalogue import Catalogue
from prowess.types import Capability, Detail
from prowess.world import Worlds


@dataclass(frozen=True, slots=True)
class PromptDetails:
    catalogue: Catalogue
    worlds: Worlds

    def of_all(self, wanted: Collection[Capability]) -> Mapping[str, Detail]:
        """By id, what belongs to these capabilities."""
        sources = {each.id: each.source for each in wanted}
        return {id: self._fit(found, sources[id]) for id, found in self.catalogue.details(wanted).items()}

    def of(self, capability: Capability) -> Detail:
        """What belongs to one capability with the content it has now."""
        return self._fit(self.catalogue.detail(capability.id), capability.source)

    def _fit(self, detail: Detail, source: str) -> Detail:
        if not detail.content or self.worlds.now().view.trust.get(source, "full") == "full":
            return detail
        from prowess.guard.parsed_text import without_quoted_orders  # numpy, at the first text of others

        return replace(detail, content=without_quoted_orders(detail.content))
