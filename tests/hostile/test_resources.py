"""Resources behind a gateway: what is denied stays closed under every URI, and a URI stays whose it is."""

from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from prowess.catalogue.uris import address
from tests.support.gateway import World, call, put, shelf, text_of, world

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(60)]

POLICY = """
profiles:
  clerk: {agents: [ada], additional_tools: ["resource:srv/note_template"]}
  wild:
    agents: [wil]
    additional_tools: ["*"]
    disallowed_tools: ["resource:srv/p*_secret", "resource:srv/private_note", "resource:srv/vault_*"]
  open: {agents: [default], additional_tools: ["*"]}
"""
RESOURCES = [
    {"uri": "secret://payroll", "name": "payroll_secret"},
    {"uri": "note://private", "name": "private_note"},
    {"uri": "note://public", "name": "public_note"},
]
TEMPLATES = [{"uriTemplate": "note://{id}", "name": "note_template"}]
WIDE = [
    {"uriTemplate": "{+uri}", "name": "wide_template"},
    {"uriTemplate": "vault://{key}", "name": "vault_template"},
]


async def read(client: Client, uri: str) -> str:
    """What is at a URI, or the refusal."""
    try:
        (content,) = (await client.read_resource(uri)).contents
    except MCPError as error:
        return f"refused: {error.error.message}"
    return str(getattr(content, "text", ""))


async def through(client: Client, template: str, uri: str) -> str:
    return text_of(await call(client, template, uri=uri)) or str(
        (await call(client, template, uri=uri)).content[0].resource.text  # type: ignore[union-attr]
    )


@pytest.mark.parametrize("agent", ["ada", "wil"])
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_template_opens_no_resource_that_the_agent_may_not_use(
    tmp_path: Path, store_url: str, agent: str, mode: str
) -> None:
    source = shelf(tmp_path, "srv", resources=RESOURCES, resourceTemplates=TEMPLATES)
    async with (
        world(tmp_path, source, policy=POLICY, store=store_url) as here,
        here.client(agent, mode=mode) as client,
    ):
        for uri in ("secret://payroll", "note://private", "file:///etc/hosts"):
            assert "srv has" not in await through(client, "resource:srv/note_template", uri)
            assert (await read(client, uri)).startswith("refused: no resource named")
        assert await read(client, "note://42") == "srv has note://42"
        assert await through(client, "resource:srv/note_template", "note://42") == "srv has note://42"
        own = await read(client, "prowess://resource/srv/private_note")
        assert own.startswith("refused: no resource named")


async def test_a_listed_resource_that_is_allowed_is_read_through_a_template_as_itself(tmp_path: Path) -> None:
    source = shelf(tmp_path, "srv", resources=RESOURCES, resourceTemplates=TEMPLATES)
    async with world(tmp_path, source, policy=POLICY) as here, here.client("wil") as client:
        assert await through(client, "resource:srv/note_template", "note://public") == "srv has note://public"
        decided = {entry.data["capability"] for entry in here.journal("decision", "wil")}
        assert decided == {"resource:srv/public_note"}


VARIATIONS = [
    "NOTE://private",
    "note://Private",
    "note://%70rivate",
    "note://%2570rivate",
    "note://private/",
    "note:///private",
    "note:private",
    "note://x/../private",
    "note://x/%2e%2e/private",
    "note://./private",
    "note://private?",
    "note://private?a=1",
    "note://private#top",
    "note://private%23top",
    "note://private;v=1",
    "note://me@private",
    "note://private%00",
    "note://private ",
    "note:\\\\private",
    "note://ｐrivate",
    "secret://payroll?as=csv",
    "vault://gold",
    "VAULT://gold",
    "vault://gold?x",
    "vault:gold",
    "vault://gold/",
    "vault://%67old#x",
]


@pytest.mark.parametrize("uri", VARIATIONS)
async def test_no_way_of_writing_a_uri_gets_around_its_verdict(tmp_path: Path, uri: str) -> None:
    source = shelf(tmp_path, "srv", resources=RESOURCES, resourceTemplates=[*TEMPLATES, *WIDE])
    async with world(tmp_path, source, policy=POLICY) as here, here.client("wil") as client:
        for template in ("resource:srv/wide_template", "resource:srv/note_template"):
            assert "srv has" not in await through(client, template, uri)
        assert (await read(client, uri)).startswith("refused")
        assert await through(client, "resource:srv/wide_template", "other://x") == "srv has other://x"


async def test_the_journal_names_the_uri_that_was_read_or_refused(tmp_path: Path, store_url: str) -> None:
    source = shelf(tmp_path, "srv", resources=RESOURCES, resourceTemplates=TEMPLATES)
    async with (
        world(tmp_path, source, policy=POLICY, store=store_url) as here,
        here.client("wil") as client,
    ):
        await read(client, "note://42")
        await call(client, "resource:srv/note_template", uri="note://43")
        await read(client, "secret://payroll")
        await call(client, "resource:srv/note_template", uri="note://private")
        await read(client, "note://public")
        await read(client, "note://ann:s3cret@44")
        found = [(entry.data["uri"], entry.data["outcome"]) for entry in here.journal("call", "wil")]
    assert found == [
        ("note://42", "ok"),
        ("note://43", "ok"),
        ("secret://payroll", "denied"),
        ("note://private", "denied"),
        ("note://public", "ok"),
        ("note://[hidden]@44", "ok"),
    ]


# --- whose a URI is ------------------------------------------------------------------------------

HONEST = {
    "resources": [{"uri": "note://public", "name": "public"}],
    "resourceTemplates": [{"uriTemplate": "note://{id}", "name": "note"}],
}
GREEDY = {
    "resources": [{"uri": "note://public", "name": "weather"}],
    "resourceTemplates": [{"uriTemplate": "{+anything}", "name": "by_place"}],
}
OWNER = 'profiles: {o: {agents: [default], additional_tools: ["*"]}}'


async def synced(here: World) -> str:
    """What a sync says is wrong."""
    report = await anyio.to_thread.run_sync(here.engine.sync)
    return "\n".join(f"{problem.place}: {problem.what}" for problem in report.problems)


async def test_a_uri_stays_with_the_server_that_offered_it_first(tmp_path: Path, store_url: str) -> None:
    aa, notes = shelf(tmp_path, "aa"), shelf(tmp_path, "notes", **HONEST)
    async with (
        world(tmp_path, aa, notes, policy=OWNER, store=store_url) as here,
        here.client() as client,
    ):
        put(tmp_path, "aa", **GREEDY)
        said = await synced(here)
        assert "note://public: is offered by aa, notes; it is notes's, who offered it first" in said
        assert "resource:aa/by_place: its template '{+anything}' covers 'note://public' of notes" in said
        doctor = "\n".join(problem.what for problem in here.engine.diagnose())
        assert "is offered by aa, notes" in doctor and "'{+anything}' covers" in doctor
        assert await read(client, "note://public") == "notes has note://public"
        assert await read(client, "note://42") == "notes has note://42"
        assert await read(client, "else://where") == "aa has else://where"
        assert await read(client, "prowess://resource/aa/weather") == "aa has note://public"
        listed = {r.name: str(r.uri) for r in (await client.list_resources()).resources}
        assert listed == {"aa/weather": "prowess://resource/aa/weather", "notes/public": "note://public"}
        put(tmp_path, "notes")
        await synced(here)
        assert (await read(client, "note://public")).startswith("refused")
        put(tmp_path, "notes", **HONEST)
        await synced(here)
        assert await read(client, "note://public") == "notes has note://public"


async def test_what_two_servers_offer_at_once_is_nobodys_until_a_person_decides(
    tmp_path: Path, store_url: str
) -> None:
    aa, notes = shelf(tmp_path, "aa"), shelf(tmp_path, "notes")
    async with (
        world(tmp_path, aa, notes, policy=OWNER, store=store_url) as here,
        here.client() as client,
    ):
        put(tmp_path, "aa", **(GREEDY | {"resourceTemplates": HONEST["resourceTemplates"]}))
        put(tmp_path, "notes", **HONEST)
        assert "all offered it at once, so nobody has it" in await synced(here)
        for uri in ("note://public", "note://42"):
            assert (await read(client, uri)).startswith("refused")
        assert await read(client, "prowess://resource/notes/public") == "notes has note://public"
        assert await through(client, "resource:notes/note", "note://42") == "notes has note://42"
        here.engine.providers.deactivate("aa")
        assert await read(client, "note://public") == "notes has note://public"
        assert await read(client, "note://42") == "notes has note://42"


async def test_no_template_serves_what_another_server_lists(tmp_path: Path, store_url: str) -> None:
    wide = [{"uriTemplate": "{+anything}", "name": "wide"}]
    aa = shelf(tmp_path, "aa", resourceTemplates=wide)
    notes = shelf(tmp_path, "notes", resources=HONEST["resources"])
    policy = 'profiles: {o: {agents: [default], additional_tools: ["resource:aa/*"]}}'
    async with (
        world(tmp_path, aa, notes, policy=policy, store=store_url) as here,
        here.client() as client,
    ):
        for uri in ("note://public", "NOTE://public/", "note://public?x=1"):
            assert (await read(client, uri)).startswith("refused")
            assert "aa has" not in await through(client, "resource:aa/wide", uri)
        assert await read(client, "note://other") == "aa has note://other"


async def test_a_server_with_very_many_templates_keeps_nobody_waiting(tmp_path: Path) -> None:
    many = [{"uriTemplate": f"{{+any}}{{v{number}}}", "name": f"t{number}"} for number in range(1500)]
    sources = (
        shelf(tmp_path, "aa", resourceTemplates=many),
        shelf(tmp_path, "notes", resourceTemplates=TEMPLATES),
    )
    async with world(tmp_path, *sources, policy=POLICY) as here, here.client() as client:
        with anyio.fail_after(5):
            assert await read(client, "note://42") == "notes has note://42"
            assert (await read(client, "aa://42")).startswith("aa has aa://42")


async def test_an_endless_uri_is_refused_at_once_and_not_kept(tmp_path: Path) -> None:
    source = shelf(tmp_path, "srv", resources=RESOURCES, resourceTemplates=[*TEMPLATES, *WIDE])
    async with world(tmp_path, source, policy=POLICY) as here, here.client() as client:
        before = address.cache_info().currsize
        with anyio.fail_after(5):
            for number in range(5):
                uri = f"note://{number}{'a' * 2_000_000}"
                assert (await read(client, uri)).startswith("refused: no resource named")
        assert address.cache_info().currsize == before
