"""Catalogue files and plugins: lists of capabilities in one file, each read alone."""

from pathlib import Path

import pytest

from prowess.sources.files.catalogues import CatalogueFiles
from prowess.sources.files.plugins import Plugins
from prowess.types import Capability, SourceReading

CATALOGUE = """\
extensions:
  - name: giphy
    displayName: Giphy
    description: Search for moving pictures
    category: media
    requiredSecrets: [GIPHY_API_KEY]
    available: true
  - name: sonos
    description: Control speakers
channels:
  - platform: discord
    displayName: Discord
    description: Chat with communities
    capabilities: [text, images, threads]
  - platform: matrix-chat
    available: false
"""
PLUGIN = """\
name: vision_yolo
description: Finds things in pictures
faculties: [Vision, Tool]
tools:
  - detect
  - name: segment
    description: Cuts a picture into parts
    hasSideEffects: false
    inputSchema: { type: object, properties: { image: { type: string } } }
"""


def catalogue(path: Path) -> SourceReading:
    return CatalogueFiles(name="cat", paths=(str(path),), now=lambda: 4e9).read({})


def plugins(path: Path, faculties: tuple[str, ...] = ()) -> SourceReading:
    return Plugins(name="p", paths=(str(path),), faculties=faculties, now=lambda: 4e9).read({})


def capabilities(reading: SourceReading) -> dict[str, Capability]:
    drafts = [draft for entry in reading.entries for draft in entry.drafts or ()]
    return {draft.capability.id: draft.capability for draft in drafts}


def test_extensions_and_channels_are_normalised(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(CATALOGUE)
    reading = catalogue(tmp_path / "a.yaml")
    found = capabilities(reading)
    assert reading.problems == ()
    assert list(found) == ["extension:giphy", "extension:sonos", "channel:discord", "channel:matrix-chat"]
    assert all(capability.has_side_effects for capability in found.values())
    giphy, discord = found["extension:giphy"], found["channel:discord"]
    assert (giphy.display_name, giphy.category, giphy.required_secrets) == (
        "Giphy",
        "media",
        ("GIPHY_API_KEY",),
    )
    assert (discord.category, discord.tags) == ("communication", ("text", "images", "threads"))
    assert (str(discord.source_ref), discord.provider) == (
        f"catalogue:{tmp_path / 'a.yaml'}#channels[1]",
        "cat",
    )
    assert found["channel:matrix-chat"].display_name == "Matrix Chat"


def test_an_extension_is_available_only_when_it_says_so_and_a_channel_unless_it_says_no(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.yaml").write_text(CATALOGUE)
    found = capabilities(catalogue(tmp_path))
    declared = {id: capability.metadata.get("declared_available") for id, capability in found.items()}
    assert declared == {
        "extension:giphy": None,
        "extension:sonos": False,
        "channel:discord": None,
        "channel:matrix-chat": False,
    }


def test_json_says_the_same_as_yaml(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        '{"extensions": [{"name": "giphy", "description": "d", "available": true}]}'
    )
    assert list(capabilities(catalogue(tmp_path))) == ["extension:giphy"]


def test_one_bad_entry_is_skipped_and_the_others_are_kept(tmp_path: Path) -> None:
    text = "extensions: [7, {name: a}, {name: b, description: d, descripton: x}]\nchannels: [irc, {}]\n"
    (tmp_path / "a.yaml").write_text(text)
    reading = catalogue(tmp_path)
    assert list(capabilities(reading)) == ["extension:b", "channel:irc"]
    assert [(problem.severity, problem.what) for problem in reading.problems] == [
        ("error", "extensions[1]: is neither a mapping nor a name"),
        ("error", "extensions[2]: 'description' is missing"),
        ("warning", "extensions[3]: unknown key 'descripton' is ignored"),
        ("error", "channels[2]: 'name' is missing"),
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "is empty"),
        ("extensions: giphy", "'extensions' must be a list"),
        ("channels: {a: b}", "'channels' must be a list"),
        ("{", "not valid YAML"),
    ],
)
def test_a_bad_catalogue_file_is_skipped_and_the_others_are_read(
    tmp_path: Path, text: str, what: str
) -> None:
    (tmp_path / "a.yaml").write_text(text)
    (tmp_path / "b.yaml").write_text(CATALOGUE)
    reading = catalogue(tmp_path)
    assert len(capabilities(reading)) == 4
    assert what in reading.problems[0].what


def test_a_plugin_is_a_provider_with_its_faculties_and_tools(tmp_path: Path) -> None:
    (tmp_path / "yolo").mkdir()
    (tmp_path / "yolo" / "PLUGIN.yaml").write_text(PLUGIN)
    reading = plugins(tmp_path)
    (provider,) = reading.providers
    assert (provider.name, provider.source, provider.faculties) == ("vision_yolo", "p", ("Vision", "Tool"))
    assert provider.description == "Finds things in pictures"
    found = capabilities(reading)
    assert list(found) == ["tool:detect", "tool:segment"]
    assert {capability.provider for capability in found.values()} == {"vision_yolo"}
    assert found["tool:detect"].description == "detect, a tool of the plugin vision_yolo"
    assert found["tool:detect"].has_side_effects and not found["tool:segment"].has_side_effects
    assert found["tool:segment"].parameters == ("image",)
    assert reading.problems == ()


def test_a_plugin_that_names_no_faculties_brings_those_of_its_source(tmp_path: Path) -> None:
    (tmp_path / "PLUGIN.yaml").write_text("name: a\n")
    assert plugins(tmp_path, ("Web",)).providers[0].faculties == ("Web",)


def test_providers_are_told_also_when_no_plugin_changed(tmp_path: Path) -> None:
    (tmp_path / "PLUGIN.yaml").write_text(PLUGIN)
    source = Plugins(name="p", paths=(str(tmp_path),), now=lambda: 4e9)
    first = source.read({})
    again = source.read({entry.place: entry.stamp for entry in first.entries})
    assert again.providers == first.providers


def test_a_bad_tool_a_bad_plugin_and_a_second_of_one_name_lose_nothing_else(tmp_path: Path) -> None:
    texts = {
        "a": "name: one\ntools: [fine, 3, {name: 4}]\n",
        "b": "description: nameless\n",
        "c": "name: one\n",
        "d": "name: two\ntools: many\n",
    }
    for folder, text in texts.items():
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "PLUGIN.yaml").write_text(text)
    reading = plugins(tmp_path)
    assert list(capabilities(reading)) == ["tool:fine"]
    assert [provider.name for provider in reading.providers] == ["one"]
    assert [problem.what for problem in reading.problems] == [
        "tools[2]: is neither a mapping nor a name",
        "tools[3]: 'name' must be text (put it in quotes), not a number",
        "'name' is missing",
        "the plugin 'one' is already defined",
        "'tools' must be a list of at most 10000 entries, not text",
    ]
