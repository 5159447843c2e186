"""Descriptions that would be found better, made of what a capability says elsewhere.

Above: lint, which shows them to a person. Nothing is invented: where there is nothing to add, nothing is
proposed.
"""

from collections.abc import Mapping, Sequence

from prowess.discovery.text import joined_name, split_name
from prowess.types import EXAMPLES, Capability

MOST_NAMED = 5


def fuller(capability: Capability) -> str:
    """A description for one that says too little."""
    said = capability.description.strip().rstrip(".")
    words = split_name(capability.name)
    first = said if len(said) > len(words) else words[:1].upper() + words[1:].lower()
    if capability.provider and joined_name(capability.provider) not in joined_name(first):
        first += f" in {capability.provider}"
    taken = _listed([split_name(name).lower() for name in capability.parameters])
    return " ".join([f"{first}{f', given {taken}' if taken else ''}.", *_examples(capability)])


def told_apart(pair: Sequence[Capability]) -> Mapping[str, str]:
    """For each of two that read alike, its description with what only it has."""
    found = {}
    for one, other in (pair, pair[::-1]):
        own = [split_name(name).lower() for name in one.parameters if name not in other.parameters]
        further = [f"In {one.provider}."] if one.provider and one.provider != other.provider else []
        further += [f"Takes {_listed(own)}."] if own else []
        further += [] if one.metadata.get(EXAMPLES) == other.metadata.get(EXAMPLES) else _examples(one)
        if further:
            found[one.id] = " ".join([f"{one.description.strip().rstrip('.')}.", *further])
    return found


def _examples(capability: Capability) -> list[str]:
    given = capability.metadata.get(EXAMPLES)
    first = given[0] if given and isinstance(given, list | tuple) else ""
    return [f"For requests such as {first!r}."] if first else []


def _listed(names: Sequence[str]) -> str:
    """`to, subject and body`; of many, the first few."""
    shown = list(names[:MOST_NAMED])
    return " and ".join([*([", ".join(shown[:-1])] if shown[1:] else []), *shown[-1:]])
