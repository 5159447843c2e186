"""A web service whose customers have tools of their own, from one store.

`uvicorn examples.customers.service:app` serves it. Each customer is a workspace with a catalogue, a policy
and a journal of its own. Several such processes, on any machines, share the PostgreSQL database that
PROWESS_STORE names.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

import prowess
from prowess.sources.python.functions import Functions

CONFIG = Path(__file__).with_name("prowess.toml")


@prowess.tool
def book_room(hours: int) -> str:
    """Book a meeting room."""
    return f"a room is yours for {hours} hours"


@prowess.tool
def ship_parcel(town: str) -> str:
    """Ship a parcel to a town."""
    return f"a parcel is on its way to {town}"


CUSTOMERS: dict[str, Callable[..., object]] = {"offices": book_room, "parcels": ship_parcel}
"""What each customer has bought; elsewhere it stands in a database."""


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    """Open every customer's engine, over connections that all of them share, and close them at the end."""
    with ExitStack() as opened:
        app.state.engines = {}
        for customer, function in CUSTOMERS.items():
            tools = [Functions(name=customer, functions=[function])]
            engine = prowess.open(workspace=customer, config=str(CONFIG), sources=tools)
            app.state.engines[customer] = opened.enter_context(engine)
            engine.sync()
        yield


async def offer(request: Request) -> JSONResponse:
    """The tools that a model of this customer should see for a request."""
    engine = request.app.state.engines.get(request.path_params["customer"])
    if engine is None:
        return JSONResponse({"error": "there is no such customer"}, 404)
    made = await run_in_threadpool(engine.offer, request.query_params["request"])
    return JSONResponse({"offer": made.id, "tools": list(made.tool_ids.values())})


app = Starlette(routes=[Route("/{customer}/offer", offer)], lifespan=lifespan)
