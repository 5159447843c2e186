"""Whether a token, link or session is one of the workspace that it names, asked before anything is opened.

An unknown name and a wrong secret take the same way and have the same answer: the store is asked for a row of
that workspace, and there is none.
"""

from prowess.journal import Clock, Journal
from prowess.policy import agent_tokens
from prowess.store.database import Database
from prowess.store.token_workspace import of_token
from prowess.tenants.presented import Presented
from prowess.web.users import Kind, Users


def workspace_of(store: Database, said: Presented, clock: Clock) -> str:
    """The workspace that it proves somebody is of; empty where it proves nothing."""
    _, workspace = of_token(said.text)
    if not workspace:
        return ""
    database = store.of(workspace)
    try:
        people = Users(database, Journal(database, clock), clock)
        kinds: tuple[Kind, ...] = tuple(kind for kind in said.kinds if kind != "agent")
        if kinds and people.proves(said.text, kinds):
            return workspace
        is_agent = "agent" in said.kinds and agent_tokens.proof(database, said.text, clock())
        return workspace if is_agent else ""
    finally:
        database.close()
