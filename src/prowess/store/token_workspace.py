"""Which workspace a token is of: `prowess_token_ID_SECRET@acme`; one without a name is of the default one.

Above: whoever issues tokens and looks them up. The name is no secret and proves nothing: a token is looked up
in the workspace that it names, and counts there alone.
"""

from prowess.store.database import DEFAULT_WORKSPACE, WORKSPACE_NAME

MARK = "@"


def with_workspace(token: str, workspace: str) -> str:
    """What is handed out for a token of this workspace."""
    return token if workspace == DEFAULT_WORKSPACE else f"{token}{MARK}{workspace}"


def of_token(text: str) -> tuple[str, str]:
    """The token alone and the workspace it names; both are empty where that is no name of one."""
    token, mark, name = text.partition(MARK)
    workspace = name if mark else DEFAULT_WORKSPACE
    return (token, workspace) if WORKSPACE_NAME.fullmatch(workspace) else ("", "")


def within(text: str, workspace: str) -> str:
    """The token alone, if it is of this workspace."""
    token, named = of_token(text)
    return token if named == workspace else ""
