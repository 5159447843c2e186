"""From an offer to a result: found, fitting, allowed, done, recorded. `calls.py` has the order."""
