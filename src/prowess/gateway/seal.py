"""The state that a client of the newest revision carries between two calls, so that it comes back as it was.

A client keeps it while it fetches an answer. Somebody who changed it, or brought another agent's, would speak
to a server in our name.
"""

import hmac

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

DIGITS = 32


class Seal:
    """key: known to this process alone, so a state ends with it."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def closed(self, state: str, agent: str) -> str:
        return f"{self._proof(state, agent)}.{state}"

    def opened(self, brought: str | None, agent: str) -> str:
        """The state as it was closed for this agent; raises where it is anything else."""
        if not brought:
            return ""
        proof, _, state = brought.partition(".")
        if not hmac.compare_digest(proof.encode(), self._proof(state, agent).encode()):
            raise MCPError(INVALID_PARAMS, "requestState is not what this server gave; call again without it")
        return state

    def _proof(self, state: str, agent: str) -> str:
        said = f"{len(agent)}:{agent}{state}".encode(errors="surrogatepass")
        return hmac.digest(self._key, said, "sha256").hex()[:DIGITS]
