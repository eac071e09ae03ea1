"""The only door to the clients of model providers."""
