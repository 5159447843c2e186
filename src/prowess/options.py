"""What a caller may say otherwise for one call: the keys of `[discovery]` and of `[cards]`, with their types.

A type checker refuses a misspelt key; at run time it is a `ConfigError` that names the nearest one. Whoever
leaves a key out gets what prowess.toml says. `tests/test_surface.py` compares these with `config.py`.
"""

from collections.abc import Sequence
from typing import Literal, TypedDict

from prowess.config import CardProfileConfig


class SearchOptions(TypedDict, total=False):
    """How one request is searched and shown; given to `offer`, `find` and `Preview.offer`.

    tier0_token_budget: the most tokens of the map of everything, such as 200.
    tier1_token_budget: the most tokens of the hits in short, such as 800.
    tier2_token_budget: the most tokens of the best hits in full, such as 2000.
    tier1_top_k: how many hits are shown in short, such as 5.
    tier2_top_k: how many of them are shown in full, such as 2.
    tier1_min_relevance: hits below this relevance are left out, from 0 to 1.
    use_graph_reranking: whether related capabilities support each other.
    graph_boost_factor: how much they do, from 0 to 1.
    kind: only this kind, such as "tool"; "any" for all.
    category: only this category, such as "travel".
    provider: only what this provider brings.
    exclude: ids that are left out.
    only_available: leave out what cannot be used right now.
    few_tools_whole: where an agent has few tools, put all of them into `tools`, those that fit first.
    """

    tier0_token_budget: int
    tier1_token_budget: int
    tier2_token_budget: int
    tier1_top_k: int
    tier2_top_k: int
    tier1_min_relevance: float
    use_graph_reranking: bool
    graph_boost_factor: float
    kind: str
    category: str
    provider: str
    exclude: list[str]
    only_available: bool
    few_tools_whole: bool


class DiscoveryOptions(SearchOptions, total=False):
    """Everything `[discovery]` knows; given to `prowess.open`, where it holds for every request.

    collection_name: the name that vectors are stored under.
    embedding_model_id: which model makes them; empty for the one in the package.
    read_closely: where a model searches, whether the nearest are read together with its request.
    """

    collection_name: str
    embedding_model_id: str
    read_closely: bool


class CallOptions(TypedDict, total=False):
    """How one call is made; given to `call` and `acall`.

    key: names this call, so that a retry is safe: the same key answers with the first result.
    fields: the parts of the result that are wanted, such as ["items.title"]; without it, all of it.
    authenticated: whether it is certain who the agent is.
    """

    key: str
    fields: Sequence[str]
    authenticated: bool


class CardOptions(TypedDict, total=False):
    """How the cards of one turn are chosen; given to `inject`.

    enabled: whether there are any.
    max_tokens: the most tokens of all cards of a turn, such as 1500.
    confidence_threshold: cards below this score are left out, from 0 to 1.
    force_include: names of cards that always come.
    exclude: names of cards that never come.
    log_level: how much the log says.
    mode: "monitor" injects nothing, "sessions" only in those listed, "full" everywhere.
    sessions: the session types of mode "sessions".
    messages: how many of the last messages are read.
    workspace: whether cards of the agent's own workspace count.
    scorer: what scores them: "relevance", "keyword" or one of your own.
    experiment: scorer -> share of the sessions it scores.
    tokens_per_message: tokens added to the budget for each message.
    most_tokens: the most the budget grows to.
    profile: the card profile of agents that have none.
    profiles: name -> what is different for the agents that have it.
    agents: agent -> the name of its card profile.
    auto_disable_threshold: the share of turns above which injecting stops by itself.
    auto_disable_window_hours: the hours that share is taken over.
    reference: files that `read_reference` may read.
    timezone: where the agents are, such as "Europe/Berlin"; empty for where the machine is.
    """

    enabled: bool
    max_tokens: int
    confidence_threshold: float | None
    force_include: list[str]
    exclude: list[str]
    log_level: Literal["none", "summary", "detailed"]
    mode: Literal["monitor", "sessions", "full"]
    sessions: list[str]
    messages: int
    workspace: bool
    scorer: str
    experiment: dict[str, float]
    tokens_per_message: int
    most_tokens: int
    profile: str
    profiles: dict[str, CardProfileConfig]
    agents: dict[str, str]
    auto_disable_threshold: float
    auto_disable_window_hours: int
    reference: tuple[str, ...]
    timezone: str
