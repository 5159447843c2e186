"""The tools of a small bank. What they are found by are these names and docstrings."""

import prowess


@prowess.tool
def transfer(iban: str, euros: float) -> str:
    """Send money from your account to somebody else's."""
    return f"{euros:.2f} euros to {iban}"


@prowess.tool(side_effects=False)
def balance() -> str:
    """How much money is on the account now."""
    return "1,250.00 euros"


@prowess.tool
def block_card(last_digits: str) -> str:
    """Block a lost or stolen card at once."""
    return f"the card that ends in {last_digits} is blocked"


@prowess.tool(side_effects=False)
def statement(month: str) -> str:
    """All payments in and out within a month, as a list."""
    return f"nothing happened in {month}"
