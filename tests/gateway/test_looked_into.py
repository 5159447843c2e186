"""A server behind a running gateway is looked into and started anew by a person, while agents use it."""

import sys
from pathlib import Path

import pytest
from anyio import to_thread

from prowess.gateway.opening import opened
from prowess.opening import make_writable
from prowess.operations.backend import Local
from prowess.operations.operation import NO_PARAMS
from prowess.operations.person import Person
from prowess.operations.server_changes import restart_server
from prowess.operations.servers import show_server
from prowess.sources.mcp.source import McpSource
from tests.support.gateway import SERVERS, call, text_of, until, world

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(90)]

SAYS_WHO_IT_IS = """
import os, runpy, sys
print("started as", os.getpid(), "with", os.environ.get("SHELF_TOKEN"), file=sys.stderr, flush=True)
runpy.run_path({server!r}, run_name="__main__")
"""


def script_in(folder: Path) -> Path:
    script = folder / "shelf.py"
    script.write_text(SAYS_WHO_IT_IS.format(server=str(SERVERS / "library.py")))
    return script


async def test_a_person_reads_the_last_output_of_a_kept_server_and_restarts_it(tmp_path: Path) -> None:
    source = McpSource(
        name="library", command=sys.executable, args=(str(script_in(tmp_path)),),
        env={"SHELF_TOKEN": "${SHELF_TOKEN}"},
        environment={"SHELF_TOKEN": "sesame-of-the-shelf", "PATH": "/bin"},
    )  # fmt: skip
    environment = {"SHELF_TOKEN": "sesame-of-the-shelf"}
    async with world(tmp_path, source, environment=environment) as here:
        local = Local(here.engine, Person("ann", "operator"))

        async def output() -> str:
            shown = await to_thread.run_sync(lambda: local.call(show_server, NO_PARAMS, name="library"))
            return shown.output

        first = await output()
        assert first.startswith("started as ")
        assert "sesame-of-the-shelf" not in first
        report = await to_thread.run_sync(lambda: local.call(restart_server, NO_PARAMS, name="library"))
        assert report.problems == ()
        assert (await output()).startswith("started as ")
        assert await output() != first
        async with here.client() as client:
            found = await call(client, "tool:library/find_book", title="Emma")
            assert "Emma" in text_of(found)


async def test_a_server_that_is_added_from_a_page_is_started_by_the_gateway_of_the_same_process(
    tmp_path: Path,
) -> None:
    (tmp_path / "policy.yaml").write_text('profiles: {owner: {agents: [default], additional_tools: ["*"]}}')
    file = tmp_path / "prowess.toml"
    file.write_text('store = "sqlite:store.db"\n[policy]\nfiles = ["policy.yaml"]\n')
    script = script_in(tmp_path)
    with opened(file, None, {"PATH": "/bin"}) as gateway:
        make_writable(gateway.engine, file)
        async with gateway.running():
            project = gateway.engine.internals.project
            assert project is not None
            more = f'[[source]]\ntype = "mcp"\nname = "library"\ncommand = "{sys.executable}"\n'
            proposal = project.propose(f'{project.text()}{more}args = ["{script}"]\n', "adds library")
            await to_thread.run_sync(project.change, proposal, "ann")
            assert "library" in gateway.upstreams.names

            async def is_read() -> bool:
                return "tool:library/find_book" in gateway.engine.catalogue.view().capabilities

            await until(is_read)
            assert gateway.upstreams.output("library").startswith("started as ")
