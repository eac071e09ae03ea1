"""validity: see its docstring."""
