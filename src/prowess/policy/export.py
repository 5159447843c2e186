"""A host's own allow, ask and deny lists, made from what an agent may use there.

Above: `prowess policy export`, which knows how a client names tools and what the gateway serves.
Below: the moment.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prowess.policy.patterns import HOST
from prowess.policy.profiles import Rule
from prowess.policy.snapshot import PolicySnapshot
from prowess.types import Verdict

CLAUDE_CODE = "claude-code"
HOST_TOOLS: Mapping[str, tuple[str, ...]] = {
    CLAUDE_CODE: (
        *("Agent", "Bash", "BashOutput", "Edit", "ExitPlanMode", "Glob", "Grep", "KillShell", "LS"),
        *("MultiEdit", "NotebookEdit", "NotebookRead", "Read", "SlashCommand", "Skill", "Task"),
        *("TodoRead", "TodoWrite", "WebFetch", "WebSearch", "Write"),
    )
}
"""A host's own tools, where they are known, so that a list can also say which of them are not allowed."""
MCP = "mcp__"


@dataclass(frozen=True, slots=True)
class Permissions:
    allow: tuple[str, ...]
    ask: tuple[str, ...]
    deny: tuple[str, ...]


def export(moment: PolicySnapshot, agent: str, host: str, served: Mapping[str, Verdict]) -> Permissions:
    """`served` are the tools of prowess, as the host names them, each with what is to be done about it."""
    known = {*HOST_TOOLS.get(host, ()), *moment.rules.host_names}
    own = {name: moment.decide(agent, HOST + name, True).verdict for name in known}
    profile = moment.holding(agent).profile
    return Permissions(
        allow=_sorted(_of(own, "allow"), _of(served, "allow"), _globs(profile.additional)),
        ask=_sorted(_of(own, "ask"), _of(served, "ask"), _globs(profile.ask)),
        deny=_sorted(_of(own, "deny"), _globs(profile.disallowed)),
    )


def _sorted(*names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({name for some in names for name in some}))


def _globs(rules: Iterable[Rule]) -> list[str]:
    """The patterns over a server's tools, which a host of this kind matches itself; deny wins there too."""
    return [
        rule.pattern.glob for rule in rules if not rule.pattern.exact and rule.pattern.glob.startswith(MCP)
    ]


def _of(verdicts: Mapping[str, Verdict], wanted: Verdict) -> list[str]:
    return [name for name, verdict in verdicts.items() if verdict == wanted]
