"""The shelf of strategies: ways to make a context shorter."""
