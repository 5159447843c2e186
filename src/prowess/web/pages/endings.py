"""How calls end, decisions fall and answers go, as pages colour and word them."""

ENDINGS = {"ok": "good", "failed": "bad", "denied": "warn", "refused": "warn", "asked": "warn"}
VERDICTS = {"allow": "good", "ask": "warn", "deny": "bad"}
ANSWERS_IN_WORDS = {"approved": "said yes", "used": "said yes", "refused": "said no"}
SCOPES_IN_WORDS = {
    "once": "for one use with these arguments",
    "repeat": "for any number of uses with these arguments",
    "any": "for any arguments",
}
