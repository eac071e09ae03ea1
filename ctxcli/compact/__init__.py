"""Compaction: the span that is compacted, and what stands for it afterwards."""
