"""What pages with calls over time share."""

from typing import Any

from starlette.requests import Request

from prowess.engine.use_over_time import SPANS, Window
from prowess.operations.backend import Local
from prowess.operations.usage import UsageQuery, usage_series


def said_window(request: Request) -> Window:
    """How far the page looks back, as its address says."""
    said = request.query_params.get("window", "")
    return next((window for window in SPANS if window == said), "week")


def usage_values(
    local: Local, at: str, window: Window, server: str | None = None, agent: str | None = None
) -> dict[str, Any]:
    """What `usage.html` shows; `at` is the address of the page."""
    found = local.call(usage_series, UsageQuery(window=window, server=server, agent=agent))
    return {"usage": found, "usage_window": window, "usage_at": at}
