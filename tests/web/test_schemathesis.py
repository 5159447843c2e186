"""Whatever the document allows is answered as it says, and whatever it forbids is refused."""

from collections import Counter
from pathlib import Path

import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema

from prowess.web.stream import Streams
from tests.support.web import app_of, with_a_past, world

pytestmark = pytest.mark.slow

EXAMPLES = 6
REJECTIONS = ("400", "401", "403", "404", "405", "409", "413", "415", "422")
FEWEST_CASES = 2000


def config_for(token: str) -> SchemathesisConfig:
    return SchemathesisConfig.from_dict(
        {
            "headers": {"Authorization": f"Bearer {token}"},
            # No database keeps a NUL, so that one is refused however valid the text is.
            "generation": {
                "max-examples": EXAMPLES,
                "allow-x00": False,
                "database": "none",
                "deterministic": True,
            },
            "phases": {"stateful": {"enabled": False}},
            "checks": {"negative_data_rejection": {"expected-statuses": list(REJECTIONS)}},
            # Few texts can stand in a path; looking for them longer is not an error.
            "suppress-health-check": ["all"],
            "workers": 1,
        }
    )


def failures_in(scenario: events.ScenarioFinished) -> list[str]:
    return [
        f"{scenario.recorder.label}: {node.failure_info.failure.title}: {node.failure_info.failure.message}\n"
        f"{node.failure_info.code_sample}"
        for nodes in scenario.recorder.checks.values()
        for node in nodes
        if node.failure_info
    ]


@pytest.mark.timeout(300)
def test_nothing_that_is_sent_breaks_the_server_or_is_answered_in_a_way_the_document_does_not_know(
    tmp_path: Path,
) -> None:
    failures: list[str] = []
    errors: list[object] = []
    statuses: Counter[int] = Counter()
    with world(tmp_path) as engine:
        with_a_past(engine)
        app = app_of(engine, Streams(seconds=0.01))
        config = config_for(app.state.people.issue("ann", "admin").text)
        schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app, config=config)
        for event in from_schema(schema).execute():
            if isinstance(event, events.NonFatalError | events.FatalError):
                errors.append(event)
            if isinstance(event, events.ScenarioFinished):
                failures += failures_in(event)
                answers = [one.response for one in event.recorder.interactions.values()]
                statuses.update(answer.status_code for answer in answers if answer is not None)
    assert failures == []
    assert errors == []
    assert sum(statuses.values()) > FEWEST_CASES, "it tried less than it should"
    assert statuses[200] > 200, "what is valid was answered"
