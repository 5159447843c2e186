"""What spans say of tools, in the names of those who write them. Pure.

OpenTelemetry's GenAI conventions (Pydantic AI, Google ADK, Agent Framework, Anthropic, MCP), OpenInference
(LangChain and others), Langfuse and MLflow.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Attributes = Mapping[str, Any]

SCOPE = "prowess"
"""The instrumentation scope of our own spans."""
OFFER_ID = "prowess.offer.id"
OUTCOME = "prowess.outcome"
REVISION = "prowess.policy.revision"
HITS = "prowess.hits"
TOKENS = "prowess.tokens"
RESOURCE = "prowess.resource"
OPERATION = "gen_ai.operation.name"
EXECUTE_TOOL = "execute_tool"
RETRIEVAL = "retrieval"
DATA_SOURCE = "gen_ai.data_source.id"
TOOL_NAME = "gen_ai.tool.name"
PROMPT_NAME = "gen_ai.prompt.name"
CALL_ID = "gen_ai.tool.call.id"
AGENT_NAME = "gen_ai.agent.name"
ERROR_TYPE = "error.type"
EXCEPTION_TYPE = "exception.type"
TOOL_KINDS = {
    "openinference.span.kind": "TOOL",
    "langfuse.observation.type": "TOOL",
    "mlflow.spanType": "TOOL",
}
"""Attribute -> its value on the span of a tool, where others than GenAI write it."""
EVALUATION_RESULT = "gen_ai.evaluation.result"
"""The event that says how something was judged."""
EVALUATION_NAMES = ("gen_ai.evaluation.name", "evaluation.name")
EVALUATION_VALUES = ("gen_ai.evaluation.score.value", "evaluation.score")
EVALUATION_LABELS = ("gen_ai.evaluation.score.label", "evaluation.label")
"""What was measured, and what it came to: as GenAI and as OpenInference write it."""
NAMES = (TOOL_NAME, "tool.name")


def tool_of(title: str, attributes: Attributes) -> str:
    """The name of the tool a span is about; nothing where it is about an agent, a model or anything else."""
    if attributes.get(OPERATION) != EXECUTE_TOOL and not _is_of_a_tool(attributes):
        return ""
    named = (str(attributes[name]) for name in NAMES if attributes.get(name))
    return next(named, title.removeprefix(f"{EXECUTE_TOOL} "))


def first_of(attributes: Attributes, keys: Sequence[str]) -> object:
    """The value of the first of these that is there; nothing where none is."""
    return next((attributes[key] for key in keys if key in attributes), None)


def call_of(attributes: Attributes) -> str:
    """The id that the model gave its call; nothing where a framework writes that it has none."""
    id = str(attributes.get(CALL_ID, ""))
    return "" if id.startswith("<") else id


def _is_of_a_tool(attributes: Attributes) -> bool:
    # MLflow writes its values as JSON, in quotation marks.
    return any(str(attributes.get(key, "")).strip('"').upper() == kind for key, kind in TOOL_KINDS.items())
