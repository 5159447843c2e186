"""An identity provider: what it publishes of itself, whether a token is its own, how people sign in at it."""
