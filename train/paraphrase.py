"""Say a request in other words, and make requests out of what a tool says about itself."""

import re
from random import Random

from train.bench import Tool
from train.text import display_name, words_of

OPENINGS = (
    "Please {}", "Can you {}?", "Could you {}", "I need to {}", "I want to {}", "Help me {}",
    "I'd like to {}", "How do I {}?", "Is there a way to {}?", "I have to {} today", "{} for me",
    "Hi, could you please {}?", "We need something that can {}", "find a tool to {}", "{}",
)  # fmt: skip
JOINTS = (
    "{} and also {}", "{} Then {}", "{} After that, {}", "{} Also, {}", "{} In addition, {}",
    "{} and then {}", "First, {} Second, {}", "{} {}", "{} Besides, {}", "{} Finally, {}",
)  # fmt: skip
STOP_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        a an and any are as at be by can could do does for from get give have help hi how i if in is it like
        me my need of on or our please should so tell that the there this to us want we what when where which
        with would you your
        """,
    )
)
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
EXAMPLE = re.compile(r"(?:e\.g\.|such as|for example|for instance|like)[,:]?\s*([^).;]+)")


def reword(request: str, random: Random) -> str:
    """Change the form of a request and leave its need as it was."""
    change = random.choice((_keywords, _drop_words, _lower, _one_sentence, _bare))
    return change(request, random) or request


def join(first: str, second: str, random: Random) -> str:
    """Ask for two things in one request."""
    if random.random() < 0.5:
        second = second[:1].lower() + second[1:]
    return random.choice(JOINTS).format(first, second)


def ask_for(tool: Tool, random: Random) -> str:
    """Make up a request that the tool's own description answers."""
    sentences = [part for part in SENTENCE_END.split(tool.description) if len(part) > 12]
    if not sentences:
        return display_name(tool.name).lower()
    wish = _as_wish(sentences[0] if random.random() < 0.7 else random.choice(sentences))
    if random.random() < 0.6:
        wish += _details(tool, random)
    if random.random() < 0.3:
        wish = _drop_words(wish, random)
    return random.choice(OPENINGS).format(wish)


def name_of(tool: Tool) -> str:
    """Call the tool by its name alone."""
    return " ".join(words_of(tool.name)).lower() or tool.name


def _as_wish(sentence: str) -> str:
    """Turn "Retrieves the weather." into "retrieve the weather"."""
    verb, _, rest = sentence.rstrip(" .!?").partition(" ")
    plain = verb[:1].lower() + verb[1:]
    if plain.endswith("s") and not plain.endswith(("ss", "us", "is", "this")):
        plain = re.sub(r"(?<=ch|sh|ss)es$", "", plain) if plain.endswith("es") else plain
        plain = plain[:-1] if plain.endswith("s") else plain
    return f"{plain} {rest}".strip()


def _details(tool: Tool, random: Random) -> str:
    """Add what a user would give for some of the parameters: example values, or their names."""
    parameters = list((tool.parameters or {}).items())
    chosen = random.sample(parameters, min(len(parameters), random.randint(1, 2)))
    return "".join(_detail(name, about or "", random) for name, about in chosen)


def _detail(name: str, about: str, random: Random) -> str:
    examples = EXAMPLE.search(about)
    if examples:
        values = re.split(r",\s*(?:or\s+|and\s+)?|\s+or\s+|\s+and\s+", examples.group(1))
        value = random.choice([value for value in values if value] or [name]).strip("'\" ")
        return random.choice((" for {}", " with {}", ", {}", " using {}")).format(value)
    subject = " ".join(words_of(name)).lower()
    return random.choice((" by {}", " for a given {}", ", I have the {}")).format(subject)


def _keywords(request: str, random: Random) -> str:
    words = re.findall(r"[\w'/.-]+", request)
    return " ".join(word for word in words if word.lower() not in STOP_WORDS)


def _drop_words(request: str, random: Random) -> str:
    return " ".join(word for word in request.split() if random.random() > 0.12)


def _lower(request: str, random: Random) -> str:
    return request.lower().rstrip(".?!")


def _one_sentence(request: str, random: Random) -> str:
    sentences = SENTENCE_END.split(request)
    return max(sentences, key=len)


def _bare(request: str, random: Random) -> str:
    """Take the polite opening off: "Can you please book a room?" -> "book a room"."""
    opening = r"^(hi|hey|hello|can|could|would|will|you|please|i|need|want|to|like|help|me|'d)\b[ ,]*"
    shorter = request
    while (cut := re.sub(opening, "", shorter, flags=re.IGNORECASE)) != shorter:
        shorter = cut
    return shorter.rstrip("?")
