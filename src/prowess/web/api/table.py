"""The whole table: every operation of the API, in the order of its document."""

from prowess.web.api import cards, catalogue, evolution, journal, learning, policy, quarantine, turns
from prowess.web.api import users as people
from prowess.web.operations import Table

RESOURCES = (catalogue, turns, policy, quarantine, cards, evolution, learning, journal, people)


def everything() -> Table:
    return Table(operation for resource in RESOURCES for operation in resource.OPERATIONS)
