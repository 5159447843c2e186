"""The gateway in the long run, in short; `bench.gateway_soak` is the whole of it."""

from pathlib import Path

import pytest

from bench.gateway_soak import soaked

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.timeout(150)]


async def test_mixed_calls_leak_no_process_descriptor_or_memory_and_no_answer_lacks_its_entry(
    tmp_path: Path,
) -> None:
    soak = await soaked(tmp_path, 200)
    assert soak.calls > 180 and soak.visits == 200
    assert soak.lost.total() == 0 and soak.errors.total() == 0
    growth = soak.growth()
    assert growth.processes == 0
    # The store may open a connection for one more thread: three descriptors each.
    assert growth.descriptors <= 12
    # A thread waits for each call that is in the engine.
    assert growth.threads <= 8
    assert growth.megabytes < 40
