"""The Python side of the sample: functions become tools, handlers become events."""

from typing import Literal

import prowess


@prowess.tool(category="information", tags=["search", "web", "news"], side_effects=False)
def web_search(query: str, max_results: int = 5, kind: Literal["search", "news", "images"] = "search") -> str:
    """Search the web for current information.

    Args:
        query: The search query
        max_results: Maximum results to return
        kind: Type of search
    """
    return f"{max_results} {kind} results for {query}"


@prowess.tool(category="information", tags=["search", "news"], side_effects=False)
def news_search(query: str, date_range: str = "week") -> str:
    """Search news articles by keyword."""
    return f"news about {query} of this {date_range}"


@prowess.tool(category="information", side_effects=False)
def web_browser(url: str, selector: str = "body") -> str:
    """Browse a URL and extract its content."""
    return f"{selector} of {url}"


@prowess.tool(category="developer-tools", name="cli-executor")
def cli_executor(command: str, timeout_seconds: int = 30) -> str:
    """Run a shell command and return what it prints."""
    return f"ran {command} within {timeout_seconds} s"


@prowess.tool(category="travel", tags=["booking"], side_effects=False)
def find_flights(origin: str, destination: str, date: str) -> str:
    """Find flights between two cities on a date, with prices."""
    return f"{origin} to {destination} on {date}"


@prowess.tool(category="travel", tags=["booking"])
def book_hotel(city: str, check_in: str, nights: int, guests: int = 1) -> str:
    """Book a hotel room in a city."""
    return f"{nights} nights in {city} from {check_in} for {guests}"


@prowess.tool(category="finance", side_effects=False)
def convert_currency(amount: float, source: str, target: str) -> str:
    """Convert an amount of money from one currency to another at today's rate."""
    return f"{amount} {source} in {target}"


@prowess.tool(category="finance", side_effects=False)
def stock_price(symbol: str) -> str:
    """Look up the current price of a share."""
    return f"price of {symbol}"


@prowess.tool(category="productivity")
def create_calendar_event(title: str, start: str, minutes: int = 30) -> str:
    """Put an appointment into the calendar."""
    return f"{title} at {start} for {minutes} minutes"


@prowess.tool(category="productivity")
def send_email(to: str, subject: str, body: str) -> str:
    """Send an e-mail."""
    return f"{subject} to {to}: {body}"


@prowess.tool(category="data", side_effects=False)
def query_database(sql: str) -> str:
    """Run a read-only SQL query against the sales database."""
    return f"rows of {sql}"


@prowess.tool(category="data", side_effects=False)
def weather_forecast(city: str, days: int = 3) -> str:
    """Forecast the weather for a city."""
    return f"{days} days in {city}"


@prowess.event_handler(
    "message:publish",
    capability="agent_messaging",
    description="Publish a message to a channel of the message bus",
    requires_auth=True,
)
def publish(channel: str, text: str) -> None:
    """Publish a message."""


@prowess.event_handler(
    "agent:spawn",
    capability="spawn_agents",
    description="Create a child agent",
    requires_auth=True,
    resource_intensive=True,
)
def spawn(name: str, profile: str) -> None:
    """Create a child agent."""


@prowess.event_handler("state:get", capability="state_read", description="Read shared state")
def get_state(key: str) -> None:
    """Read shared state."""


@prowess.event_handler("system:health", description="Whether everything runs")
def health() -> None:
    """Whether everything runs."""
