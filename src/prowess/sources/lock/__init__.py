"""`prowess.lock`: which servers a team has reviewed, in which version, and what they offer."""
