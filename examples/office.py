"""What every example works in: an office with 300 tools, a policy, one approval, one failure, learning on.

Each example does the same with its framework: the model looks at invoices, searches for a way to send a mail,
sends it after a person approved, and tries a report whose printer is on fire. `STEPS` is what the scripted
model of an example calls; `journal` is what each of them must leave behind.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import prowess
from prowess.sources.python.functions import Functions

REQUEST = "Which invoices of ACME are open? Mail the list to Ann, then print the quarterly report."
STEPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("find_invoices", {"customer": "ACME"}),
    ("discover_capabilities", {"query": "send an e-mail to a colleague"}),
    ("send_email", {"to": "ann@example.com", "text": "Invoices 17 and 23 are open."}),
    ("print_report", {"quarter": "Q3"}),
)
LAST = "Invoices 17 and 23 are open; Ann has the list. The report could not be printed."
POLICY = """
profiles:
  clerk:
    agents: [ada]
    additional_tools: ["tool:*"]
    disallowed_tools: ["tool:delete_*"]
    ask: ["tool:send_email"]
"""
CONFIG = 'store = "office.db"\n[policy]\nfiles = ["policy.yaml"]\n[learning]\nmode = "accumulate"\n'
THINGS = ("customer", "supplier", "contract", "project", "room", "holiday", "salary", "shipment", "device",
          "licence", "meeting", "budget", "course", "visitor", "vehicle")  # fmt: skip
VERBS = ("create", "update", "delete", "archive", "export", "count", "list", "tag", "merge", "lock", "share",
         "import", "review", "approve", "copy", "rename", "restore", "split", "move", "print")  # fmt: skip


@prowess.tool(side_effects=False)
def find_invoices(customer: str) -> list[int]:
    """Find the open invoices of a customer."""
    return [17, 23] if customer == "ACME" else []


@prowess.tool
def send_email(to: str, text: str) -> str:
    """Send an e-mail to a colleague or a customer."""
    return f"sent to {to}"


@prowess.tool
def print_report(quarter: str) -> str:
    """Print the quarterly report."""
    raise RuntimeError("the printer is on fire")


def other_tools() -> Iterator[Callable[..., object]]:
    """The other 297 things that could be done in this office."""
    for thing in THINGS:
        for verb in VERBS:
            yield _tool(verb, thing)


def _tool(verb: str, thing: str) -> Callable[..., object]:
    def work(name: str) -> str:
        return f"{verb} {thing} {name}: done"

    work.__name__ = f"{verb}_{thing}"
    work.__doc__ = f"{verb.capitalize()} a {thing} by its name."
    return prowess.tool(side_effects=verb not in ("count", "list"))(work)


@contextmanager
def office(folder: Path, **options: Any) -> Iterator[prowess.Engine]:
    """An engine over all of it; what it remembers lies in `folder`."""
    (folder / "policy.yaml").write_text(POLICY)
    (folder / "prowess.toml").write_text(CONFIG)
    tools: tuple[Callable[..., object], ...] = (find_invoices, send_email, print_report, *other_tools())
    sources = [Functions(name="office", functions=tools[:300])]
    with prowess.open(config=str(folder / "prowess.toml"), sources=sources, **options) as engine:
        engine.sync(vectors=False)
        yield engine


def approve(engine: prowess.Engine, approval: str) -> None:
    """A person says yes, here at once; elsewhere in the dashboard or with `prowess approval`."""
    engine.approvals.answer(approval, prowess.ApprovalAnswer(yes=True, by="the boss"))


def journal(engine: prowess.Engine) -> list[tuple[str, str]]:
    """What was called, and how it ended: the same after every example."""
    calls = engine.journal.latest(100, "ada", "call")
    return [(entry.data["capability"], entry.data["outcome"]) for entry in calls]


EXPECTED = [
    ("tool:find_invoices", "ok"),
    ("tool:send_email", "asked"),
    ("tool:send_email", "ok"),
    ("tool:print_report", "failed"),
]
