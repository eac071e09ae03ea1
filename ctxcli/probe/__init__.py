"""Whether answers change where a context was compacted: the same questions before it, after it, and without any."""
