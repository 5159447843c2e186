"""Write a tool down as the one text that is encoded, whole or with fields left out."""

import re
from collections.abc import Iterable
from random import Random

from train.bench import Tool

FIELDS = ("identifier", "description", "category", "tags", "parameters")
# How often a field stays when a text is thinned out.
STAYS = {
    "identifier": 0.6,
    "description": 0.9,
    "category": 0.5,
    "tags": 0.3,
    "parameters": 0.5,
}
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


def words_of(identifier: str) -> list[str]:
    """Split at case changes, digits and punctuation: getHTTPStatus -> get, HTTP, Status."""
    return WORD.findall(identifier)


def display_name(identifier: str) -> str:
    words = words_of(identifier)
    return " ".join(word[0].upper() + word[1:] for word in words) or identifier


def tool_text(tool: Tool, fields: Iterable[str] = FIELDS) -> str:
    """Join the tool's fields, one per line, without those that are empty or not asked for."""
    kept = set(fields)
    title, parameters = display_name(tool.name), tool.parameters or {}
    if "identifier" in kept and title != tool.name:
        title = f"{title} ({tool.name})"
    lines = {
        "title": title,
        "description": tool.description,
        "category": f"Category: {tool.category}" if tool.category else "",
        "tags": f"Use cases: {', '.join(tool.tags)}" if tool.tags else "",
        "parameters": f"Parameters: {', '.join(parameters)}" if parameters else "",
    }
    return "\n".join(line for name, line in lines.items() if line and name in {"title", *kept})


def thinned_text(tool: Tool, random: Random) -> str:
    """Leave fields out at random, so that no single one is relied upon."""
    return tool_text(tool, [name for name in FIELDS if random.random() < STAYS[name]])
