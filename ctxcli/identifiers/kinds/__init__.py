"""The kinds of identifiers, a few to a file; each is a card with its own hits and misses."""
