"""Ranking tools that are in no catalogue."""

from typing import Any

from prowess.discovery.tool_ranking import ToolRanker


def tool(name: str, description: str, *parameters: str) -> dict[str, Any]:
    properties = {parameter: {"type": "string"} for parameter in parameters}
    return {"name": name, "description": description, "input_schema": {"properties": properties}}


MAIL = tool("send_email", "Send an e-mail to a colleague.", "to", "text")
TOOLS = [MAIL, tool("find_flights", "Find flights between two airports."), tool("add", "Add two numbers.")]


def test_what_fits_comes_first_and_nothing_comes_where_nothing_fits() -> None:
    ranker = ToolRanker()
    assert ranker.rank(TOOLS, "let Ann know by mail")[0] == "send_email"
    assert ranker.rank(TOOLS, "thanks, that is all") == []
    assert len(ranker.rank(TOOLS, "send an e-mail, add numbers, find flights", limit=2)) <= 2
    assert ranker.rank([], "send an e-mail") == []


def test_only_the_tools_that_are_given_are_found_as_they_are_now() -> None:
    ranker = ToolRanker()
    assert "send_email" in ranker.rank(TOOLS, "send an e-mail")
    assert "send_email" not in ranker.rank(TOOLS[1:], "send an e-mail")
    knit = tool("add", "Knit a scarf of wool.")
    assert ranker.rank([MAIL, knit], "knit a scarf of wool") == ["add"]


def test_tools_without_description_or_parameters_are_found_by_their_name() -> None:
    assert ToolRanker().rank([{"name": "find_flights"}, {"name": "add"}], "find flights") == ["find_flights"]
