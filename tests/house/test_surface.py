"""What prowess promises: its names, the members of an engine and of its namespaces, each described."""

import dataclasses
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import prowess
from prowess import config
from prowess.errors import ConfigError
from prowess.testing import StaticSource
from scripts.reference import NAMESPACES, described, members, reference
from tests.support.places import ROOT
from tests.support.stores import OpenEngine

EXPORTED = """
AlertNotSent ApprovalAnswer ApprovalNeeded
BackupError CallFailed CallOptions CallResult Capability CardOptions
ConfigError Decision Denied Detail DiscoveryOptions Draft EncoderUnavailable Engine EvolutionError
FindingStands Hit InvalidArguments JournalBroken JournalEntry LearningError LeftOut LoginNeeded Message
MissingExtra NotFound Offer Outcome Outdated PolicyError Problem Provider ProwessError Refused RemoteError
Scores SearchOptions
SecretError Source SourceEntry SourceError SourceReading StoreAway StoreBusy StoreError StoreFull SyncReport
TokenCounts ToolCall
ToolFormat ToolRanker Trace Turn WorkspaceError event_handler open rank tool tool_format
"""
ENGINE = """
acall acall_many agents approvals call call_many calls cards catalogue check close conversation decide
definitions diagnose discover evolution explain find findings inject internals journal learning offer policy
preview providers quarantine rank record sources store sync tokens trace watch
"""
MEMBERS = {
    "agents": "bind list retire spawn",
    "approvals": "answer give_back list waiting",
    "calls": "open settle",
    "cards": """baseline drop fit keep list list_capabilities read_reference recent report resume review
        rollout""",
    "catalogue": """cost_of cost_of_everything dependents detail get history lint list problems related
        relations stats usage view visible""",
    "evolution": """agents all_stopped answer contribute difference evaluate evaluate_due fitness generation
        history kept_off note_outcome params preview problems repair report_intervention
        report_violation resume rollback rollbacks set_params status stopped trigger
        trigger_by_agent""",
    "findings": "accept inspect list",
    "journal": "after heads latest per_hour verify",
    "learning": """close_gap closing deprecate deprecate_all gap gaps gate learn learn_due ledger on promote
        promote_all propose propose_anew results retire lesson lessons what_would_close""",
    "policy": "allowed change changes diff files limits pinned problems propose propose_undo replay resolve"
    " review reviews revision rules",
    "providers": "activate deactivate list",
    "quarantine": "approve approved_version difference list reject",
    "tokens": "any_valid holder issue list revoke",
}


def test_exactly_these_names_are_exported() -> None:
    assert sorted(prowess.__all__) == sorted(EXPORTED.split())
    assert set(dir(prowess)) == set(prowess.__all__)
    assert all(getattr(prowess, name) for name in prowess.__all__)
    with pytest.raises(AttributeError):
        prowess.nonsense  # noqa: B018


def test_every_error_is_exported() -> None:
    text = (ROOT / "src" / "prowess" / "errors.py").read_text()
    assert set(re.findall(r"^class (\w+)\(", text, re.MULTILINE)) <= set(prowess.__all__)


def test_an_engine_has_exactly_these_members(open_engine: OpenEngine) -> None:
    engine = open_engine(StaticSource(name="own"))
    assert sorted(name for name in dir(engine) if not name.startswith("_")) == sorted(ENGINE.split())
    for name, expected in MEMBERS.items():
        found = getattr(engine, name)
        assert type(found) is NAMESPACES[name]
        public = [each for each in dir(found) if not each.startswith("_")]
        assert sorted(public) == sorted(expected.split()), name
    assert sorted(NAMESPACES) == sorted(MEMBERS)


def test_every_parameter_that_is_promised_is_described() -> None:
    assert [f"{where}: {parameter}" for where, parameter in undescribed()] == []


def undescribed() -> Iterator[tuple[str, str]]:
    """Where a parameter has no line `name: what it is`; an empty parameter where nothing is said at all."""
    owners = {"Engine": prowess.Engine, **{f"engine.{name}": each for name, each in NAMESPACES.items()}}
    promised: dict[str, Any] = {name: getattr(prowess, name) for name in prowess.__all__}
    promised |= {f"{owner}.{name}": each for owner, kind in owners.items() for name, each in members(kind)}
    for where, each in promised.items():
        said = described(each)
        if not said.summary:
            yield where, ""
        yield from ((where, name) for name in parameters(each) if name not in said.parameters)


def parameters(each: Any) -> list[str]:
    if isinstance(each, type) and issubclass(each, Exception):
        return []  # raised by prowess, made by nobody else
    if dataclasses.is_dataclass(each):
        return [field.name for field in dataclasses.fields(each)]
    if isinstance(each, type) and hasattr(each, "__total__"):
        return list(vars(each)["__annotations__"])
    if not callable(each) or getattr(each, "_is_protocol", False):
        return []
    return [name for name in inspect.signature(each).parameters if name != "self"]


OF_AN_ENGINE = {"collection_name", "embedding_model_id", "read_closely"}


@pytest.mark.parametrize(
    ("options", "section", "without"),
    [
        (prowess.SearchOptions, config.DiscoveryConfig, OF_AN_ENGINE),
        (prowess.DiscoveryOptions, config.DiscoveryConfig, set()),
        (prowess.CardOptions, config.CardsConfig, set()),
    ],
)
def test_options_are_the_keys_of_the_configuration(options: type, section: type, without: set[str]) -> None:
    known = get_type_hints(section)
    assert get_type_hints(options) == {key: known[key] for key in known if key not in without}


@pytest.mark.slow
def test_a_misspelt_option_is_refused_by_a_type_checker(tmp_path: Path) -> None:
    snippet = tmp_path / "snippet.py"
    snippet.write_text(
        "import prowess\n"
        "with prowess.open(tier1_topk=3) as engine:\n"
        "    engine.offer('x', tier1_topk=3)\n"
        "    engine.find('x', knd='tool')\n"
        "    engine.inject({}, 'x', max_token=3)\n"
        "    engine.find('x', tier1_top_k='three')\n"
        "    engine.offer('x', tier1_top_k=3, kind='tool', on_failure='closed')\n"
    )
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(snippet)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, cwd=ROOT, check=False)
    errors = [line.partition("snippet.py:")[2] for line in done.stdout.splitlines() if ": error:" in line]
    assert [error.partition(":")[0] for error in errors] == ["2", "3", "4", "5", "6"], done.stdout
    assert all("Unexpected keyword argument" in error for error in errors[:4])


def test_a_misspelt_option_names_the_nearest_at_run_time(open_engine: OpenEngine) -> None:
    engine = open_engine(StaticSource(name="own"))
    with pytest.raises(ConfigError, match="did you mean 'tier1_top_k'"):
        engine.offer("anything", tier1_topk=3)  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="did you mean 'max_tokens'"):
        engine.inject({}, "anything", max_token=3)  # type: ignore[call-arg]
    with pytest.raises(ConfigError, match="max_tokens"):
        engine.inject({}, "anything", max_tokens=-1)


@pytest.mark.slow
def test_importing_prowess_is_quick_and_loads_nothing() -> None:
    heavy = ("numpy", "msgspec", "mcp", "starlette", "onnxruntime")
    code = f"import sys, prowess; print([name for name in {heavy!r} if name in sys.modules])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_the_reference_is_what_the_code_says() -> None:
    written = (ROOT / "docs" / "reference.md").read_text()
    assert written == reference(), "run: python -m scripts.reference"
