"""How well a model finds a fact in a long context: by length, by position, and where that begins to fail."""
