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


_REQUEST = re.compile(r"<(userRequest|user_query|prompt)>\s*(.*?)\s*</\1>", re.DOTALL)


def asked_in(sent: str) -> list[tuple[bool, str]]:
    """The pieces of a prompt whose typed words stand in a tag of their own.

    Without the tag a prompt that begins with another one is all the client's.
    """
    tagged = list(_REQUEST.finditer(sent))
    if tagged:
        start, end = tagged[-1].span(2)
        pieces = [(True, sent[:start]), (False, sent[start:end]), (True, sent[end:])]
        return [(ours, text) for ours, text in pieces if text.strip()]
    return [(re.match(r"\s*<[a-zA-Z_]+>", sent) is not None, sent)]
