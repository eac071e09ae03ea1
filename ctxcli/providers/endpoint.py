"""Where a model is asked, and with what."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ctxcli.errors import SettingError

_SHORTEST_SECRET = 8
"""Characters: a shorter key is the filler that local servers want ("none", "local"), and no secret."""
_ECHO = 6
"""Characters of a key in a row that are taken for a piece of it: providers echo its beginning and end."""
HIDDEN = "***"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A provider's model behind an address."""

    provider: str
    model: str
    base_url: str = ""
    """Empty for the vendor's own."""
    key: str = field(default="", repr=False)
    """Empty where there is none; then the vendor is never asked, and another server with a filler."""
    key_name: str = ""
    """The variable that the key stands in, for messages."""
    timeout: float = 600.0
    """Seconds without a sign of life, after which an attempt is given up."""
    retries: int = 2

    @property
    def name(self) -> str:
        """PROVIDER:MODEL."""
        return f"{self.provider}:{self.model}"

    def masked(self, text: str) -> str:
        """A text of the provider's without the key, and without the pieces of it that providers echo."""
        if len(self.key) < _SHORTEST_SECRET:
            return text
        text = text.replace(self.key, HIDDEN)
        pieces = {self.key[at : at + _ECHO] for at in range(len(self.key) - _ECHO + 1)}
        hidden = [False] * len(text)
        for at in range(len(text) - _ECHO + 1):
            if text[at : at + _ECHO] in pieces:
                hidden[at : at + _ECHO] = [True] * _ECHO
        signs = ["*" if hide else sign for sign, hide in zip(text, hidden, strict=True)]
        return "".join(signs)

    def without_key(self, text: str) -> str:
        """An answer without the key as a whole."""
        return text.replace(self.key, HIDDEN) if len(self.key) >= _SHORTEST_SECRET else text


def checked_url(url: str, origin: str = "--base-url") -> str:
    """A base URL; raises SettingError for one that is none, or that holds a password or a question.

    `origin` is the flag or the variable that it comes from.
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        host, secret = parts.hostname, "@" in parts.netloc or ("@" in url and not parts.netloc)
        whole = url.isprintable() and " " not in url and parts.port != 0
    except ValueError:
        raise SettingError(f"{origin}: is no address") from None
    if secret or parts.query or parts.fragment:
        raise SettingError(
            f"{origin}: holds a password, a query or a fragment; a key goes into the variable that --key-env names"
        )
    if parts.scheme not in ("http", "https") or not host or not whole:
        raise SettingError(f"{origin}: {url!r} is no http or https address, such as http://127.0.0.1:8080/v1")
    return url.rstrip("/")
