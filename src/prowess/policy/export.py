"""A host's own allow and deny lists, made from what an agent may use there."""

from collections.abc import Iterable
from dataclasses import dataclass

from prowess.errors import NotFound
from prowess.policy.mcp import CALLABLE
from prowess.policy.patterns import HOST
from prowess.policy.profiles import Rule
from prowess.policy.snapshot import PolicySnapshot
from prowess.tool_names import tool_name
from prowess.types import Verdict

CLAUDE_CODE = "claude-code"
HOSTS = {
    CLAUDE_CODE: (
        *("Agent", "Bash", "BashOutput", "Edit", "ExitPlanMode", "Glob", "Grep", "KillShell", "LS"),
        *("MultiEdit", "NotebookEdit", "NotebookRead", "Read", "SlashCommand", "Skill", "Task"),
        *("TodoRead", "TodoWrite", "WebFetch", "WebSearch", "Write"),
    )
}
"""Each host's own tools, so that a list can also say which of them are not allowed."""
MCP = "mcp__"
SERVER = f"{MCP}prowess__"


@dataclass(frozen=True, slots=True)
class Permissions:
    allow: tuple[str, ...]
    ask: tuple[str, ...]
    deny: tuple[str, ...]


def export(moment: PolicySnapshot, agent: str, host: str) -> Permissions:
    if host not in HOSTS:
        raise NotFound("host", host, HOSTS, f"known: {', '.join(HOSTS)}")
    known = {*HOSTS[host], *moment.rules.host_names}
    verdicts = {name: moment.decide(agent, HOST + name, True).verdict for name in sorted(known)}
    reach = moment.reach(agent)
    served = {
        verdict: [SERVER + tool_name(id) for id in ids if _is_served(moment, id)]
        for verdict, ids in (("allow", reach.allow), ("ask", reach.ask))
    }
    profile = moment.holding(agent).profile
    return Permissions(
        allow=_sorted(_of(verdicts, "allow"), served["allow"], _globs(profile.additional)),
        ask=_sorted(_of(verdicts, "ask"), served["ask"], _globs(profile.ask)),
        deny=_sorted(_of(verdicts, "deny"), _globs(profile.disallowed)),
    )


def _sorted(*names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for some in names for name in some}))


def _globs(rules: Iterable[Rule]) -> list[str]:
    """The patterns over a server's tools, which a host of this kind matches itself; deny wins there too."""
    return [
        rule.pattern.glob for rule in rules if not rule.pattern.exact and rule.pattern.glob.startswith(MCP)
    ]


def _of(verdicts: dict[str, Verdict], wanted: Verdict) -> list[str]:
    return [name for name, verdict in verdicts.items() if verdict == wanted]


def _is_served(moment: PolicySnapshot, id: str) -> bool:
    capability = moment.capabilities.get(id)
    return capability is not None and capability.kind in CALLABLE and not id.startswith(HOST)
