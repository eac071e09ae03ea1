"""Every rule that a finding can name: what it means and what to do about it."""

from ctxcli.shelf import Rule, shelf

LOST = Rule(
    "CTX101", "lost", "error", "A required identifier is nowhere in the compacted context.",
    "A later step has to match it character for character, and can no longer. It was stated by the user or the "
    "assistant, or touched by a tool call, and it stands neither in the summary, nor in the messages that were kept, "
    "nor in the notes file.",
    "Carry it in the summary as it stands, write it into the notes file that the summary names, or waive it with a "
    "reason: [[guard.waivers]] in ctx.toml.",
)  # fmt: skip
MUTATED = Rule(
    "CTX102", "mutated", "error", "A near neighbour stands where a required identifier stood.",
    "3.11.4 became 3.11, port 8443 became 8433, -5% became 5%. A wrong identifier is worse than a missing one: the "
    "next step acts on it. The neighbour is something that the context before the compaction never held.",
    "Put the original back, character for character.",
)  # fmt: skip
INVENTED = Rule(
    "CTX103", "invented", "error", "The compacted text names an identifier that the original never held.",
    "A path, an id or a version that nobody stated and no tool returned will be used as if it were known. Only text "
    "that the compaction wrote is looked at, and only the required kinds.",
    "Remove it, or replace it by what the original says.",
)  # fmt: skip
MOVED = Rule(
    "CTX104", "moved", "warning", "Only a part of a required identifier is left: the end or the folder of a path.",
    "src/auth/login.ts is now login.ts, or only files below the folder are named. It can be found again if nothing "
    "else is called so. Fails under --strict.",
    "Write the whole path once.",
)  # fmt: skip
AT_RISK = Rule(
    "CTX105", "at-risk", "note", "A required identifier stands only in the messages that were kept as they are.",
    "The summary does not say it. The next compaction takes those messages, and the identifier with them.",
    "Name it in the summary or in the notes.",
)  # fmt: skip
CONSTRAINT = Rule(
    "CTX106", "constraint", "error", "A boundary that the user set is gone, or reads the other way.",
    "A sentence with must, never, only, do not, at most … is nowhere in the compacted text, or it lost its "
    "negation, became weaker (must → should) or changed a number. A paraphrase that only a model could judge is "
    "reported and does not fail.",
    "Keep the user's sentence word for word.",
)  # fmt: skip
UNVERIFIABLE = Rule(
    "CTX107", "unverifiable", "error", "The summary cannot be read: it is encrypted or empty.",
    "What it holds cannot be checked, so this is never a pass: exit code 3.",
    "Check the next context that can be read, or accept it with --allow-unverifiable.",
)  # fmt: skip

RULES = shelf(LOST, MUTATED, INVENTED, MOVED, AT_RISK, CONSTRAINT, UNVERIFIABLE)
"""By id, in order."""
