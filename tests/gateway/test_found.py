"""What a model finds through a gateway, in its own words and language, with the encoder that is shipped."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.gateway import ask, shelf, until, world

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(60)]


def tool(name: str, description: str, *required: str) -> dict[str, Any]:
    properties = {one: {"type": "string"} for one in required}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": description, "inputSchema": schema}


MEMORY = [
    tool("create_entities", "Create multiple new entities in the knowledge graph", "entities"),
    tool("add_observations", "Add new observations to existing entities in the knowledge graph"),
    tool("delete_entities", "Delete multiple entities from the knowledge graph", "names"),
    tool("read_graph", "Read the entire knowledge graph"),
]
GIT = [
    tool("git_status", "Shows the working tree status", "repo_path"),
    tool("git_diff_unstaged", "Shows changes in the working directory that are not yet staged", "repo_path"),
    tool("git_commit", "Records changes to the repository", "repo_path", "message"),
]
COLOURS = (
    "red",
    "blue",
    "green",
    "yellow",
    "brown",
    "white",
    "black",
    "grey",
    "pink",
    "violet",
    "gold",
    "teal",
)
FILES = [tool("move_file", "Move or rename files and directories.", "source", "destination")]


async def test_a_model_finds_by_its_own_words_in_any_language_and_nothing_where_nothing_is(
    tmp_path: Path,
) -> None:
    servers = [shelf(tmp_path, "memory", tools=MEMORY), shelf(tmp_path, "git", tools=GIT)]
    files = shelf(tmp_path, "files", tools=FILES)
    async with world(tmp_path, *servers, files, embedder=None) as here, here.client() as client:

        async def is_read() -> bool:
            answer = await ask(client, "discover_capabilities", query="anything at all")
            return "still being read" not in answer["note"]

        async def found(*needs: str) -> list[set[str]]:
            answer = await ask(client, "discover_capabilities", needs=list(needs))
            good = {hit["id"] for hit in answer["capabilities"] if "fit" not in hit}
            return [set(one["capabilities"]) & good for one in answer["needs"]]

        async def shown(query: str) -> set[str]:
            return {
                hit["id"] for hit in (await ask(client, "discover_capabilities", query=query))["capabilities"]
            }

        await until(is_read)
        changed, renamed = await found(
            "was hat sich seit dem letzten Commit geändert",
            "重命名文件",
        )
        assert {"tool:memory/create_entities", "tool:memory/add_observations"} & await shown(
            "remember that my sister prefers tea"
        )
        assert {"tool:git/git_status", "tool:git/git_diff_unstaged"} <= changed
        assert "tool:files/move_file" in renamed
        assert await found("order a pizza", "allume la lumière dans la cuisine") == [set(), set()]


async def test_a_search_says_nothing_that_helps_neither_to_choose_nor_to_call(tmp_path: Path) -> None:
    move = tool("move_file", "Move or rename files and directories.", "source", "destination")
    move["inputSchema"]["$schema"] = "http://json-schema.org/draft-07/schema#"
    async with world(tmp_path, shelf(tmp_path, "files", tools=[move])) as here, here.client() as client:
        (hit,) = (await ask(client, "discover_capabilities", query="rename files"))["capabilities"]
        described = await ask(client, "describe_capability", id=hit["id"])
        (other,) = (await ask(client, "discover_capabilities", query="relocate"))["capabilities"]
    plain = {key: value for key, value in move["inputSchema"].items() if key != "$schema"}
    assert hit["arguments"] == described["arguments"] == plain
    assert hit["why"] == "words: files, rename"
    assert "why" not in other


async def test_each_of_several_needs_has_as_many_named_behind_what_is_shown_as_one_alone(
    tmp_path: Path,
) -> None:
    walls = [tool(f"paint_{colour}", f"Paint a wall {colour}.") for colour in COLOURS]
    songs = [tool(f"sing_{colour}", f"Sing a song about {colour}.") for colour in COLOURS]
    both = [shelf(tmp_path, "walls", tools=walls), shelf(tmp_path, "songs", tools=songs)]
    async with world(tmp_path, *both) as here, here.client() as client:
        alone = await ask(client, "discover_capabilities", query="paint a wall")
        planned = await ask(client, "discover_capabilities", needs=["paint a wall", "sing a song"])
        many = await ask(client, "discover_capabilities", needs=[f"paint a wall {one}" for one in COLOURS])
    named = [id.split("/")[0] for id in planned["also_near"]]
    assert named.count("tool:walls") == named.count("tool:songs") == len(alone["also_near"]) == 6
    assert len(many["also_near"]) <= 20
