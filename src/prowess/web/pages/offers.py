"""The page `offers`: what offers saved, and how often what worked had been found, over time."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.operations.usage import OffersQuery, offers_series
from prowess.web import page
from prowess.web.pages.form import backend
from prowess.web.pages.usage import said_window


def offers(request: Request) -> Response:
    agent = request.query_params.get("agent") or None
    window = said_window(request)
    found = backend(request).call(offers_series, OffersQuery(window=window, agent=agent))
    return page.render(
        request,
        "offers.html",
        title="Offers",
        usage=found,
        usage_window=window,
        agent=agent,
        shares=[_shares(found.found, found.worked), _shares(found.first, found.worked)],
    )


def _shares(parts: Sequence[int], wholes: Sequence[int]) -> list[float | None]:
    """In per cent; nothing where there is nothing to have a share of."""
    return [
        round(100 * part / whole, 1) if whole else None for part, whole in zip(parts, wholes, strict=True)
    ]


ROUTES = (Route("/offers", offers),)
