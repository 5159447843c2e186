"""What an alert is, and what it says to whoever gets it. Pure.

Above: the conditions, which find what is so; the channels, which send; the pages. Below: nothing.
"""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from prowess.config_alerts import AlertKind
from prowess.journal import spoken
from prowess.text.counts import counted

AnyKind: TypeAlias = AlertKind | Literal["test"]
MAX_IN_A_LETTER = 50
TITLES: dict[AnyKind, str] = {
    "agent_stopped": "An agent is stopped",
    "server_down": "A server is down",
    "quarantined": "Something is held back",
    "approval_waiting": "An agent waits for an answer",
    "error_rate": "Many calls fail",
    "budget": "An agent used up its tokens",
    "test": "A test",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertCondition:
    """Something that is so now, and that somebody wants to know."""

    kind: AnyKind
    subject: str
    """What it is about: an agent, a server, a capability, a question."""
    text: str
    link: str
    """The page where something can be done about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertDelivery:
    """How far an alert has come on one channel."""

    channel: str
    state: Literal["waiting", "sent"]
    attempts: int
    next_at: str
    problem: str
    """Why the last attempt failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    id: str
    kind: AnyKind
    subject: str
    text: str
    link: str
    raised_at: str
    ended_at: str = ""
    """When it was no longer so; empty while it is."""
    seen_by: str = ""
    deliveries: tuple[AlertDelivery, ...] = ()

    @property
    def is_open(self) -> bool:
        return not self.ended_at


def told(alerts: tuple[Alert, ...], workspace: str, address: str) -> dict[str, Any]:
    """What a program gets."""
    return {
        "workspace": workspace,
        "alerts": [
            {
                "id": one.id,
                "kind": one.kind,
                "subject": one.subject,
                "text": one.text,
                "link": f"{address.rstrip('/')}{one.link}" if address else one.link,
                "raised_at": one.raised_at,
                "ended_at": one.ended_at,
            }
            for one in alerts
        ],
    }


def heading(alerts: tuple[Alert, ...]) -> str:
    """One line that says what it is about."""
    if len(alerts) == 1:
        return alerts[0].text
    return f"{counted(len(alerts), 'alert')}: {alerts[0].text}, and more"


def letter(alerts: tuple[Alert, ...], workspace: str, address: str) -> str:
    """The text that a person gets."""
    lines = []
    for one in alerts[:MAX_IN_A_LETTER]:
        over = f" (over since {spoken(one.ended_at)})" if one.ended_at else ""
        since = f"  since {spoken(one.raised_at)}"
        lines += [f"{TITLES[one.kind]}: {one.text}{over}", since]
        lines += [f"  {address.rstrip('/')}{one.link}" if address else f"  on the page {one.link}", ""]
    if len(alerts) > MAX_IN_A_LETTER:
        lines += [f"and {len(alerts) - MAX_IN_A_LETTER} more", ""]
    return "\n".join([*lines, f"-- prowess, workspace {workspace}", ""])
