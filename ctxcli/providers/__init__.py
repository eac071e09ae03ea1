"""The only door to the clients of model providers: a question to an answer, within limits, and never twice.

The packages `anthropic` and `openai` are extras. They take a second or more to import, so that they are imported when
a model is asked and not before; an answer from the cache on disk needs neither them nor a key.
"""

from ctxcli.providers.endpoint import Endpoint, checked_url
from ctxcli.providers.model import PROVIDERS, Limits, Model, dialect_of
from ctxcli.providers.replies import Replies

__all__ = ["PROVIDERS", "Endpoint", "Limits", "Model", "Replies", "checked_url", "dialect_of"]
