"""What `@tool` and `@event_handler` say about what they mark, beside its name and description."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypedDict

from prowess.types import EXAMPLES, Json


class DecoratorOptions(TypedDict, total=False):
    """Further arguments of both decorators."""

    display_name: str  # how people see it, such as "Send email"
    tags: Iterable[str]  # words it is also found by
    category: str  # what it is about, such as "mail"
    side_effects: bool | None  # whether using it changes anything; without it, it is taken to
    required_secrets: Iterable[str]  # the variables that it needs, such as "MAIL_TOKEN"
    required_tools: Iterable[str]  # what it needs of the catalogue or of this machine, such as "git"
    examples: Iterable[str]  # requests that it answers, such as "write to Ann"


@dataclass(frozen=True, slots=True)
class DecoratorFields:
    """The same, as it is kept; empty means: nothing was said."""

    display_name: str = ""
    tags: Iterable[str] = ()
    category: str = ""
    side_effects: bool | None = None
    required_secrets: Iterable[str] = ()
    required_tools: Iterable[str] = ()
    examples: Iterable[str] = ()

    @property
    def fields(self) -> Mapping[str, Json]:
        """By the names that files give them."""
        return {
            "display_name": self.display_name,
            "tags": _listed(self.tags),
            "category": self.category,
            "has_side_effects": self.side_effects,
            "required_secrets": _listed(self.required_secrets),
            "required_tools": _listed(self.required_tools),
            EXAMPLES: _listed(self.examples),
        }


def _listed(texts: Iterable[str]) -> list[str]:
    """One text is one item, and no list of its letters."""
    return [texts] if isinstance(texts, str) else list(texts)
