"""Letters written as numbers, signs or other letters, and what they say."""

import codecs
import re

ESCAPE = re.compile(r"\\(?:u\{?([0-9a-fA-F]{4})\}?|x([0-9a-fA-F]{2})|([01][0-7]{2}))")


def from_escapes(text: str) -> str:
    said = ESCAPE.sub(lambda m: chr(int(m[1] or m[2], 16) if m[1] or m[2] else int(m[3], 8)), text)
    # Halves of a character, each escaped, are one character.
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def from_binary(text: str) -> str:
    bits = re.sub(r"[ ,]", "", text)
    return "".join(chr(int(bits[at : at + 8], 2)) for at in range(0, len(bits), 8))


def from_decimal(text: str) -> str:
    return "".join(chr(int(number)) for number in re.findall(r"\d+", text))


def from_morse(text: str) -> str:
    return " ".join("".join(MORSE.get(sign, "") for sign in word.split()) for word in re.split(r"[/|]", text))


MORSE = {
    ".-": "a", "-...": "b", "-.-.": "c", "-..": "d", ".": "e", "..-.": "f", "--.": "g", "....": "h",
    "..": "i", ".---": "j", "-.-": "k", ".-..": "l", "--": "m", "-.": "n", "---": "o", ".--.": "p",
    "--.-": "q", ".-.": "r", "...": "s", "-": "t", "..-": "u", "...-": "v", ".--": "w", "-..-": "x",
    "-.--": "y", "--..": "z",
}  # fmt: skip


def shifted(text: str, by: int) -> str:
    if by == 13:
        return codecs.encode(text, "rot13")
    return "".join(chr((ord(c) - 97 + by) % 26 + 97) if "a" <= c <= "z" else c for c in text)
