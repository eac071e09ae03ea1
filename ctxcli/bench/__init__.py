"""`ctx bench`: strategies and compactors of any make, on real transcripts, at equal budgets."""
