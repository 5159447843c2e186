"""Servers that want OAuth: a person logs in once, at the terminal; the gateway renews and never waits."""

import json
import stat
from pathlib import Path

import anyio
import pytest

from tests.support.gateway import ask, call, free_port, listening_server, text_of
from tests.support.vault import Vault, over_http, vault, who_calls

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(180)]


async def test_one_login_at_the_terminal_opens_the_server_to_the_gateway(tmp_path: Path) -> None:
    async with vault(tmp_path) as here:
        told = await here.prowess("login", "vault")
        assert "logged in at vault: 4 tools" in told.stderr, told.stderr
        (file,) = here.logins.iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(here.logins.stat().st_mode) == 0o700
        async with here.gateway() as client:
            opened = await call(client, "tool:vault/open_vault", with_effects=True, word="sesame")
            assert text_of(opened) == "the vault opens at sesame"
            visits = (await call(client, "tool:vault/visits", with_effects=True)).structured_content
            assert visits == {"registered": 1, "authorized": 1}
        # Also a command that connects for itself shows the login.
        assert (await here.prowess("sync")).returncode == 0
        assert "wants a login" not in (await here.prowess("doctor")).stdout


async def test_without_a_login_the_gateway_says_which_command_to_run_and_nobody_waits(tmp_path: Path) -> None:
    async with vault(tmp_path) as here:
        with anyio.fail_after(30):
            async with here.gateway() as client:
                assert (await ask(client, "list_capabilities"))["total"] == 0
        doctor = await here.prowess("doctor")
        assert "prowess login vault" in doctor.stdout + doctor.stderr
        assert not here.logins.exists()


async def test_a_token_that_expires_is_renewed_without_a_person(tmp_path: Path) -> None:
    async with vault(tmp_path, seconds=2) as here:
        await here.prowess("login", "vault")
        first = here.tokens()
        await anyio.sleep(2.1)
        async with here.gateway() as client:
            opened = await call(client, "tool:vault/open_vault", with_effects=True, word="a")
            assert text_of(opened) == "the vault opens at a"
            await anyio.sleep(2.1)
            visits = (await call(client, "tool:vault/visits", with_effects=True)).structured_content
            assert visits is not None and visits["authorized"] == 1 and visits["renewed"] >= 2
        assert here.tokens()["access_token"] != first["access_token"]
        assert here.tokens()["refresh_token"] != first["refresh_token"]


async def test_a_token_that_is_taken_back_is_renewed_and_a_lost_login_is_named(tmp_path: Path) -> None:
    async with vault(tmp_path) as here:
        await here.prowess("login", "vault")
        async with here.gateway() as client:
            await here.revoke()
            opened = await call(client, "tool:vault/open_vault", with_effects=True, word="a")
            assert text_of(opened) == "the vault opens at a"
            await here.revoke("revoke-all")
            lost = await call(client, "tool:vault/open_vault", with_effects=True, word="b")
            assert lost.is_error and "a person must log in" in text_of(lost)
            assert "prowess login" not in text_of(lost), "what is to be run is told to people"
            assert "run: prowess login vault" in (await here.prowess("log", "--json")).stdout
            # The person logs in again, and the gateway that runs goes on.
            assert (await here.prowess("login", "vault")).returncode == 0
            opened = await call(client, "tool:vault/open_vault", with_effects=True, word="c")
            assert text_of(opened) == "the vault opens at c"


async def test_two_gateways_share_one_login_though_each_renewal_ends_the_last(tmp_path: Path) -> None:
    async with vault(tmp_path) as here:
        await here.prowess("login", "vault")
        async with here.gateway() as one, here.gateway() as other:
            for client in (one, other):
                await call(client, "tool:vault/open_vault", with_effects=True, word="a")
            await here.revoke()
            for client in (one, other, one):
                opened = await call(client, "tool:vault/open_vault", with_effects=True, word="b")
                assert text_of(opened) == "the vault opens at b"


async def test_no_token_is_in_any_output_store_or_log(tmp_path: Path) -> None:
    async with vault(tmp_path) as here:
        told = await here.prowess("login", "vault")
        secrets = [here.tokens()["access_token"], here.tokens()["refresh_token"]]
        async with here.gateway() as client:
            await call(client, "tool:vault/open_vault", with_effects=True, word="a")
            await here.revoke("revoke-all")
            await call(client, "tool:vault/open_vault", with_effects=True, word="a")
        log = await here.prowess("log", "--json")
        said = told.stdout + told.stderr + here.log.read_text() + log.stdout
        kept = b"".join(file.read_bytes() for file in tmp_path.glob("store.db*"))
        for secret in secrets:
            assert secret not in said
            assert secret.encode() not in kept


async def test_over_http_each_agent_has_its_own_login_and_is_lent_no_other(tmp_path: Path) -> None:
    async with vault(tmp_path) as here:
        for more in ((), ("--agent", "ann")):
            assert (await here.prowess("login", "vault", *more)).returncode == 0
        async with over_http(here) as house, house.connected("ann") as ann, house.connected("bea") as bea:
            first = await who_calls(ann)
            assert "a person must log in" in await who_calls(bea)
            assert "prowess login" not in await who_calls(bea)
            assert "prowess login vault --agent bea" in (await here.prowess("log", "--json")).stdout
            await here.prowess("login", "vault", "--agent", "bea")
            second = await who_calls(bea)
            owners = {json.loads(file.read_text())["client"]["client_id"] for file in here.logins.iterdir()}
            assert {first, second} < owners and len(owners) == 3
            assert await who_calls(ann) == first
            await here.prowess("login", "vault", "--agent", "ann", "--forget")
            assert "a person must log in" in await who_calls(ann)


async def test_a_login_that_is_declared_shared_serves_every_agent_over_http(tmp_path: Path) -> None:
    async with vault(tmp_path) as here:
        with here.config.open("a") as file:
            file.write('login = "shared"\n')
        await here.prowess("login", "vault")
        async with over_http(here) as house, house.connected("ann") as ann, house.connected("bea") as bea:
            first = await who_calls(ann)
            assert len(here.tokens()) > 1 and first == await who_calls(bea)


async def test_a_login_can_be_forgotten_and_one_that_fails_keeps_the_old_one(tmp_path: Path) -> None:
    async with vault(tmp_path) as here:
        await here.prowess("login", "vault")
        before = here.tokens()
        refused = await here.prowess("login", "vault", "--client-id", "nobody", "--seconds", "2")
        assert refused.returncode == 1 and "nobody logged in in time" in refused.stderr
        assert here.tokens() == before
        assert "forgot" in (await here.prowess("login", "vault", "--forget")).stderr
        assert list(here.logins.iterdir()) == []


async def test_a_server_that_wants_no_login_or_does_not_exist_is_said_so(tmp_path: Path) -> None:
    port = free_port()
    here = Vault(tmp_path, port)
    async with listening_server("library.py", port):
        assert "vault wants no login" in (await here.prowess("login", "vault")).stderr
    missing = await here.prowess("login", "vaults")
    assert missing.returncode == 1 and "vault" in missing.stderr
