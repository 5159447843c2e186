"""One process that serves every workspace of a store: whose request it is, and what is open for whom."""
