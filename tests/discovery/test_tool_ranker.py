"""Tools of a person's own are ranked without a store, a policy or a catalogue."""

from dataclasses import dataclass, field
from typing import Any

import mcp_types
import pytest

import prowess
from prowess import ConfigError


def find_flights(origin: str, destination: str) -> str:
    """Find flights between two airports."""
    return f"{origin} {destination}"


def count_words(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


def send_mail(to: str) -> None:
    """Send an e-mail to somebody."""


TOOLS = (count_words, send_mail, find_flights)
REQUEST = "I want to fly from Bergen to Oslo"


def test_functions_are_ranked_in_one_line() -> None:
    assert prowess.rank(TOOLS, REQUEST, top=1) == [find_flights]


@dataclass
class FrameworkTool:
    name: str
    description: str
    args_schema: dict[str, Any] = field(default_factory=dict)


@dataclass
class Described:
    metadata: FrameworkTool


DESCRIBED = [(tool.__name__, str(tool.__doc__)) for tool in TOOLS]
SHAPES: dict[str, list[Any]] = {
    "anthropic": [{"name": n, "description": d, "input_schema": {"type": "object"}} for n, d in DESCRIBED],
    "openai": [{"type": "function", "function": {"name": n, "description": d}} for n, d in DESCRIBED],
    "mcp": [mcp_types.Tool(name=n, description=d, input_schema={"type": "object"}) for n, d in DESCRIBED],
    "a framework's": [FrameworkTool(n, d) for n, d in DESCRIBED],
    "described by metadata": [Described(FrameworkTool(n, d)) for n, d in DESCRIBED],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_whatever_has_a_name_and_a_description_is_ranked_and_comes_back_itself(shape: str) -> None:
    tools = SHAPES[shape]
    ranker = prowess.ToolRanker(tools)
    assert ranker.rank(REQUEST)[0] is tools[2]
    assert ranker.rank("how many words has this", top=1) == [tools[0]]
    assert len(ranker.rank(REQUEST, top=2)) <= 2


def test_what_has_no_name_says_so() -> None:
    with pytest.raises(ConfigError, match="int has no name; give functions"):
        prowess.rank([3], REQUEST)


def test_nothing_can_be_ranked_among_no_tools() -> None:
    assert prowess.rank([], REQUEST) == []
