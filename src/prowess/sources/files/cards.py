"""Cards: short markdown texts with frontmatter that says when they matter.

The body is the content. Everything about when to show it is in `metadata`, always complete and in
one form, whichever of snake_case and camelCase the file uses:

    triggers: {keywords, session_types, confidence_threshold, time_of_day, user_tier,
               environment_type, router_tags}      lists of text; the threshold is 0..1
    priority: 0..100
    token_budget: 1..2000 or null                  what the author allows it to cost
    max_chars: as declared, else 4 * token_budget, else 3200
    estimated_tokens: as declared or null          never trusted; cost is counted
    version, language, migration: text, empty when not given
    origin: "repository" or "workspace"

A card must say its id (`id` or `capability_id`) and its keywords or router tags. README.md is no card.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from prowess.sources.files.fields import LONGEST_NAME, Fields
from prowess.sources.files.normalise import checked_id, default_category
from prowess.sources.files.reading import KIBIBYTE, read_text
from prowess.sources.files.units import Unit, UnitContents, find_files, read_units, reading
from prowess.sources.source import Known, Progress, silent
from prowess.text.documents import parse_page
from prowess.text.values import Json
from prowess.types import Capability, Detail, Draft, Problem, Provider, SourceReading, SourceRef

MAX_CARD_BYTES = 50 * KIBIBYTE
MOST_TOKENS = 2000
DEFAULT_THRESHOLD = 0.6
DEFAULT_SESSION_TYPES = ("main", "isolated")
DEFAULT_PRIORITY = 5
DEFAULT_MAX_CHARS = 3200
CHARACTERS_PER_TOKEN = 4
FIELDS = (
    *("id", "capability_id", "name", "description", "triggers", "priority", "category", "tags"),
    *("token_budget", "estimated_tokens", "max_chars", "version", "language", "migration"),
)
TRIGGERS = (
    *("keywords", "session_types", "confidence_threshold", "router_tags"),
    *("time_of_day", "user_tier", "environment_type"),
)

Origin = Literal["repository", "workspace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardFiles:
    name: str
    paths: tuple[str, ...]
    faculties: tuple[str, ...] = ()
    origin: Origin = "repository"
    now: Callable[[], float] = time.time

    @property
    def kind(self) -> str:
        return "cards"

    def read(self, known: Known, progress: Progress = silent) -> SourceReading:
        findings = find_files(self.name, self.paths, (".md",), self.now())
        findings.units = [unit for unit in findings.units if unit.names[0].lower() != "readme.md"]
        result = read_units(self.name, findings.units, self._read_unit, known, progress)
        return reading(
            findings, result, [Provider(name=self.name, source=self.name, faculties=self.faculties)]
        )

    def _read_unit(self, unit: Unit) -> UnitContents:
        text = read_text(unit.root, unit.names[0], limit=MAX_CARD_BYTES, links=False)
        return self.parse(text, unit.place)

    def parse(self, text: str, place: str) -> UnitContents:
        """The card in this text, wherever the text was kept."""
        page = parse_page(text, place)
        fields = Fields(place, page.header)
        triggers = fields.inner("triggers")
        draft = Draft(self._capability(fields, triggers), Detail(content=page.body))
        problems: list[Problem] = [*fields.unknown(self.name, FIELDS), *triggers.unknown(self.name, TRIGGERS)]
        return UnitContents((draft,), tuple(problems))

    def _capability(self, fields: Fields, triggers: Fields) -> Capability:
        name = _card_name(fields)
        return Capability(
            id=checked_id(f"card:{name}", "card", fields.place),
            kind="card",
            name=name,
            display_name=fields.label("name") or name,
            description=fields.text("description"),
            category=fields.label("category", 64) or default_category("card"),
            tags=fields.labels("tags", 64) or triggers.labels("router_tags"),
            provider=self.name,
            source=self.name,
            source_ref=SourceRef(self.kind, fields.place),
            metadata={**_metadata(fields), "triggers": _triggers(triggers), "origin": self.origin},
        )


def _card_name(fields: Fields) -> str:
    given = {fields.label(key, LONGEST_NAME) for key in ("id", "capability_id")} - {""}
    if len(given) != 1:
        what = "'id' and 'capability_id' differ" if given else "'id' is missing"
        raise fields.error(what, "add one line 'id: my-card'")
    return given.pop().removeprefix("card:")


def _metadata(fields: Fields) -> dict[str, Json]:
    priority = fields.whole("priority", 0, 100)
    budget = fields.whole("token_budget", 1, MOST_TOKENS)
    longest = fields.whole("max_chars", 1, MAX_CARD_BYTES)
    allowed = budget * CHARACTERS_PER_TOKEN if budget else DEFAULT_MAX_CHARS
    return {
        "priority": DEFAULT_PRIORITY if priority is None else priority,
        "token_budget": budget,
        "max_chars": longest or allowed,
        "estimated_tokens": fields.whole("estimated_tokens", 0, MAX_CARD_BYTES),
        "version": fields.version("version"),
        "language": fields.label("language", 35),
        "migration": fields.text("migration"),
    }


def _triggers(triggers: Fields) -> dict[str, Json]:
    keywords, router_tags = triggers.labels("keywords"), triggers.labels("router_tags")
    if "keywords" not in triggers and not router_tags:
        raise triggers.error("'keywords' is missing", "add 'keywords: [...]' under 'triggers'")
    threshold = triggers.number("confidence_threshold", 0, 1)
    return {
        "keywords": list(keywords),
        "session_types": list(triggers.labels("session_types") or DEFAULT_SESSION_TYPES),
        "confidence_threshold": DEFAULT_THRESHOLD if threshold is None else threshold,
        "time_of_day": list(triggers.labels("time_of_day")),
        "user_tier": list(triggers.labels("user_tier")),
        "environment_type": list(triggers.labels("environment_type")),
        "router_tags": list(router_tags),
    }
