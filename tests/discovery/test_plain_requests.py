"""What people say in passing, and what is offered for it: with the shipped encoder, through the library."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

import prowess
from prowess.engine import Engine
from prowess.testing import StaticSource, capability
from prowess.types import EXAMPLES

SERVERS: Mapping[str, Mapping[str, str]] = {
    "slack": {
        "post_message": "Post a new message to a Slack channel",
        "list_channels": "List public channels in the workspace",
        "get_users": "Get a list of all users in the workspace",
    },
    "statuspage": {
        "update_component": "Set the status of a component",
        "post_maintenance": "Announce scheduled maintenance of the site",
    },
    "pagerduty": {"send_status_update": "Send a status update to the subscribers of an incident"},
    "browser": {"navigate": "Open a page in the browser", "evaluate": "Run JavaScript in the page"},
    "dns": {"update_record": "Update an existing DNS record", "list_zones": "List all zones in the account"},
    "aws": {
        "create_load_balancer": "Create a load balancer",
        "register_targets": "Register targets with a target group of a load balancer",
        "list_load_balancers": "List load balancers",
    },
    "postgres": {
        "execute": "Execute a SQL statement that changes data or schema",
        "describe_table": "Get the column names and types of a table",
    },
    "sheets": {"add_column": "Add a column to a spreadsheet", "add_row": "Append a row to a spreadsheet"},
    "stripe": {"create_refund": "Refund a charge, in full or in part", "get_customer": "Retrieve a customer"},
    "shop": {"get_order": "Get an order by its number", "cancel_order": "Cancel an order"},
    "gmail": {"send_email": "Send an email", "search_emails": "Search emails"},
}
POLICY = "profiles: {owner: {agents: [default], additional_tools: ['*']}}"


def opened(folder: Path, examples: Mapping[str, Sequence[str]]) -> Engine:
    (folder / "policy.yaml").write_text(POLICY)
    (folder / "prowess.toml").write_text('[policy]\nfiles = ["policy.yaml"]\n')
    tools = [
        capability(
            id, said, name=name, provider=server, metadata={EXAMPLES: examples[id]} if id in examples else {}
        )
        for server, offered in SERVERS.items()
        for name, said in offered.items()
        for id in [f"tool:{server}/{name}"]
    ]
    engine = prowess.open(
        str(folder / "store.db"),
        config=str(folder / "prowess.toml"),
        sources=[StaticSource(capabilities=tools)],
    )
    engine.sync()
    return engine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with opened(tmp_path_factory.mktemp("plain"), {}) as engine:
        yield engine


@pytest.mark.parametrize(
    ("request_", "wanted"),
    [
        ("tell #general that the site is back", {"tool:slack/post_message"}),
        (
            "refund order 1234 and tell the customer by mail",
            {"tool:stripe/create_refund", "tool:gmail/send_email"},
        ),
    ],
)
def test_what_is_said_in_passing_is_offered_its_tool(request_: str, wanted: set[str], engine: Engine) -> None:
    assert wanted <= {hit.id for hit in engine.offer(request_).hits}


def score(engine: Engine, request: str, id: str) -> float:
    hits = engine.find(request, tier1_min_relevance=0.0, tier1_top_k=30)
    return next((hit.score for hit in hits if hit.id == id), 0.0)


def test_what_no_word_of_a_request_says_is_found_by_examples(tmp_path: Path, engine: Engine) -> None:
    """That www is a name in the DNS, and `users` a table of a database, only who asks knows."""
    known = {
        "tool:dns/update_record": ("point shop.example.com at another server",),
        "tool:postgres/execute": ("add a column to the orders table",),
    }
    asked = {
        "point www at the new load balancer": "tool:dns/update_record",
        "add a column to the users table": "tool:postgres/execute",
    }
    with opened(tmp_path, known) as helped:
        for request, wanted in asked.items():
            assert wanted in {hit.id for hit in helped.offer(request).hits}
            assert score(helped, request, wanted) > score(engine, request, wanted)
