"""What `prowess lint` finds, also before there are vectors and where there is no encoder."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from prowess.cli.main import prowess
from prowess.discovery.corpus import Corpus
from prowess.discovery.embedders import Opener
from prowess.discovery.lint import lint
from prowess.discovery.ranking import Embed
from prowess.discovery.text import embedding_text
from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.errors import EncoderUnavailable
from prowess.opening import now
from prowess.opening import open as prowess_open
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Capability, Provider

TWINS = [
    capability(
        "tool:a/search", "Search the web for pages about a topic", name="search", display_name="search"
    ),
    capability(
        "tool:b/search", "Search the web for pages about a topic", name="search", display_name="search"
    ),
    capability("tool:remove", "Remove a folder and everything in it"),
]
PAIR = ("tool:a/search", "tool:b/search")


def no_encoder() -> tuple[str, Embed]:
    raise EncoderUnavailable("there is none here", "none needed")


def corpus_of(capabilities: Sequence[Capability], encoded: Sequence[Capability] = ()) -> Corpus:
    corpus = Corpus()
    corpus.put(capabilities)
    vectors = word_embedder()[1]([embedding_text(each) for each in encoded]) if encoded else ()
    corpus.give_vectors({each.id: row for each, row in zip(encoded, vectors, strict=True)})
    return corpus


def found(capabilities: Sequence[Capability], encoded: Sequence[Capability] = ()) -> list[tuple[str, ...]]:
    known = {each.id: each for each in capabilities}
    return [finding.ids for finding in lint(known, corpus_of(capabilities, encoded))]


def test_without_vectors_the_same_words_are_a_finding_and_so_are_the_missing_vectors(tmp_path: Path) -> None:
    database = open_database("store.db", tmp_path)
    with Engine(
        database, [StaticSource(capabilities=TWINS)], now, {}, EngineOptions(embedder=no_encoder)
    ) as engine:
        engine.sync()
        vectors, twins = engine.catalogue.lint()
    assert vectors.what == "3 of 3 have no vector and were compared by words alone"
    assert twins.ids == PAIR


def test_with_vectors_everything_is_compared_by_meaning() -> None:
    assert found(TWINS, TWINS) == [PAIR]


def test_one_vector_that_is_missing_hides_no_twins() -> None:
    assert found(TWINS, TWINS[1:]) == [(), PAIR]


def test_what_says_nothing_of_itself_is_compared_by_name() -> None:
    silent = [replace(each, description="") for each in TWINS]
    assert found(silent)[:2] == [(), PAIR]


def test_a_name_in_a_preset_that_means_nothing_is_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    Path("prowess.toml").write_text('[[preset]]\nname = "code"\ncapabilities = ["git", "tool:nope"]\n')
    Path(".prowess/capabilities/git").mkdir(parents=True)
    Path(".prowess/capabilities/git/CAPABILITY.yaml").write_text(
        "kind: tool\nname: git\ndescription: Run git commands in a repository.\n"
    )
    CliRunner().invoke(prowess, ["sync"], catch_exceptions=False)
    linted = CliRunner().invoke(prowess, ["lint"], catch_exceptions=False)
    assert linted.stdout.startswith("preset code: nothing is called 'tool:nope'; write an id")
    assert "1 finding" in linted.stderr


def test_a_description_that_says_too_little_gets_a_proposal_from_what_is_said_elsewhere() -> None:
    short = capability(
        "tool:crm/getUser",
        "Get user",
        name="getUser",
        provider="crm",
        parameters=("userId", "with_orders"),
        metadata={"examples": ["who is customer 12"]},
    )
    (finding,) = lint({short.id: short}, corpus_of([short], [short]))
    assert finding.proposals == {
        short.id: "Get user in crm, given user id and with orders. For requests such as 'who is customer 12'."
    }


def test_twins_get_proposals_that_name_what_only_one_has() -> None:
    one = replace(TWINS[0], provider="a", parameters=("query", "page"))
    other = replace(TWINS[1], provider="b", parameters=("query",))
    (finding,) = lint({one.id: one, other.id: other}, corpus_of([one, other], [one, other]))
    assert finding.proposals == {
        one.id: "Search the web for pages about a topic. In a. Takes page.",
        other.id: "Search the web for pages about a topic. In b.",
    }
    same = [replace(each, provider="", parameters=()) for each in TWINS[:2]]
    (finding,) = lint({each.id: each for each in same}, corpus_of(same, same))
    assert finding.proposals == {}


def test_the_command_shows_what_to_say_instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    unit = tmp_path / ".prowess/capabilities/mail"
    unit.mkdir(parents=True)
    (unit / "CAPABILITY.yaml").write_text(
        "kind: tool\nname: send_mail\ndescription: Mail\nprovider: post\n"
        "inputSchema: {type: object, properties: {to: {type: string}}}\n"
    )
    with prowess_open() as engine:
        engine.sync()
    shown = CliRunner().invoke(prowess, ["lint"]).stdout
    assert "  for tool:send_mail, say: Send mail in post, given to.\n" in shown
    unit = unit / "CAPABILITY.yaml"
    unit.write_text(
        unit.read_text().replace("description: Mail", "description: Send mail in post, given to.")
    )
    with prowess_open() as engine:
        engine.sync()
    assert "tool:send_mail" not in CliRunner().invoke(prowess, ["lint"]).stdout


def test_what_is_known_by_its_text_opens_no_encoder(tmp_path: Path) -> None:
    opened: list[str] = []

    def load() -> Embed:
        opened.append("now")
        return word_embedder()[1]

    def engine(capabilities: Sequence[Capability]) -> Engine:
        options = EngineOptions(embedder=Opener(lambda: "counted", load))
        database = open_database("store.db", tmp_path)
        return Engine(database, [StaticSource(capabilities=list(capabilities))], now, {}, options)

    def synced(*capabilities: Capability) -> int:
        with engine(capabilities) as one:
            one.sync()
            assert one.internals.parts.searching.index.is_encoded(one.catalogue.view().version)
        return len(opened)

    assert synced(*TWINS) == 1
    assert synced(TWINS[0]) == synced(*TWINS) == 1
    assert synced(*TWINS[:2], replace(TWINS[2], has_side_effects=True)) == 1
    assert synced(*TWINS[:2], replace(TWINS[2], tags=("disk",))) == 2


def test_a_faculty_that_is_nearly_a_usual_one_is_a_finding(tmp_path: Path) -> None:
    named = {"eyes": ("Visoin", "vision"), "plans": ("Planning", "Memory")}
    source = StaticSource(
        capabilities=[capability(f"tool:{name}", provider=name) for name in named],
        providers=[Provider(name=name, source="static", faculties=brings) for name, brings in named.items()],
    )
    engine = Engine(open_database(f"sqlite:{tmp_path}/store.db", tmp_path), (source,), now, {})
    engine.sync(vectors=False)
    found = [(one.what, one.remedy) for one in engine.catalogue.lint() if "faculty" in one.what]
    assert found == [
        ("eyes has the faculty 'Visoin', which evolution takes for a new one", "did you mean 'Vision'?")
    ]
