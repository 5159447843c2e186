"""prowess.toml: read strictly, with errors that say what was probably meant."""

import re
from pathlib import Path

import pytest

from prowess import config
from prowess.errors import ConfigError
from prowess.sources.configured import configured_sources


def test_without_a_file_the_defaults_hold_in_the_folder(tmp_path: Path) -> None:
    settings = config.load(config.find({}, tmp_path), tmp_path, {})
    assert settings.config.store == "sqlite:.prowess/prowess.db"
    assert settings.root == tmp_path


def test_an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() -> None:
    with pytest.raises(ConfigError, match=r"line 2: unknown key 'polcy'; did you mean 'policy'\?"):
        config.parse('store = "x.db"\n[polcy]\nfiles = []\n')


def test_an_unknown_key_in_a_section_is_named_with_the_section() -> None:
    text = '[[source]]\ntype = "mcp"\ncomand = "npx"\n'
    with pytest.raises(
        ConfigError, match=r"line 3: unknown key 'comand' in \[source\[0\]\]; did you mean 'command'"
    ):
        config.parse(text)


def test_a_key_that_is_near_nothing_lists_what_is_known() -> None:
    with pytest.raises(ConfigError, match=r"known keys: .*preset.*source.*store"):
        config.parse("zzz = 1")


def test_a_wrong_type_is_named_with_its_place() -> None:
    with pytest.raises(ConfigError, match=r"line 2: discovery.tier1_top_k: Expected `int`, got `str`"):
        config.parse('[discovery]\ntier1_top_k = "five"\n')


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("tier1_min_relevance = 7", "Expected `float` <= 1.0"),
        ("tier1_top_k = -3", "Expected `int` >= 0"),
        ("tier2_token_budget = -1", "Expected `int` >= 0"),
    ],
)
def test_a_value_out_of_range_is_refused(line: str, what: str) -> None:
    with pytest.raises(ConfigError, match=f"line 2: discovery.*{re.escape(what)}"):
        config.parse(f"[discovery]\n{line}\n")


def test_a_word_that_is_none_of_a_few_names_those() -> None:
    with pytest.raises(ConfigError, match=r"line 2: learning.mode: .*; write one of: off, accumulate"):
        config.parse('[learning]\nmode = "on"\n')
    with pytest.raises(
        ConfigError, match=r"line 3: source\[0\].trust: .*; write one of: full, growing, pinned, none"
    ):
        config.parse('[[source]]\ntype = "mcp"\ntrust = "some"\n')


def test_of_several_sources_the_line_is_that_of_the_wrong_one() -> None:
    first = '[[source]]\ntype = "skills"\ntrust = "full"\n'
    with pytest.raises(ConfigError, match=r"line 6: source\[1\].trust"):
        config.parse(f'{first}[[source]]\ntype = "mcp"\ntrust = "some"\n')
    with pytest.raises(ConfigError, match=r"line 4: source\[1\]: Object missing required field `type`"):
        config.parse(f'{first}[[source]]\nname = "x"\n')
    with pytest.raises(ConfigError, match=r"line 5: unknown key 'type' in \[preset\[0\]\]"):
        config.parse(f'{first}[[preset]]\ntype = "x"\n')


def test_what_is_not_toml_is_said_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"is not TOML: .*line 2"):
        config.parse("store = 'x'\n= 3\n")


def test_a_file_that_is_named_but_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere.toml: cannot be read"):
        config.load(config.find({"PROWESS_CONFIG": str(tmp_path / "nowhere.toml")}, tmp_path), tmp_path, {})


def test_the_nearest_file_above_is_found_and_paths_start_there(tmp_path: Path) -> None:
    (tmp_path / "prowess.toml").write_text('store = "here.db"')
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    settings = config.load(config.find({}, below), below, {})
    assert settings.root == tmp_path.resolve()
    assert settings.path("x/y") == tmp_path.resolve() / "x" / "y"


def sources_of(text: str, root: Path) -> list[str]:
    settings = config.Settings(config.parse(text), root)
    return [source.name for source in configured_sources(settings, {})]


def test_every_type_of_source_can_be_configured(tmp_path: Path) -> None:
    text = """
        [[source]]
        type = "manifests"
        [[source]]
        type = "skills"
        path = "skills"
        [[source]]
        type = "cards"
        path = "cards"
        [[source]]
        type = "catalogue"
        path = "extensions.yaml"
        [[source]]
        type = "plugins"
        path = "plugins"
        [[source]]
        type = "functions"
        module = "my_tools"
        [[source]]
        type = "events"
        module = "my_events"
        [[source]]
        type = "mcp"
        name = "files"
        command = "npx"
        [[source]]
        type = "openapi"
        name = "pets"
        url = "http://localhost/openapi.json"
    """
    expected = ["manifests", "skills", "cards", "extensions", "plugins", "my_tools", "my_events events"]
    assert sources_of(text, tmp_path) == [*expected, "files", "pets"]


def test_without_sources_what_people_already_keep_is_read(tmp_path: Path) -> None:
    (tmp_path / ".agents" / "skills").mkdir(parents=True)
    (tmp_path / "docs" / "capabilities").mkdir(parents=True)
    assert sources_of("", tmp_path) == ["manifests", "agents-skills", "cards"]


def test_a_type_nobody_reads_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no source reads 'manifest'; did you mean 'manifests'"):
        sources_of('[[source]]\ntype = "manifest"', tmp_path)


def test_two_sources_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="two sources are named 'manifests'"):
        sources_of('[[source]]\ntype = "manifests"\n[[source]]\ntype = "manifests"', tmp_path)


def test_a_source_without_what_it_needs_says_what_to_add(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"source 'skills' of type skills has no path; add: path = \.\.\."):
        sources_of('[[source]]\ntype = "skills"', tmp_path)


def test_keys_of_the_file_may_stand_in_the_environment_which_wins(tmp_path: Path) -> None:
    (tmp_path / "prowess.toml").write_text('[web]\nrate = 5\nhosts = ["a.example"]\n')
    environment = {
        "PROWESS_WEB__RATE": "7",
        "PROWESS_WEB__OIDC__ISSUER": "https://id.example",
        "PROWESS_WEB__OIDC__CLIENT_ID": "prowess",
        "PROWESS_WEB__OIDC__URL": "https://tools.example",
        "PROWESS_WEB__OIDC__GROUP": '[{ group = "staff", role = "admin" }]',
        "PROWESS_DISCOVERY__TIER1_TOP_K": "9",
        "PROWESS_STORE": "elsewhere.db",
        "PROWESS_SERVE_PORT": "80",
    }
    read = config.load(tmp_path / "prowess.toml", tmp_path, environment).config
    assert (read.web.rate, read.web.hosts, read.discovery.tier1_top_k) == (7, ["a.example"], 9)
    assert read.web.oidc and read.web.oidc.issuer == "https://id.example"
    assert read.web.oidc.group[0].role == "admin"
    assert config.load(None, tmp_path, environment).config.web.rate == 7


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [("PROWESS_WEB__HOSTZ", "[]", "did you mean 'hosts'"), ("PROWESS_WEB__RATE", "many", "web.rate")],
)
def test_what_is_wrong_in_the_environment_is_said_so(
    tmp_path: Path, name: str, value: str, what: str
) -> None:
    with pytest.raises(ConfigError, match=f"the environment.*{what}"):
        config.load(None, tmp_path, {name: value})
