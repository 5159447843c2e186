"""Names made from content: the same text gets the same id on every machine."""

OFFSET = 0xCBF29CE484222325
PRIME = 0x100000001B3
SIXTY_FOUR_BITS = 0xFFFFFFFFFFFFFFFF


def stable_id(prefix: str, text: str) -> str:
    """The prefix and the 64-bit FNV-1a hash of the text; no protection against forgery."""
    hashed = OFFSET
    for byte in text.encode("utf-8", "surrogatepass"):
        hashed = ((hashed ^ byte) * PRIME) & SIXTY_FOUR_BITS
    return f"{prefix}_{hashed:016x}"
