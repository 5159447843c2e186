"""What hostile cases need of other rooms."""

import pytest

from tests.evolution.conftest import open_evolving as open_evolving


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
