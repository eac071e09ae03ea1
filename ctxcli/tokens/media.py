"""Tokens of images and files by the providers' published rules, never by their bytes."""

from ctxcli.model import Media

UNKNOWN_IMAGE = 1_500
"""Tokens taken for an image whose size is not known: about 1,050 × 1,050 pixels under Anthropic's rule."""

UNKNOWN_FILE = 3_000
"""Tokens taken for a PDF, sound or other file whose extent is not known."""

_ANTHROPIC_EDGE, _ANTHROPIC_MOST = 1_568, 1_600


def media_tokens(media: Media, provider: str) -> int:
    """Tokens of one medium under a provider's rule: anthropic, openai, google; others as anthropic."""
    if not media.type.startswith("image"):
        return UNKNOWN_FILE
    if media.width is None or media.height is None:
        return UNKNOWN_IMAGE
    rule = {"openai": _openai, "google": _google}.get(provider, _anthropic)
    return rule(media.width, media.height)


def _anthropic(width: int, height: int) -> int:
    """Width × height / 750 once the longer edge fits 1,568 pixels, about 1,600 at the most.

    https://platform.claude.com/docs/en/build-with-claude/vision
    """
    scale = min(1.0, _ANTHROPIC_EDGE / max(width, height))
    return max(1, min(_ANTHROPIC_MOST, round(width * scale * height * scale / 750)))


def _openai(width: int, height: int) -> int:
    """85 and 170 for each 512-pixel tile, once it fits 2,048 square and its shorter edge is 768.

    https://platform.openai.com/docs/guides/images-vision (the tile rule of GPT-4o and GPT-4.1)
    """
    scale = min(1.0, 2048 / max(width, height))
    scale = min(scale, 768 / min(width, height))
    tiles = _ceil(width * scale / 512) * _ceil(height * scale / 512)
    return 85 + 170 * tiles


def _google(width: int, height: int) -> int:
    """258 up to 384 pixels square, else 258 for each 768-pixel tile.

    https://ai.google.dev/gemini-api/docs/tokens
    """
    if max(width, height) <= 384:
        return 258
    return 258 * _ceil(width / 768) * _ceil(height / 768)


def _ceil(value: float) -> int:
    return int(-(-value // 1))
