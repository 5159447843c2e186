"""Secrets by name: which are needed, which are there. No value is ever part of an answer."""

from prowess.engine.needed_secrets import SecretStatus, secret_statuses
from prowess.operations.operation import Call, NoParams, operation


@operation("secrets.list", "GET /secrets")
def list_secrets(call: Call[NoParams]) -> tuple[SecretStatus, ...]:
    """Which secrets are needed, where each comes from, and what needs it; never a value."""
    engine = call.engine
    capabilities = engine.catalogue.view().capabilities.values()
    return secret_statuses(capabilities, engine.sources, engine.internals.environment)
