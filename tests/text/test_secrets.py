"""Credentials of known issuers are found and taken out; what only looks like one is left alone.

The tokens are made up while the test runs, so that none stands in the repository.
"""

import random
import string

import pytest

from prowess.text.secrets import secrets, shapes, without_secrets

LETTERS = string.ascii_letters + string.digits
CAPITALS = string.ascii_uppercase + string.digits
SMALL = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
KINDS = {"A": LETTERS, "C": CAPITALS, "s": SMALL, "h": HEX, "d": string.digits}

ISSUERS = {
    "AWS": "AKIA{C16}", "GitHub": "ghp_{A36}", "GitHub fine-grained": "github_pat_{A22}_{A59}",
    "GitLab": "glpat-{A20}", "Slack bot": "xoxb-{d12}-{d12}-{A24}", "Slack app": "xapp-1-{C11}-{d13}-{h64}",
    "OpenAI": "sk-proj-{A48}", "Anthropic": "sk-ant-api03-{A93}AA", "OpenRouter": "sk-or-v1-{h64}",
    "Groq": "gsk_{A52}", "xAI": "xai-{A80}", "Perplexity": "pplx-{A48}", "Replicate": "r8_{A37}",
    "Hugging Face": "hf_{A34}", "Google": "AIza{A35}", "Google sign-in": "GOCSPX-{A28}",
    "Google access": "ya29.a0{A80}", "Stripe": "sk_live_{A24}", "Twilio": "SK{h32}",
    "SendGrid": "SG.{A22}.{A43}", "Mailgun": "key-{h32}", "Mailchimp": "{h32}-us14", "Notion": "ntn_{A46}",
    "Linear": "lin_api_{A40}", "Atlassian": "ATATT3xFfGF0{A150}={C8}", "Vault": "hvs.{A90}",
    "Terraform": "{A14}.atlasv1.{A67}", "Databricks": "dapi{h32}", "Docker": "dckr_pat_{A27}",
    "npm": "npm_{A36}", "PyPI": "pypi-AgEIcHlwaS5vcmc{A80}", "RubyGems": "rubygems_{h48}",
    "DigitalOcean": "dop_v1_{h64}", "Netlify": "nfp_{A40}", "Supabase": "sbp_{h40}", "Fly.io": "fo1_{A43}",
    "PlanetScale": "pscale_tkn_{A43}", "Grafana": "glsa_{A32}_{h8}", "New Relic": "NRAK-{C27}",
    "Sentry": "sntryu_{h64}", "Postman": "PMAK-{h24}-{h34}", "Airtable": "pat{A14}.{h64}",
    "Figma": "figd_{A40}", "Shopify": "shpat_{h32}", "Telegram": "{d10}:AA{A33}",
    "Discord": "M{A23}.{A6}.{A38}", "HubSpot": "pat-na1-{h8}-{h4}-{h4}-{h4}-{h12}", "Doppler": "dp.pt.{A43}",
    "Heroku": "HRKU-{A60}", "Cloudflare": "cfut_{A40}",
}  # fmt: skip

HONEST = (
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "sk-learn-contrib-hierarchical-clustering-of-documents",
    "pat-a-cake, pat-na1 is a region",
    "api-version-2024-02-15-preview",
    "Set gsk_API_KEY_OF_YOUR_ACCOUNT_IN_THE_ENVIRONMENT before you start",
    "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    "key-value-store-with-transactions-and-snapshots",
    "npm_config_registry and npm_lifecycle_event are set",
    "The class re_MatchObjectFactory_of_the_standard_library",
    "https://docs.google.com/document/d/1mSzNKvXXKsbQFtBZ0uyzYCUHMLuBEhFsRCdgYrjyvvA/edit",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk",
    "0x742d35Cc6634C0532925a3b844Bc454e4438f44e",
)


def made_up(shape: str, seed: int) -> str:
    chance = random.Random(seed)
    found = ""
    while shape:
        if shape[0] == "{":
            inside, shape = shape[1:].split("}", 1)
            found += "".join(chance.choices(KINDS[inside[0]], k=int(inside[1:])))
        else:
            found, shape = found + shape[0], shape[1:]
    return found


@pytest.mark.parametrize("issuer", ISSUERS)
def test_a_made_up_token_of_a_known_issuer_is_found_and_taken_out(issuer: str) -> None:
    for seed in range(5):
        token = made_up(ISSUERS[issuer], seed)
        text = f"Use {token} for the call."
        assert secrets(text), token
        assert token[-12:] not in without_secrets(text)


@pytest.mark.parametrize("text", HONEST)
def test_hashes_ids_and_names_are_left_alone(text: str) -> None:
    assert without_secrets(text) == text


def test_the_table_of_shapes_can_be_read_and_every_shape_is_bounded() -> None:
    assert len(shapes()) > 80
    assert not [one.what for one in shapes() if "*" in one.written.pattern.replace(r"\*", "")]
