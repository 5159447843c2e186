"""The stem of a word, by the rules of its language: `scheduled` meets `schedule`, `cost` not `costume`.

Above: discovery and cards, each with words of its own to leave out. Learning has a simpler one.
"""

from functools import lru_cache

from snowballstemmer import stemmer

ALGORITHMS = {
    "da": "danish", "de": "german", "en": "english", "es": "spanish", "fi": "finnish", "fr": "french",
    "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sv": "swedish", "tr": "turkish",
}  # fmt: skip
MAX_WORD_LENGTH = 64
MAX_REMEMBERED = 150_000


@lru_cache(maxsize=MAX_REMEMBERED)
def stem(word: str, language: str = "en") -> str:
    """A word of letters as its stem; as it is, cut off, in a language whose rules are not known."""
    plain = word[:MAX_WORD_LENGTH]
    algorithm = ALGORITHMS.get(language)
    # A stemmer keeps state while it works, so each call has its own and threads do not meet.
    return str(stemmer(algorithm).stemWord(plain)) if algorithm and plain.isalpha() else plain
