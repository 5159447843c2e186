"""How fast policy is: python bench/policy.py

Resolves a profile of 50 grants over 10,000 capabilities, each time with a catalogue seen for the
first time; reads decisions that are remembered; makes decisions that are not; settles uses on
SQLite with their journal entry. The last results are in bench/results/policy.md.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from prowess.catalogue.view import View
from prowess.journal import Journal, Raw
from prowess.policy.definitions import define
from prowess.policy.patterns import CatalogueNames
from prowess.policy.policy import Policy
from prowess.policy.resolve import resolve
from prowess.policy.ruleset import RuleSet
from prowess.store.opening import open_database
from prowess.types import Capability

CAPABILITIES = 10_000
GRANTS = 50


def catalogue() -> View:
    found = {}
    for number in range(CAPABILITIES):
        kind = ("event", "tool", "skill")[number % 3]
        name = f"area{number % 200}:verb{number}"
        id = f"{kind}:{name}"
        found[id] = Capability(id=id, kind=kind, name=name, display_name=name, description="Does it.")
    return View(version=1, capabilities=dict(sorted(found.items())), providers={})


def grants() -> dict[str, dict[str, object]]:
    return {
        f"grant{number}": {
            "event_patterns": [
                f"area{number}:*",
                f"tool:area{number + 50}:*",
                f"skill:area{number}*:verb*{number}",
                f"*:verb{number}",
                *(f"area{number}:exact{n}" for n in range(10)),
            ],
            "tools": [f"Host{number}"],
        }
        for number in range(GRANTS)
    }


def rules() -> RuleSet:
    profile = {"capabilities": dict.fromkeys(grants(), True), "disallowed_tools": ["area7:*", "*:verb9*"]}
    return RuleSet.of([define({"grants": grants(), "profiles": {"wide": profile | {"agents": ["default"]}}})])


def measure(work: Callable[[], object], times: int) -> tuple[float, float, float]:
    """Milliseconds: median of the wall, best of the wall, median of this thread's processor time."""
    wall, processor = [], []
    for _ in range(times):
        start, busy = time.perf_counter(), time.thread_time()
        work()
        wall.append((time.perf_counter() - start) * 1000)
        processor.append((time.thread_time() - busy) * 1000)
    return median(wall), min(wall), median(processor)


def report(what: str, limit: str, times: tuple[float, float, float], each: int = 1) -> None:
    middle, best, busy = (f"{value * (1000 if each > 1 else 1) / each:.2f}" for value in times)
    unit = "us" if each > 1 else "ms"
    print(f"{what:64} median {middle} {unit}, best {best}, processor {busy} (limit {limit})")


def main() -> None:
    view, all_rules = catalogue(), rules()
    what = f"resolve {GRANTS} grants over {CAPABILITIES} capabilities"
    report(
        f"{what}, never seen",
        "20 ms",
        measure(lambda: resolve(all_rules, "wide", CatalogueNames(view.capabilities)), 30),
    )
    names = CatalogueNames(view.capabilities)
    report(f"{what}, indexed", "20 ms", measure(lambda: resolve(all_rules, "wide", names), 30))
    with TemporaryDirectory() as folder:
        database = open_database("store.db", Path(folder))
        wide = {"capabilities": dict.fromkeys(grants(), True), "agents": ["default"]}
        definitions = define({"grants": grants(), "profiles": {"wide": wide}})
        policy = Policy(database, lambda: datetime.now(UTC), definitions=[definitions])
        journal = Journal(database, lambda: datetime.now(UTC))
        ids = list(view.capabilities)

        def decide() -> None:
            for id in ids:
                policy.decide("default", id, view)

        report("a decision, made", "none", measure(decide, 1), len(ids))
        report("a decision, remembered", "5 us", measure(decide, 20), len(ids))

        def use() -> None:
            policy.refresh()
            with database.writing() as transaction:
                settled = policy.settle(transaction, "default", ids[0], view)
                journal.append(transaction, Raw("decision", {"verdict": settled.decision.verdict}), "default")

        report("a use: refresh, settle and journal on SQLite", "1 ms", measure(use, 300))
        database.close()


if __name__ == "__main__":
    main()
