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
    "CTX107", "unverifiable", "error", "The summary cannot be read, or the source holds no more what it stands for.",
    "What it holds cannot be checked, so this is never a pass: exit code 3.",
    "Check the next context that can be read, or accept it with --allow-unverifiable.",
)  # fmt: skip

# -- validity: each `why` ends with the profiles that apply the rule

ORPHAN_RESULT = Rule(
    "CTX201", "orphan-result", "error", "A tool result has no call before it.",
    "A cut took the call and left the result; every provider answers 400. Applies to: anthropic, openai-chat, "
    "openai-responses, gemini, lenient.",
    "Take a call and its results out together, or keep both.",
)  # fmt: skip
UNANSWERED_CALL = Rule(
    "CTX202", "unanswered", "error", "A tool call has no result, and it is not the last answer's.",
    "A call that was interrupted, or whose result a cut took. Only calls of the last answer can still wait for "
    "theirs. Applies to: anthropic, openai-chat, openai-responses, gemini, lenient.",
    "Give it a result that says that it was interrupted, or take the call out.",
)  # fmt: skip
TWO_RESULTS = Rule(
    "CTX203", "two-results", "error", "A tool call has more than one result.",
    "A client wrote a result for an interrupted call, and then the real one arrived. Applies to: anthropic, "
    "openai-chat, openai-responses, gemini, lenient.",
    "Keep one.",
)  # fmt: skip
CALL_ID_TWICE = Rule(
    "CTX204", "call-id-twice", "error", "Two tool calls have one id.",
    "A counter that began anew (call_0 in each turn), or a message that stands there twice. Chat Completions wants "
    "ids unique within a message, the others within the request. Applies to: anthropic, openai-chat, "
    "openai-responses.",
    "Give each call an id of its own.",
)  # fmt: skip
DISPLACED_RESULT = Rule(
    "CTX205", "displaced", "error", "A tool result stands in the wrong place.",
    "Results belong into the turn right after their call, before any text of it (Chat Completions: right behind the "
    "call's message). Applies to: anthropic, openai-chat, gemini.",
    "Move it there; what stands between goes behind it.",
)  # fmt: skip
SPLIT_PAIR = Rule(
    "CTX206", "split-pair", "error", "A summary stands between a tool call and its result.",
    "A compaction ran while a tool did. Applies to: anthropic, openai-chat, openai-responses, gemini.",
    "Put the summary before the call, or behind the result.",
)  # fmt: skip
FIRST_NOT_USER = Rule(
    "CTX207", "no-first-user", "error", "The first message of the conversation is the assistant's.",
    "A cut fell inside a turn. A summary counts as the user's. Applies to: anthropic, gemini.",
    "Begin with a message of the user, or a summary.",
)  # fmt: skip
NO_MESSAGES = Rule(
    "CTX208", "no-messages", "error", "There is no message, or nothing but the system prompt.",
    "A cap on the number of messages that left none. OpenAI accepts a system message alone. Applies to: anthropic, "
    "openai-chat, openai-responses, gemini, lenient.",
    "Keep at least the newest message of the user.",
)  # fmt: skip
ENDS_ON_ASSISTANT = Rule(
    "CTX209", "ends-on-model", "warning", "The list ends on an answer that the provider does not go on from.",
    "Newer Gemini models refuse a request that ends with the model; Anthropic refuses a last answer that ends with "
    "whitespace or thinking, and from Claude 4.6 on any. A conversation that waits for its user is fine, which is why "
    "this fails only under --strict. Applies to: anthropic, gemini.",
    "Send the next message of the user with it.",
)  # fmt: skip
EMPTY_TEXT = Rule(
    "CTX210", "empty-text", "error", "A text part is empty, or a message holds nothing but whitespace.",
    "An answer of tool calls alone that was written with an empty text, or text that was cut to nothing. Applies to: "
    "anthropic, gemini.",
    "Leave the part out.",
)  # fmt: skip
EMPTY_MESSAGE = Rule(
    "CTX211", "empty-message", "error", "A message has no content.",
    "Everything in it was taken out and the message stayed. Anthropic refuses it of the user, Gemini of both. Applies "
    "to: anthropic, gemini.",
    "Take the message out too.",
)  # fmt: skip
BROKEN_THINKING = Rule(
    "CTX212", "thinking", "error", "Thinking was changed, has no signature, or is gone from the last answer.",
    "The signature beside a thinking block covers its text: kept whole or dropped whole. The last answer, while its "
    "results go back, keeps its thinking. Applies to: anthropic.",
    "Keep the block byte for byte, or leave it out of older answers.",
)  # fmt: skip
LONE_SURROGATE = Rule(
    "CTX213", "surrogate", "error", "A text, name or id holds half a character.",
    "A text was cut at a number of UTF-16 units, inside an emoji. No UTF-8 can hold the half, so every later request "
    "fails. Applies to: anthropic, openai-chat, openai-responses, gemini, lenient.",
    "Cut between characters; put U+FFFD where the half stands.",
)  # fmt: skip
BAD_ARGUMENTS = Rule(
    "CTX214", "bad-arguments", "error", "The arguments of a tool call are no JSON object.",
    "An answer was cut off inside them, or they were written as text. OpenAI takes any text. Applies to: anthropic, "
    "gemini.",
    "Put the object that was meant there, or take call and result out.",
)  # fmt: skip
ALTERNATION = Rule(
    "CTX215", "alternation", "warning", "Two messages of one speaker follow each other.",
    "Gemini 1.x refuses it, later models take most of it; an answer that was lost is the usual cause. Applies to: "
    "gemini.",
    "Join the two.",
)  # fmt: skip
LATE_SYSTEM = Rule(
    "CTX216", "late-system", "error", "A system message stands where the provider takes none.",
    "Anthropic takes one inside the conversation (Claude Opus 4.8 and later) behind a turn of the user and before an "
    "answer, or last; Gemini takes none there. Applies to: anthropic, gemini.",
    "Put it into the system prompt, or under the user's name.",
)  # fmt: skip
EMPTY_SUMMARY = Rule(
    "CTX217", "empty-summary", "error", "A summary is empty.",
    "A compaction failed and its result was stored as if it had not. Applies to: anthropic, openai-chat, "
    "openai-responses, gemini.",
    "Go back to the messages that it stands for.",
)  # fmt: skip
SUMMARY_AS_USER = Rule(
    "CTX218", "posed-as-user", "error", "A summary stands there as the user's own words.",
    "It says that it was written by ctx, yet nothing marks its message. Whoever compacts next takes its sentences for "
    "instructions of the user. Applies to: anthropic, openai-chat, openai-responses, gemini.",
    "Write it with `ctx compact`, which keeps it apart.",
)  # fmt: skip
BAD_NAME = Rule(
    "CTX219", "bad-name", "error", "The name of a tool, or the id of a call, is not one that the provider takes.",
    "Letters, digits, _ and - (Gemini: . and : as well), of a limited length. Applies to: anthropic, openai-chat, "
    "openai-responses, gemini.",
    "Rename it in the call and in its results.",
)  # fmt: skip
SYSTEM_CHANGED = Rule(
    "CTX220", "system-prompt", "error", "A compaction changed the system prompt.",
    "Rules of the project that are gone, and a prompt cache that is lost. Checked where the context before is known. "
    "Applies to: anthropic, openai-chat, openai-responses, gemini.",
    "Keep the system prompt as it is.",
)  # fmt: skip
RESULT_COUNT = Rule(
    "CTX221", "result-count", "error", "A turn of tool calls is followed by another number of results.",
    "Calls without ids are told apart by their number alone. Applies to: gemini.",
    "Give each call of the turn one result, in the next turn.",
)  # fmt: skip

# -- compaction: what a pass came to

OVER_BUDGET = Rule(
    "CTX301", "over-budget", "error", "The compacted context does not fit into the budget that was set.",
    "The next call would be refused, or would compact again at once.",
    "See what takes the room: fewer pins, a smaller tail (--keep-last), a smaller summary, or a larger --budget.",
)  # fmt: skip
NOT_SMALLER = Rule(
    "CTX302", "not-smaller", "error", "The compacted context would be larger than the one before.",
    "A summary of little costs more than the little.",
    "Leave the context as it is.",
)  # fmt: skip
GUARD_FAILS = Rule(
    "CTX303", "guard", "error", "The compacted context lost something that is required.",
    "The strategies that were chosen do not carry it, or it does not fit into --summary-tokens.",
    "Choose a strategy that writes a summary, give it room, or give it --notes FILE.",
)  # fmt: skip
TARGET_MISSED = Rule(
    "CTX304", "target-missed", "warning", "The compacted context is larger than was aimed at.",
    "What is pinned, the newest messages and what is required take more than the target.",
    "A larger --target, fewer pins, or a smaller tail.",
)  # fmt: skip
INVALID_RESULT = Rule(
    "CTX305", "invalid", "error", "The compacted context breaks a rule of its provider.",
    "The request would be refused, now and at every later try.",
    "This is a fault of ctx, or the input broke the rule already and cannot be repaired by leaving parts out.",
)  # fmt: skip

# -- habits: what keeps a compaction from doing harm

TASK_KEPT = Rule(
    "CTX401", "task-evicted", "warning", "After the compactions, the context no longer holds the task.",
    "The first message of the user is neither in the context nor quoted by its summary: what follows works on "
    "what the summary makes of the task.",
    "Pin the first message; `ctx compact` does.",
)  # fmt: skip
OUTPUT_RESERVED = Rule(
    "CTX402", "no-reserve", "warning", "The largest context leaves less than the reserve for the answer.",
    "A prompt that fills the window leaves the answer cut off.",
    "Compact earlier: at 70 to 80 % of what the reserve leaves.",
)  # fmt: skip
RECORDED = Rule(
    "CTX403", "unrecorded", "warning", "The context shrank, and nothing in the transcript says why.",
    "A fall of 64,000 tokens or of a half between two calls that no recorded compaction, clear or rewind explains.",
    "Write an event for every compaction: what went, what stands for it, and why.",
)  # fmt: skip
TESTED = Rule(
    "CTX404", "untested", "warning", "No test would fail if compaction broke.",
    "Neither the CI files nor the task files of the working folder run `ctx guard`, `ctx check` or `ctx compact`.",
    "Add `ctx guard --recorded` over a recorded session to CI.",
)  # fmt: skip
OVERSIZED = Rule(
    "CTX405", "oversized", "warning", "One tool result takes more than a quarter of the usable window.",
    "Few of its lines are ever used, and all of them are sent again with every call.",
    "Bound the tool's output: a page, a range, the first lines and where the rest is.",
)  # fmt: skip
READ_AGAIN = Rule(
    "CTX406", "read-again", "warning", "The same thing was read again while it was still in the context.",
    "The text is there twice, and sent twice with every call.",
    "Have the tool answer that it is unchanged.",
)  # fmt: skip
PROSE_RETURNED = Rule(
    "CTX407", "prose-only", "warning", "A sub-agent returned prose only.",
    "It names no line of a file, no list of things that can be found again, and is no JSON: the agent that called it "
    "has to believe it, or to look everything up anew, and what was ruled out or failed is lost with the sub-agent's "
    "context.",
    "Ask the sub-agent for a finding (`ctx schema finding`), and check it with `ctx check --finding`.",
)  # fmt: skip

GUARD = shelf(LOST, MUTATED, INVENTED, MOVED, AT_RISK, CONSTRAINT, UNVERIFIABLE)
"""What a comparison can find."""

VALIDITY = shelf(
    ORPHAN_RESULT, UNANSWERED_CALL, TWO_RESULTS, CALL_ID_TWICE, DISPLACED_RESULT, SPLIT_PAIR, FIRST_NOT_USER,
    NO_MESSAGES, ENDS_ON_ASSISTANT, EMPTY_TEXT, EMPTY_MESSAGE, BROKEN_THINKING, LONE_SURROGATE, BAD_ARGUMENTS,
    ALTERNATION, LATE_SYSTEM, EMPTY_SUMMARY, SUMMARY_AS_USER, BAD_NAME, SYSTEM_CHANGED, RESULT_COUNT,
)  # fmt: skip
"""What a provider refuses."""

COMPACTION = shelf(OVER_BUDGET, NOT_SMALLER, GUARD_FAILS, TARGET_MISSED, INVALID_RESULT)
"""What a pass can come to."""

HABITS = shelf(TASK_KEPT, OUTPUT_RESERVED, RECORDED, TESTED, OVERSIZED, READ_AGAIN, PROSE_RETURNED)
"""What an agent should make a habit of."""

RULES = shelf(*GUARD.values(), *VALIDITY.values(), *COMPACTION.values(), *HABITS.values())
"""By id, in order."""
