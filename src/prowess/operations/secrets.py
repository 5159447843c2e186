"""Secrets by name: which are needed, which are there. No value is ever part of an answer."""

from prowess.engine.listing import listing
from prowess.engine.needed_secrets import SecretStatus, secret_statuses
from prowess.operations.operation import Call, NoParams, operation


@operation("secrets.list", "GET /secrets")
def list_secrets(call: Call[NoParams]) -> tuple[SecretStatus, ...]:
    """Which secrets are needed, where each comes from, and what needs it; never a value."""
    engine = call.engine
    needed = listing(engine.internals, engine.catalogue.view()).secrets()
    return secret_statuses(needed, engine.sources, engine.internals.environment)
