"""Numbers with what they count: one tool, two tools."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """Such as "1 tool", "2 tools", "0 capabilities".

    noun: of one.
    plural: of several, where that is not the noun and an s.
    """
    return f"{number} {noun}" if number == 1 else f"{number} {plural or several(noun)}"


def several(noun: str) -> str:
    """The noun of several: capabilities, entries, servers."""
    ends_in_y = noun.endswith("y") and noun[-2:-1] not in "aeiou"
    return f"{noun[:-1]}ies" if ends_in_y else f"{noun}s"
