"""Each agent has its own login at a server, whichever face of prowess its calls come through."""

import json
import re
from collections.abc import AsyncIterable, Callable
from pathlib import Path

import anyio
import httpx2
import pytest
from anyio import to_thread

import prowess
from prowess.sources.mcp.login import login_file
from tests.support.gateway import call, until
from tests.support.vault import MANY, Served, Vault, everything, over_http, vault, who_calls

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(240)]

WHO = "tool:vault/who"
LEDGER = "vault://ledger"
REFUSED = "a person must log in"


async def logged_in(here: Vault, *agents: str) -> dict[str, str]:
    """Who the server takes each of these agents for."""
    here.config.with_name("policy.yaml").write_text(MANY)
    for agent in agents:
        told = await here.prowess("login", "vault", "--agent", agent)
        assert told.returncode == 0, told.stderr
    assert (await here.prowess("sync")).returncode == 0
    return {agent: client_of(here, agent) for agent in agents}


def client_of(here: Vault, agent: str) -> str:
    file = login_file("vault", f"{here.url}/mcp", here.environment, agent)
    return str(json.loads(file.read_text())["client"]["client_id"])


async def over_the_api(house: Served, agent: str) -> str:
    headers = {"Authorization": f"Bearer {house.tokens[agent]}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        answer = await http.post(f"{house.address}/api/v1/agents/{agent}/call", json={"name": WHO})
    return str(answer.json()["content"][0]["text"])


async def on_the_dashboard(house: Served, *agents: str) -> dict[str, str]:
    said = {}
    async with httpx2.AsyncClient(timeout=30, follow_redirects=True) as browser:
        page = await browser.get(house.link)
        for agent in agents:
            page = await browser.get(f"{house.address}/try", params={"id": WHO, "agent": agent})
            csrf = re.search(r'name="csrf" value="([^"]+)"', page.text)
            assert csrf is not None, page.text[:500]
            fields = {"csrf": csrf[1], "id": WHO, "agent": agent}
            page = await browser.post(f"{house.address}/try", data=fields)
            shown = re.search(r'aria-label="Answer">([^<]*)', page.text)
            said[agent] = shown[1] if shown else page.text
    return said


async def on_the_command_line(here: Vault, agent: str) -> str:
    answer = await here.prowess("call", WHO, "--agent", agent)
    return answer.stdout.strip() or answer.stderr


async def over_pipes(here: Vault, agent: str) -> str:
    async with here.gateway("--agent", agent) as client:
        return await who_calls(client)


def in_a_program(here: Vault, agent: str) -> str:
    with prowess.open(config=str(here.config), environment=here.environment) as engine:
        return engine.call(WHO, {}, agent=agent).text


async def test_every_face_shows_the_server_the_login_of_the_agent_that_calls_and_no_other(
    tmp_path: Path,
) -> None:
    async with vault(tmp_path) as here:
        known = await logged_in(here, "default", "ann", "bea")
        assert len(set(known.values())) == 3
        async with over_http(here) as house:
            pages = await on_the_dashboard(house, "default", "ann", "bea", "cay")
            assert {agent: pages[agent] for agent in known} == known
            assert REFUSED in pages["cay"]
            for agent in ("ann", "bea"):
                assert await over_the_api(house, agent) == known[agent]
                async with house.connected(agent) as client:
                    assert await who_calls(client) == known[agent]
            assert REFUSED in await over_the_api(house, "cay")
            async with house.connected("cay") as client:
                assert REFUSED in await who_calls(client)
        for agent in ("ann", "default"):
            assert await on_the_command_line(here, agent) == known[agent]
            assert await over_pipes(here, agent) == known[agent]
            assert await to_thread.run_sync(in_a_program, here, agent) == known[agent]
        assert REFUSED in await on_the_command_line(here, "cay")
        assert REFUSED in await over_pipes(here, "cay")
        assert REFUSED in await to_thread.run_sync(in_a_program, here, "cay")


async def settled(port: int, fits: Callable[[int], bool]) -> int:
    """Wait until as many are connected to a port as should be."""

    async def fit() -> bool:
        return fits(connections_to(port))

    await until(fit, 30)
    return connections_to(port)


def connections_to(port: int) -> int:
    """How many clients of this machine are connected to a port."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[2].endswith(f":{port:04X}") and row[3] == "01" for row in rows)


async def test_a_connection_of_an_agents_own_ends_when_nobody_uses_it_and_comes_back_with_a_call(
    tmp_path: Path,
) -> None:
    async with vault(tmp_path) as here:
        port = int(here.url.rpartition(":")[2])
        known = await logged_in(here, "default", "ann")
        with here.config.open("a") as file:
            file.write("[calls]\nidle = 1.0\n")
        async with over_http(here) as house, house.connected("ann") as ann:
            await ann.list_tools()
            alone = await settled(port, bool)
            assert await who_calls(ann) == known["ann"]
            assert connections_to(port) > alone
            await settled(port, lambda now: now <= alone)
            assert await who_calls(ann) == known["ann"]
            # The API keeps connections of its own, which end the same way.
            assert await over_the_api(house, "ann") == known["ann"]
            assert connections_to(port) > alone


async def test_after_a_logout_the_connection_ends_and_another_login_counts_at_once(tmp_path: Path) -> None:
    async with vault(tmp_path) as here:
        port = int(here.url.rpartition(":")[2])
        known = await logged_in(here, "default", "ann")
        async with over_http(here) as house, house.connected("ann") as ann:
            alone = await settled(port, bool)
            assert await who_calls(ann) == known["ann"]
            # Somebody else logs in as ann: from now on it is them.
            second = await logged_in(here, "ann")
            assert second["ann"] != known["ann"]
            assert await who_calls(ann) == second["ann"]
            assert await over_the_api(house, "ann") == second["ann"]
            await here.prowess("login", "vault", "--agent", "ann", "--forget")
            await settled(port, lambda now: now <= alone)
            assert REFUSED in await who_calls(ann)
            assert REFUSED in await over_the_api(house, "ann")


async def test_of_a_resource_that_changes_those_hear_who_have_a_login_of_their_own(tmp_path: Path) -> None:
    async with vault(tmp_path) as here:
        await logged_in(here, "default", "ann")
        async with (
            over_http(here) as house,
            house.connected("ann") as ann,
            house.connected("cay") as cay,
            ann.listen(resource_subscriptions=[LEDGER]) as told,
            cay.listen(resource_subscriptions=[LEDGER]) as never,
        ):
            heard = {"ann": 0, "cay": 0}

            async def hear(agent: str, events: AsyncIterable[object]) -> None:
                async for _ in events:
                    heard[agent] += 1

            async def is_heard() -> bool:
                await call(ann, "tool:vault/enter", with_effects=True, what="a coin")
                return heard["ann"] > 1

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(hear, "ann", told)
                tasks.start_soon(hear, "cay", never)
                await until(is_heard, 30)
                tasks.cancel_scope.cancel()
            assert heard["cay"] == 0


async def test_a_logout_is_not_undone_by_a_gateway_that_renews_its_token(tmp_path: Path) -> None:
    async with vault(tmp_path) as here:
        await logged_in(here, "default", "ann")
        async with over_http(here) as house, house.connected("ann") as ann:
            await who_calls(ann)
            await here.revoke()
            await here.prowess("login", "vault", "--agent", "ann", "--forget")
            assert REFUSED in await who_calls(ann)
            files = [file.name for file in here.logins.iterdir()]
            assert login_file("vault", f"{here.url}/mcp", here.environment, "ann").name not in files


async def test_workspaces_of_one_machine_lend_each_other_no_login(tmp_path: Path) -> None:
    async with vault(tmp_path) as here:
        here.config.with_name("policy.yaml").write_text(MANY)
        for workspace in ("north", "south"):
            named = ("--workspace", workspace)
            for more in ((), ("--agent", "ann")):
                told = await here.prowess(*named, "login", "vault", *more)
                assert told.returncode == 0, told.stderr
            assert (await here.prowess(*named, "sync")).returncode == 0
        seen = {
            (workspace, agent): (
                await here.prowess("--workspace", workspace, "call", WHO, "--agent", agent)
            ).stdout.strip()
            for workspace in ("north", "south")
            for agent in ("default", "ann")
        }
        assert len(set(seen.values())) == 4 and all(seen.values())
        # The workspace without a name has no login at all.
        await here.prowess("sync")
        assert "wants a login" in (await here.prowess("doctor")).stdout


async def test_who_has_not_proved_to_be_an_agent_gets_no_login_of_it(tmp_path: Path) -> None:
    async with vault(tmp_path) as here:
        known = await logged_in(here, "default")
        async with everything(here, {}) as house, house.connected("default") as client:
            assert REFUSED in await who_calls(client)
        assert "prowess agent access-token add default" in (await here.prowess("log", "--json")).stdout
        assert await over_pipes(here, "default") == known["default"]
