"""The page of one agent: what it may use, what it uses, what failed, what it lacked, and where it stands."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from prowess.operations.agents import report_agent
from prowess.operations.evolution import status
from prowess.operations.operation import NO_PARAMS, AgentQuery
from prowess.web import page
from prowess.web.pages.endings import ENDINGS
from prowess.web.pages.form import address, backend
from prowess.web.pages.usage import said_window, usage_values


def shown(request: Request) -> Response:
    local, name = backend(request), request.query_params.get("name", "")
    report = local.call(report_agent, NO_PARAMS, agent=name)
    return page.render(
        request,
        "agent.html",
        title=name,
        under="/policy",
        report=report,
        lists=(
            ("Most used", report.top, "nothing was used yet"),
            ("Slowest", report.slowest, "no call was timed yet"),
            ("Failing", report.failing, "nothing failed"),
        ),
        standing=local.call(status, AgentQuery(agent=name)),
        endings=ENDINGS,
        **usage_values(local, address("/agent", name=name), said_window(request), agent=name),
    )


ROUTES = (Route("/agent", shown),)
