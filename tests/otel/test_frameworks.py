"""A framework that is traced teaches: the tool runner of Anthropic's SDK, with OpenTelemetry's own."""

from typing import Any

import pytest
from anthropic import beta_tool

from tests.integrations.anthropic_api import ScriptedMessages
from tests.otel.tracing import OpenTraced, find_flights, outcomes, weather_forecast

pytestmark = pytest.mark.slow


def test_tools_of_a_traced_framework_become_outcomes_of_the_offer_that_showed_them(
    traced: OpenTraced,
) -> None:
    script = [
        ("find_flights", {"origin": "Bergen", "destination": "Oslo"}),
        ("weather_forecast", {"city": "Atlantis"}),
    ]
    tools: list[Any] = [beta_tool(find_flights), beta_tool(weather_forecast)]
    with traced() as (engine, provider, processor):
        offer = engine.offer("find flights to Oslo and tell the weather")
        client = ScriptedMessages(script).client.copy(open_telemetry={"tracer_provider": provider})
        messages: list[Any] = [{"role": "user", "content": "find flights to Oslo and tell the weather"}]
        client.beta.messages.tool_runner(
            model="claude-x", max_tokens=500, tools=tools, messages=messages
        ).until_done()
        assert processor.force_flush()
        flights, weather = outcomes(engine)
        assert (flights["capability"], flights["ok"]) == ("tool:find_flights", True)
        assert (weather["capability"], weather["ok"]) == ("tool:weather_forecast", False)
        assert flights["offer"] == weather["offer"] == offer.id
        assert flights["milliseconds"] >= 0
        assert "Atlantis" not in str(weather)
        assert [lesson.method for lesson in engine.learning.learn().lessons] == ["tool:find_flights"]
