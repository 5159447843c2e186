"""A quick look at the result of a call: does something in it speak to the model rather than to its user?

Above stands the gateway, which looks at every result of a server that is not fully trusted. Nearly all hold
nothing that points at an order, and are passed over by a search for single words; only what stands around
such words is judged, and of a long result only the first few places.
"""

from prowess.guard.classifier import Classifier
from prowess.guard.sanitise import judge

ENOUGH = 3
STRONG = (
    "ignore all", "ignore any", "ignore prev", "ignore the above", "ignore everything", "disregard",
    "forget everything", "forget all", "forget your", "system prompt", "previous instruction",
    "prior instruction", "new instruction", "your instruction", "your rules", "<important", "<system",
    "[system", "[inst", "<|", "system:", "assistant:", "do not tell", "don't tell", "do not mention",
    "without telling", "without informing", "you are now", "you must", "from now on", "jailbreak",
    "developer mode", "ai assistant", "as an ai", "ai agent", "ai model", "language model", "to the user",
    "the assistant", "the agent", "exfiltrat", "rm -rf", "override", "bypass", "decode this", "<!--",
    "ignoriere", "vergiss", "ignora ", "olvida", "ignorez", "oublie", "esqueça", "negeer", "zignoruj",
    "игнорируй", "забудь", "ігноруй", "yok say", "abaikan", "bỏ qua", "تجاهل", "نادیده", "התעלם", "अनदेखा",
    "ignore karo", "忽略", "无视", "無視", "무시", "ละเว้น", "উপেক্ষা",
)  # fmt: skip
"""One of these is worth a closer look."""
WEAK = (
    "instruction", "password", "credential", "api key", "api_key", "secret", "private key", "wallet", ".env",
    ".ssh", "id_rsa", "curl ", "wget ", "base64", "admin", "urgent", "immediately", "send ", "forward ",
    "transfer", "upload", "delete ", "execute", "run ", "pretend", "act as", "confirm",
    "confidential", "prompt", "instead", "important", "attention", "secretly", "hidden", "unrestricted",
    "restriction",
)  # fmt: skip
"""Three of these within one stretch are."""
STRETCH, STEP = 900, 600
MOST_STRETCHES = 4
"""How many stretches of one result are judged; the time is bounded, the promise is not complete."""
MOST_CHARACTERS = 200_000


def speaks_to_the_model(text: str, classifier: Classifier | None) -> bool:
    """Whether a result holds text that looks like instructions."""
    return any(
        judge(stretch, "result", classifier=classifier).verdict == "reject" for stretch in pointed_at(text)
    )


def pointed_at(text: str) -> list[str]:
    """The stretches in which words point at an order, the first of them; none in nearly every result."""
    small = text[:MOST_CHARACTERS].lower()
    words = [(word, ENOUGH) for word in STRONG if word in small]
    words += [(word, 1) for word in WEAK if word in small]
    if sum(weight for _, weight in words) < ENOUGH:
        return []
    found: list[str] = []
    for start in range(0, max(1, len(small) - (STRETCH - STEP)), STEP):
        stretch = small[start : start + STRETCH]
        if sum(weight for word, weight in words if word in stretch) >= ENOUGH:
            found.append(text[start : start + STRETCH])
            if len(found) == MOST_STRETCHES:
                break
    return found
