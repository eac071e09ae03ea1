"""Strings that look like credentials: never required, never shown whole.

Published shapes of tokens (their prefixes and lengths as their makers document them), and values that
stand behind a word such as password. Own patterns, since the scanners that exist bring an HTTP client
or judge by entropy, which takes commit hashes for keys.
"""

import hashlib
import re
from collections.abc import Iterable

_SHAPES = re.compile(
    r"""(?x)(?<![A-Za-z0-9])(?:
      (?:AKIA|ASIA)[0-9A-Z]{16}
    | gh[oprsu]_[A-Za-z0-9]{20,255} | github_pat_[A-Za-z0-9_]{20,255} | glpat-[\w-]{20,100}
    | sk-(?=[\w-]{0,200}\d)[A-Za-z0-9][\w-]{15,200} | [prs]k_(?:live|test)_[A-Za-z0-9]{10,200}
    | xox[abeoprs]-[\w-]{10,250} | AIza[\w-]{35} | ya29\.[\w-]{20,500} | SG\.[\w-]{16,64}\.[\w-]{16,64}
    | npm_[A-Za-z0-9]{36} | pypi-[\w-]{50,500} | hf_[A-Za-z0-9]{30,64} | dop_v1_[a-f0-9]{64}
    | shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32} | eyJ[\w-]{8,2000}\.eyJ[\w-]{8,4000}(?:\.[\w-]{0,1000})?
    )(?![A-Za-z0-9])"""
)
_KEY_BLOCK = re.compile(r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,8000}")
_BEHIND_A_WORD = re.compile(
    r"""(?xi)(?<![A-Za-z0-9])(?:password|passwd|passphrase|pwd|secret|api[_-]?key|access[_-]?key|auth[_-]?token
      |access[_-]?token|refresh[_-]?token|token|client[_-]?secret|secret[_-]?key|private[_-]?key|credentials?)
      ["']?\s{0,3}(?:[:=]|=>)\s{0,3}["']?([^\s"'`,;<>(){}\[\]$]{8,200})"""
)
_SAID_TO_BEAR = re.compile(r"(?i)\b(?:bearer|basic|token)\s+([A-Za-z0-9+/_.=-]{12,2000})")
_IN_A_URL = re.compile(r"[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,64}:([^\s/@$<>*{]{3,200})@")
_IN_A_QUERY = re.compile(
    r"(?i)[?&](?:sig|signature|x-amz-signature|key|code|token|access_token|auth|api_?key|secret|password|pwd)=([^&\s#]{8,500})"
)
_HOOKS = re.compile(r"hooks\.slack\.com/services/([\w/]{16,100})|api\.telegram\.org/bot(\d+:[\w-]{16,100})")
_SAID = re.compile(
    r"(?i)\b(?:password|passphrase|passcode|pin)\s+(?:(?:is|was)\s+)?[`'\"]?([^\s`'\",;]{4,100})"
    r"|--?(?:password|passwd|token|secret|api-?key)[ =]+['\"]?([^\s'\"]{4,200})"
    r"|\s-u\s+['\"]?[\w.-]{1,60}:([^\s'\"@]{4,100})|\b(?:mysql\w*|mariadb)\b[^\n|;]{0,200}?\s-p([^\s'\"]{4,100})"
    r"|\blogin\b[^\n|;]{0,200}?\s-p\s+['\"]?([^\s'\"]{4,100})"
)
_WORDS = ("KIA", "SIA", "gh", "glpat", "sk-", "k_live", "k_test", "xox", "AIza", "ya29", "SG.", "npm_", "pypi-", "hf_",
          "dop_v1", "shp", "eyJ")  # fmt: skip
_CUES = re.compile(
    r"(?i)passw|passphrase|passcode|pwd|secret|api[_-]?key|access[_-]?key|token|private[_-]?key|credential|bearer"
    r"|basic |pin | -u | -p"
)
_SHOWN = 4


def secrets_in(text: str) -> frozenset[str]:
    """The credentials that a text holds, as they stand in it."""
    found: set[str] = set()
    if any(word in text for word in _WORDS):
        found.update(match.group() for match in _SHAPES.finditer(text))
    if "PRIVATE KEY" in text:
        found.update(match.group().strip() for match in _KEY_BLOCK.finditer(text))
    if "://" in text and "@" in text:
        found.update(match[1] for match in _IN_A_URL.finditer(text))
    if "=" in text and ("?" in text or "&" in text):
        found.update(match[1] for match in _IN_A_QUERY.finditer(text) if _is_random(match[1]))
    if "hooks.slack" in text or "api.telegram" in text:
        found.update(match[1] or match[2] for match in _HOOKS.finditer(text))
    if _CUES.search(text):
        groups = (match[match.lastindex or 0].rstrip(".,:;!?") for match in _SAID.finditer(text))
        found.update(group for group in groups if _is_mixed(group))
        for pattern in (_BEHIND_A_WORD, _SAID_TO_BEAR):
            found.update(match[1] for match in pattern.finditer(text) if _is_random(match[1]))
    return frozenset(found)


def _is_mixed(value: str) -> bool:
    """Letters and digits, and no variable: what a person or a command calls a password may be short."""
    return (
        any(map(str.isdigit, value)) and (any(map(str.isalpha, value)) or len(value) < 9) and value[0] not in "$<{/.-"
    )


def _is_random(value: str) -> bool:
    """Letters and digits mixed, as no word, path, version or variable is."""
    letters, digits = sum(sign.isalpha() for sign in value), sum(sign.isdigit() for sign in value)
    if letters < 3 or digits < 2 or "/" in value[:2] or "." in value.rstrip("."):
        return False
    return not value.startswith(("http", "process", "os.", "env."))


def mask(text: str, secrets: Iterable[str]) -> str:
    """The text with each of these secrets as its first characters and a digest by which it can be told apart."""
    for secret in sorted(secrets, key=len, reverse=True):
        if secret in text:
            text = text.replace(secret, f"{secret[:_SHOWN]}…[masked {_digest(secret)}]")
    return text


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def is_digest(value: str, secrets: Iterable[str]) -> bool:
    """Whether a value is what stands in the mask of one of these secrets."""
    return any(value == _digest(secret) for secret in secrets)


def shown(value: str, secrets: Iterable[str]) -> str:
    """A value as a report may show it: secrets in it masked, and masked as a whole where it is a piece of one."""
    secrets = list(secrets)
    if not is_secret(value, secrets):
        return value
    masked = mask(value, secrets)
    return masked if masked != value else mask(value, [value])


def is_secret(value: str, secrets: Iterable[str]) -> bool:
    """Whether a value holds one of these secrets, or is a piece of one."""
    return any(secret in value or (len(value) >= 6 and value in secret) for secret in secrets)
