"""Policy is asked at moments that a test names."""

from datetime import UTC, datetime

import pytest

from tests.support.policy import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2026, 1, 1, tzinfo=UTC))
