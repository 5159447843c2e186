"""What every room has: limits, lanes, a clock, and a store on each database. The rest is in the rooms."""

import pytest

from tests.support.clock import SteppingClock

pytest_plugins = (
    "tests.support.lanes",
    "tests.support.limits",
    "tests.support.models",
    "tests.support.stores",
)


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()
