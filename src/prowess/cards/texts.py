"""What a model or a person reads about the cards themselves: the baseline, the list, the two tools."""

from collections.abc import Sequence

from prowess.cards.card import Card
from prowess.cards.injection import LONGEST_BASELINE
from prowess.guard.sanitise import Prompt, admit
from prowess.types import DISCOVER, JsonObject

READ_REFERENCE = "read_reference"
READ_REFERENCE_TOOL: JsonObject = {
    "name": READ_REFERENCE,
    "description": "Read the deep reference of this system. Use it when a capability card is not enough.",
    "input_schema": {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Which file; the first without it"}},
    },
}
LIST_CAPABILITIES = "list_capabilities"
LIST_CAPABILITIES_TOOL: JsonObject = {
    "name": LIST_CAPABILITIES,
    "description": "List the capability cards there are, whether or not they were shown.",
    "input_schema": {
        "type": "object",
        "properties": {"detail": {"type": "string", "enum": ["summary", "full"]}},
    },
}


def ordered(cards: Sequence[Card]) -> list[Card]:
    """What may be shown at all, by priority."""
    return sorted((card for card in cards if not card.rejected), key=lambda card: (-card.priority, card.id))


def capability_list(cards: Sequence[Card], detail: str = "summary") -> Prompt:
    """Every card with what it is for; in full, also with when it is shown and what it says."""
    shown = (_full(card) if detail == "full" else _summary(card) for card in ordered(cards))
    return admit("\n".join(shown), "result")


def _summary(card: Card) -> str:
    lines = [f"- **{card.title}** ({card.name})", f"  {card.description}" if card.description else ""]
    lines.append(f"  Tags: {', '.join(card.router_tags)}" if card.router_tags else "")
    return "\n".join(line for line in lines if line)


def _full(card: Card) -> str:
    about = [
        f"  Shown for: {', '.join(card.keywords)}" if card.keywords else "",
        f"  Sessions: {', '.join(card.session_types)}",
        f"  Priority {card.priority}, {card.tokens} tokens",
        f"  Version {card.version}" if card.version else "",
        *(f"  {line}" if line else "" for line in card.text.splitlines()),
    ]
    return "\n".join([_summary(card), *(line for line in about if line)])


def baseline(cards: Sequence[Card]) -> Prompt:
    """A block for AGENTS.md that names the cards and the ways to more, within 500 characters."""
    head = "## Capabilities\nCards on these are shown when they matter: "
    foot = f"\nTo find anything else, call `{DISCOVER}`; `{READ_REFERENCE}` has the details.\n"
    titles = [card.title for card in ordered(cards)]
    for shown in range(len(titles), 0, -1):
        more = f" and {len(titles) - shown} more" if shown < len(titles) else ""
        text = admit(f"{head}{', '.join(titles[:shown])}{more}.{foot}", "result")
        if len(text) <= LONGEST_BASELINE:
            return text
    return admit(f"## Capabilities{foot}", "result")
