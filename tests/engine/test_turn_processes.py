"""While another process changes everything, each recorded offer is allowed by the revision it names."""

import subprocess
import sys
from pathlib import Path

import pytest

from prowess.engine import Engine
from prowess.engine.options import EngineOptions
from prowess.journal import read
from prowess.journal.entries import Offered
from prowess.opening import now
from prowess.policy.policy import Policy
from prowess.store.opening import open_database
from prowess.testing import StaticSource, capability, word_embedder
from prowess.types import Message, Turn

pytestmark = pytest.mark.slow

TOOLS = [
    capability("tool:a", "Send an email to the team."),
    capability("tool:b", "Send a letter to the team."),
    capability("tool:c", "Send a parcel to the team."),
]
RULES = tuple(
    f"profiles: {{p: {{agents: [default, ada], additional_tools: {allowed}}}}}\n"
    for allowed in ('["tool:a"]', '["tool:b"]', '["tool:a", "tool:c"]')
)
TURNS = 60


def opened(url: str, folder: Path) -> Engine:
    options = EngineOptions(policy_files=(folder / "policy.yaml",), embedder=word_embedder)
    return Engine(open_database(url, folder), (StaticSource(capabilities=TOOLS),), now, {}, options)


def allowed_by_revision(url: str, folder: Path) -> dict[str, set[str]]:
    """What each of the policies allows, by the revision it goes by."""
    found = {}
    for number, rules in enumerate(RULES):
        file = folder / f"known-{number}.yaml"
        file.write_text(rules.replace("known", ""))
        database = open_database(url, folder)
        policy = Policy(database, now, (file,))
        found[policy.revision] = {tool.id for tool in TOOLS if f'"{tool.id}"' in rules}
        database.close()
    return found


def test_every_recorded_offer_is_allowed_by_the_revision_it_names(store_url: str, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(RULES[0])
    allowed = allowed_by_revision(store_url, tmp_path)
    with opened(store_url, tmp_path) as engine:
        engine.sync()
        command = [sys.executable, "-m", "tests.engine.turn_changer", store_url, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as changer:
            assert changer.stdout is not None and changer.stdout.readline() == "changing\n"
            for number in range(TURNS):
                agent = "ada" if number % 2 else "default"
                said = f"send something to the team, number {number}"
                offer = engine.offer(Turn(messages=(Message("user", said),), agent=agent))
                shown = {hit.id for hit in offer.hits} | set(offer.tool_ids.values())
                assert shown <= allowed[offer.policy_revision]
            changer.kill()
        entries = [read(entry) for entry in engine.journal.latest(1000, type="offer")]
        offers = [entry for entry in entries if isinstance(entry, Offered)]
        assert len(offers) == TURNS
        for entry in offers:
            assert {hit.id for hit in entry.hits} <= allowed[entry.policy_revision]
        assert len({entry.policy_revision for entry in offers}) > 1, "policy did change meanwhile"
        assert len({entry.catalogue_version for entry in offers}) > 1, "and so did the catalogue"
        engine.journal.verify()
