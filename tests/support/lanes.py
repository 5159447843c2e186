"""Two lanes. `make test` runs every test; `make quick` (`pytest --quick`) those that need Python alone.

A test is in the quick lane unless it asks for PostgreSQL or a browser, or is marked `slow`. Slow is what
takes seconds and what starts programs: in the quick lane a test that does so fails and asks for the mark. A
file that is slow as a whole (`pytestmark`) is not even imported, so what it imports need not be there.

Beside them `make integrations` (`pytest --integrations`) runs tests/integrations, one framework at a time.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

NEED_MORE = {"postgres_server", "postgres_databases", "postgres_url", "browser"}
SLOW_FILE = re.compile(r"^pytestmark = (pytest\.mark\.slow|\[[^\]]*pytest\.mark\.slow)", re.MULTILINE)
QUICK_EXAMPLES = 25
"""How many examples a property is tried with in the quick lane; the full one has Hypothesis' own number."""

STARTED = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="only what needs no database, browser or program")
    parser.addoption("--integrations", action="store_true", help="also tests/integrations")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes seconds or starts programs; not in the quick lane")
    if config.getoption("quick"):
        started = config.stash[STARTED] = []

        def heard(event: str, arguments: tuple[object, ...]) -> None:
            if event == "subprocess.Popen":
                started.append(str(arguments[0]))

        sys.addaudithook(heard)
        settings.register_profile("quick", max_examples=QUICK_EXAMPLES)
        settings.load_profile("quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if not config.getoption("quick") or collection_path.suffix != ".py":
        return None
    return True if SLOW_FILE.search(collection_path.read_text(encoding="utf-8")) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("quick"):
        slow = [item for item in items if is_slow(item)]
        items[:] = [item for item in items if not is_slow(item)]
        config.hook.pytest_deselected(items=slow)


def is_slow(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return bool(
        item.get_closest_marker("slow") or fixtures & NEED_MORE or "postgres" in map(str, parameters.values())
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    started = item.config.stash.get(STARTED, [])
    started.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    yield
    if started := item.config.stash.get(STARTED, []):
        pytest.fail(f"it starts a program ({started[0]}): mark it with pytest.mark.slow")
