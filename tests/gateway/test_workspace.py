"""A gateway of one workspace among others of its store."""

import os
from pathlib import Path

import pytest

import prowess
from prowess.gateway.opening import opened
from tests.support.cards import text_of as card_text
from tests.support.gateway import OWNER, until

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(60)]

POLICY = '[policy]\nfiles = ["policy.yaml"]\n'


async def test_a_source_that_prowess_toml_gets_while_the_gateway_runs_is_read_in_its_workspace(
    tmp_path: Path,
) -> None:
    file = tmp_path / "prowess.toml"
    (tmp_path / "policy.yaml").write_text(OWNER)
    file.write_text(f'store = "store.db"\n{POLICY}')
    for workspace in ("default", "north"):
        with prowess.open(config=str(file), workspace=workspace) as engine:
            engine.cards.keep(card_text(f"of_{workspace}", "[cost]"))
    environment = {key: value for key, value in os.environ.items() if key != "PROWESS_WORKSPACE"}
    with opened(file, None, environment, "north") as gateway:
        async with gateway.running():
            await gateway.synced(20)
            file.write_text(f'store = "store.db"\n{POLICY}[[source]]\ntype = "stored-cards"\n')

            async def has_cards() -> bool:
                return bool(gateway.engine.catalogue.view().capabilities)

            await until(has_cards)
            assert set(gateway.engine.catalogue.view().capabilities) == {"card:of_north"}
