"""The table: every operation there is, in the order of its document."""

from prowess.operations import (
    agents,
    alerts,
    approvals,
    calls,
    cards,
    catalogue,
    digests,
    evolution,
    jobs,
    journal,
    learning,
    lint,
    policy,
    policy_changes,
    quarantine,
    secrets,
    server_changes,
    servers,
    turns,
    usage,
)
from prowess.operations.operation import declared_in

RESOURCES = (
    catalogue, servers, server_changes, lint, turns, calls, usage, agents, policy, policy_changes, approvals,
    quarantine, alerts, digests, secrets, cards, evolution, learning, journal, jobs,
)  # fmt: skip
OPERATIONS = tuple(operation for resource in RESOURCES for operation in declared_in(resource))
