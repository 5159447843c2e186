"""Several configurations on one store: none takes away what another one brought."""

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters

from prowess.cli.main import prowess
from tests.support.gateway import OWNER, ask, served, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


def manifest(folder: Path, name: str) -> None:
    place = folder / ".prowess" / "capabilities" / name
    place.mkdir(parents=True)
    (place / "CAPABILITY.yaml").write_text(f"kind: tool\nname: {name}\ndescription: Does {name}\n")


def skill(folder: Path, name: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Does {name}\n---\nDo it.\n")


def machine(folder: Path, store: str, sources: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "prowess.toml").write_text(f"store = {json.dumps(store)}\n{sources}")
    return folder


def run(folder: Path, *arguments: str) -> str:
    before = Path.cwd()
    os.chdir(folder)
    try:
        done = CliRunner().invoke(prowess, arguments, catch_exceptions=False, env={"HOME": str(folder)})
    finally:
        os.chdir(before)
    assert done.exit_code == 0, done.output
    return done.stdout


def ids(folder: Path) -> list[str]:
    return [one["id"] for one in json.loads(run(folder, "list", "--json"))]


def test_two_configurations_of_one_store_leave_each_other_what_they_brought(
    store_url: str, tmp_path: Path
) -> None:
    one, two = machine(tmp_path / "m1", store_url), machine(tmp_path / "m2", store_url)
    manifest(one, "only_m1")
    manifest(two, "only_m2")
    for folder in (one, two, one, two):
        run(folder, "sync")
    assert ids(one) == ids(two) == ["tool:only_m1", "tool:only_m2"]


def test_what_a_configuration_no_longer_has_goes_and_nothing_else(store_url: str, tmp_path: Path) -> None:
    skill(tmp_path / "a", "apple")
    skill(tmp_path / "b", "pear")
    source = '[[source]]\ntype = "skills"\nname = "{0}"\npath = "../{0}"\n'
    one = machine(tmp_path / "m1", store_url, source.format("a") + source.format("b"))
    two = machine(tmp_path / "m2", store_url, source.format("b"))
    for folder in (one, two):
        run(folder, "sync")
    machine(one, store_url, '[[source]]\ntype = "skills"\nname = "c"\npath = "../c"\n')
    assert "- skill:apple" in run(one, "sync")
    assert ids(one) == ["skill:pear"]
    machine(two, store_url, '[[source]]\ntype = "skills"\nname = "c"\npath = "../c"\n')
    run(two, "sync")
    assert ids(one) == []


def test_a_source_that_is_defined_anew_brings_what_it_has_now(store_url: str, tmp_path: Path) -> None:
    skill(tmp_path / "a", "apple")
    skill(tmp_path / "b", "pear")
    source = '[[source]]\ntype = "skills"\nname = "s"\npath = "../{}"\n'
    one = machine(tmp_path / "m1", store_url, source.format("a"))
    run(one, "sync")
    machine(one, store_url, source.format("b"))
    run(one, "sync")
    assert ids(one) == ["skill:pear"]


def test_of_two_that_define_one_id_the_first_keeps_it_and_the_other_is_told(
    store_url: str, tmp_path: Path
) -> None:
    one, two = machine(tmp_path / "m1", store_url), machine(tmp_path / "m2", store_url)
    manifest(one, "same")
    manifest(two, "same")
    (two / ".prowess/capabilities/same/CAPABILITY.yaml").write_text(
        "kind: tool\nname: same\ndescription: Something else\n"
    )
    for folder in (one, two, one, two):
        run(folder, "sync")
    (found,) = json.loads(run(one, "list", "--json"))
    assert found["description"] == "Does same"
    assert "already defined" in json.dumps(json.loads(run(two, "sync", "--json"))["problems"])


@asynccontextmanager
async def gateway(folder: Path, log: Path) -> AsyncIterator[Client]:
    command, *args = served(folder / "prowess.toml")
    server = StdioServerParameters(command=command, args=args, env={**os.environ, "HOME": str(folder)})
    with log.open("w") as errors:
        from mcp.client.stdio import stdio_client

        async with Client(stdio_client(server, errlog=errors), cache=None) as client:
            yield client


async def finds(client: Client, *names: str) -> bool:
    found = await ask(client, "discover_capabilities", query="do apple or pear")
    return {one["id"] for one in found["capabilities"]} == set(names)


@pytest.mark.anyio
async def test_a_gateway_follows_its_configuration_and_keeps_the_old_one_when_it_breaks(
    tmp_path: Path,
) -> None:
    skill(tmp_path / "a", "apple")
    skill(tmp_path / "b", "pear")
    (tmp_path / "policy.yaml").write_text(OWNER)
    policy = '[policy]\nfiles = ["policy.yaml"]\n'
    source = '[[source]]\ntype = "skills"\nname = "{0}"\npath = "{0}"\n'
    folder = machine(tmp_path, "sqlite:store.db", policy + source.format("a"))
    log = tmp_path / "log"

    async def has_both() -> bool:
        return await finds(client, "skill:apple", "skill:pear")

    async def has_pear() -> bool:
        return await finds(client, "skill:pear")

    async def has_said() -> bool:
        return "cannot be used" in log.read_text()

    async with gateway(folder, log) as client:
        assert await finds(client, "skill:apple")
        machine(folder, "sqlite:store.db", policy + source.format("a") + source.format("b"))
        await until(has_both, 20)
        assert "sources added: b" in log.read_text()
        (folder / "prowess.toml").write_text("[[source]\nnonsense")
        await until(has_said, 20)
        assert await has_both()
        machine(folder, "sqlite:store.db", policy + source.format("b"))
        await until(has_pear, 20)
