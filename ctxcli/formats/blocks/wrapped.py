"""A prompt as it was sent: the user's own words, and what the client wrote around them."""

import re


def own_words(sent: str, typed: str) -> list[tuple[bool, str]]:
    """The pieces of a prompt in order, each with whether the client wrote it.

    The user's words are looked for from the end, as lines of their own, since what is around them may quote them. Where
    they are not found, all is the user's.
    """
    words = typed.strip()
    places = list(re.finditer(rf"(?:^|[\n>])\s*({re.escape(words)})\s*(?:$|[\n<])", sent)) if words else []
    if not places or sent.strip() == words:
        return [(False, sent)]
    start, end = places[-1].span(1)
    pieces = [(True, sent[:start]), (False, sent[start:end]), (True, sent[end:])]
    return [(ours, text) for ours, text in pieces if text.strip()]
