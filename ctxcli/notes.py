"""notes: see its docstring."""
