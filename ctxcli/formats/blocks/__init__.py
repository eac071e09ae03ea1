"""What several formats share: the draft of a transcript, and the content blocks of the vendors' APIs."""
