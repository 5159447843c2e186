"""The ledger of one request, and Links Notation: what the original system does, and its conformance cases."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from prowess.cli.lessons import command
from prowess.config import LearningConfig, parse
from prowess.errors import ConfigError, LearningError
from prowess.learning.evidence import EvidenceTrail, NeedStatus, SolutionEvidence, read_evidence
from prowess.learning.ids import stable_id
from prowess.learning.ledger import (
    DEFAULT_MODE,
    NO_METHOD,
    NOT_CONNECTED,
    NOT_SATISFIED,
    SKILL_MODES,
    PromotionGate,
    SkillLedger,
    appended,
    ledger_events,
)
from prowess.learning.links import Escaping, Record, read, written
from prowess.learning.outcomes import Attempt, evidence_of, settled
from prowess.learning.usage_entries import Need
from tests.support import places

DATA = places.DATA / "learning"

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
STATUSES: list[NeedStatus] = ["pending", "satisfied", "deferred", "blocked", "rejected"]
TRAILS = st.builds(
    EvidenceTrail,
    need_id=TEXT,
    source_span=TEXT,
    work_unit_id=st.none() | TEXT,
    status=st.sampled_from(STATUSES),
    route=st.none() | TEXT,
    method=st.none() | TEXT,
    method_via_alias=st.booleans(),
    connected=st.booleans(),
)


def one(span: str, routes: tuple[str, ...], *attempts: Attempt) -> SolutionEvidence:
    return evidence_of("offer-1", settled([Need(span, routes)], attempts, abandoned=False))


def worked(capability: str) -> Attempt:
    return Attempt(capability, True, "", "", "2026-01-01")


def test_l1_learning_is_off_by_default() -> None:
    assert DEFAULT_MODE == "off" == LearningConfig().mode


def test_l2_modes_are_read_by_their_slugs_and_unknown_words_mean_none() -> None:
    assert [parse(f'learning.mode = "{mode}"').learning.mode for mode in SKILL_MODES] == list(SKILL_MODES)
    assert parse('learning.mode = "  ACCUMULATE "').learning.mode == "accumulate"
    with pytest.raises(ConfigError):
        parse('learning.mode = "rewrite-everything"')


def test_l3_one_satisfied_need_is_one_proposed_skill_that_cannot_be_promoted() -> None:
    ledger = SkillLedger.from_evidence(one("mail Ann", ("tool:mail",), worked("tool:mail")))
    assert (ledger.proposed_count, ledger.stable_count, ledger.curriculum_count) == (1, 0, 0)
    assert not ledger.skills[0].promotable


def test_l4_gibberish_is_no_skill_and_one_gap_with_a_reason() -> None:
    ledger = SkillLedger.from_evidence(one("zzqqx", ()))
    assert ledger.skills == ()
    assert [(item.status, item.reason) for item in ledger.curriculum] == [("blocked", NO_METHOD)]


@given(st.lists(TRAILS))
def test_l5_and_l7_each_trail_is_a_skill_or_a_gap_and_nothing_is_promotable(
    trails: list[EvidenceTrail],
) -> None:
    ledger = SkillLedger.from_evidence(SolutionEvidence("frame", tuple(trails)))
    assert len(ledger.skills) + ledger.curriculum_count == len(trails)
    assert (ledger.promotable_count, ledger.stable_count) == (0, 0)


def test_l6_only_both_flags_together_satisfy_a_gate() -> None:
    table = {(t, b): PromotionGate(t, b).satisfied for t in (False, True) for b in (False, True)}
    assert [flags for flags, satisfied in table.items() if satisfied] == [(True, True)]
    assert PromotionGate(True, True).status == "stable"
    assert PromotionGate(True, False).status == "proposed"


def test_l8_the_text_names_its_records() -> None:
    needs = [Need("mail Ann", ("tool:mail",)), Need("zzqqx", ())]
    evidence = evidence_of("offer-1", settled(needs, [worked("tool:mail")], abandoned=False))
    text = SkillLedger.from_evidence(evidence).to_links_notation()
    for line in (
        'record_type "skill_ledger"',
        'promotable "0"',
        'status "proposed"',
        'record_type "curriculum_item"',
    ):
        assert line in text


def test_l9_a_ledger_adds_exactly_two_events_the_second_with_the_count() -> None:
    events = ledger_events(SkillLedger.from_evidence(one("zzqqx", ())))
    assert [(event.kind, event.payload) for event in events][1:] == [("skill_ledger:promotable", "0")]
    assert events[0].kind == "skill_ledger"


def test_l10_the_sample_gives_exactly_the_text_beside_it() -> None:
    ledger = SkillLedger.from_evidence(read_evidence((DATA / "evidence.json").read_bytes(), "sample"))
    assert ledger.to_links_notation("original").encode() == (DATA / "ledger.lino").read_bytes()
    assert {item.reason for item in ledger.curriculum} == {NO_METHOD, NOT_CONNECTED, NOT_SATISFIED}


def test_l10_the_recorded_evidence_gives_the_recorded_ledger_byte_for_byte() -> None:
    evidence = read_evidence((DATA / "recorded.json").read_bytes(), "recorded")
    events = ledger_events(SkillLedger.from_evidence(evidence), escaping="original")
    assert events[0].payload.encode() == (DATA / "recorded.lino").read_bytes()
    assert [event.id for event in events] == [
        "skill_ledger_b0ad443a7afa5a86",
        "skill_ledger:promotable_1d0095488e1a8092",
    ]


def test_l11_the_same_event_appended_twice_has_two_ids() -> None:
    trace = appended(appended((), "note", "same"), "note", "same")
    assert trace[0].id != trace[1].id


def test_l12_a_routed_need_is_resolved_and_an_unroutable_one_only_accounted_for() -> None:
    routed, unroutable = one("mail Ann", ("tool:mail",), worked("tool:mail")), one("zzqqx", ())
    assert (routed.accounted_for, routed.fully_resolved, routed.resolved_to_method) == (True, True, 1)
    assert (unroutable.accounted_for, unroutable.fully_resolved) == (True, False)
    assert not SolutionEvidence("frame", ()).accounted_for


@pytest.mark.parametrize(
    "value",
    ["a\nb", "a\tb", "a\rb", 'println!("\\n")', r"\d+", r"C:\new\table", 'it\'s "both"', "'", '"', ""],
)
def test_l13_every_value_reads_back(value: str) -> None:
    records = (Record("id", (("key", value), ("key", value))),)
    assert read(written(records)) == records


RECORDS = st.builds(
    Record,
    TEXT.filter(lambda id: bool(id) and "\n" not in id and not id.startswith("  ")),
    st.lists(st.tuples(TEXT, TEXT)).map(tuple),
)


@given(st.lists(RECORDS).map(tuple))
def test_the_reader_inverts_the_writer_for_any_text(records: tuple[Record, ...]) -> None:
    assert read(written(records)) == records


@given(st.lists(TRAILS), st.sampled_from(["corrected", "original"]))
def test_a_ledger_reads_back_as_its_records(trails: list[EvidenceTrail], escaping: Escaping) -> None:
    ledger = SkillLedger.from_evidence(SolutionEvidence("frame", tuple(trails)))
    found = read(ledger.to_links_notation(escaping), escaping)
    assert [record.id for record in found] == [record.id for record in ledger.records()]
    if escaping == "corrected":
        assert found == ledger.records()


def test_the_original_escaping_loses_backslashes_and_the_corrected_one_does_not() -> None:
    record = (Record("id", (("key", r"C:\new"),)),)
    assert read(written(record, "original"), "original") != record
    assert read(written(record)) == record


@pytest.mark.parametrize(
    "text", ["id\n  key", "id\n  key value", 'id\n  key "open', "\n", 'id\n  key "a" "b"']
)
def test_what_is_no_links_notation_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(LearningError, match="line"):
        read(text)


def test_a_record_needs_an_id() -> None:
    with pytest.raises(LearningError):
        written([Record("", ())])


@pytest.mark.parametrize(
    ("prefix", "text", "id"),
    [
        ("id", "", "id_cbf29ce484222325"),
        ("x", "a", "x_af63dc4c8601ec8c"),
        ("x", "héllo", "x_a35ff71f960240e0"),
    ],
)
def test_stable_ids_are_the_64_bit_fnv_1a_hash(prefix: str, text: str, id: str) -> None:
    assert stable_id(prefix, text) == id


@given(TEXT, TEXT)
def test_ids_depend_on_nothing_but_the_text(one: str, other: str) -> None:
    assert stable_id("x", one) == stable_id("x", one)
    assert (stable_id("x", one) == stable_id("x", other)) == (one == other)


def test_the_command_prints_the_ledger_without_a_store_and_without_a_last_line_break(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, ["ledger", str(DATA / "evidence.json")])
    assert list(tmp_path.iterdir()) == []
    assert done.exit_code == 0
    assert done.stdout_bytes == (DATA / "ledger.lino").read_bytes()


def test_the_command_reads_what_it_printed(tmp_path: Path) -> None:
    file = tmp_path / "ledger.lino"
    file.write_bytes(
        CliRunner().invoke(command, ["ledger", str(DATA / "evidence.json"), "--corrected"]).stdout_bytes
    )
    done = CliRunner().invoke(command, ["read", str(file)])
    assert done.exit_code == 0, done.output
    shown = [
        Record(one["id"], tuple((key, value) for key, value in one["pairs"]))
        for one in json.loads(done.stdout)
    ]
    assert written(shown, "corrected") == file.read_text()


@pytest.mark.parametrize(
    "document", [b"", b"[]", b"{}", b"\xff", b'{"frame_id": 1, "trails": []}', b"[" * 100_000]
)
def test_a_document_that_is_no_evidence_is_named(document: bytes) -> None:
    with pytest.raises(LearningError, match="mine"):
        read_evidence(document, "mine")


def test_the_ledger_of_no_trails_is_its_header() -> None:
    records = SkillLedger.from_evidence(SolutionEvidence("f", ())).records()
    assert [record.id for record in records] == ["skill_ledger_af63db4c8601ead9"]
    assert json.dumps(records[0].first("skill_count")) == '"0"'
