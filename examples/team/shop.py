"""What the team's agents can do: three functions of a shop."""

import prowess


@prowess.tool(side_effects=False)
def find_order(number: int) -> str:
    """Find an order of a customer by its number."""
    return f"order {number}: one lamp, 89 euros, delivered broken"


@prowess.tool
def refund(order: int, euros: float) -> str:
    """Give a customer money back for an order."""
    return f"{euros:.2f} euros went back for order {order}"


@prowess.tool
def change_price(article: str, euros: float) -> str:
    """Change what an article costs in the shop."""
    return f"{article} now costs {euros:.2f} euros"
