"""One JSON Schema for each document that ctx writes or reads."""
