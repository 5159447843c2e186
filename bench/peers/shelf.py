"""What every peer is given: the same tools, and the same encoder for those that take one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from prowess.discovery.ranking import Embed
from prowess.types import Capability, Detail, JsonObject

K = 10
"""How many tools every peer is asked for, whatever its default."""

Search = Callable[[str], Sequence[str]]
"""From a request to the ids that are found, best first."""


@dataclass(frozen=True)
class Shelf:
    capabilities: Sequence[Capability]
    details: Mapping[str, Detail]
    embed: Embed

    @cached_property
    def ids(self) -> Mapping[str, str]:
        """Name -> id; names are unique in the sets that are measured."""
        return {each.name: each.id for each in self.capabilities}

    def schema(self, capability: Capability) -> JsonObject:
        return self.details[capability.id].input_schema or {"type": "object", "properties": {}}

    def parameters(self, capability: Capability) -> Mapping[str, str]:
        """Name -> description."""
        properties = self.schema(capability).get("properties", {})
        return {name: str(said.get("description", "")) for name, said in properties.items()}


def never_called(**arguments: object) -> None:
    """Stands for what a tool does; the search never looks inside."""
