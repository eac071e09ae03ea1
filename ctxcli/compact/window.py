"""How full the window is now."""

from ctxcli.compact.session import Session
from ctxcli.model import MAIN, Call


def in_use(session: Session) -> int | None:
    """Tokens in the context now: what the provider measured at the last call and what came since, else the estimate.

    The measured figure holds what the file leaves out, system prompt and tools above all. None where the context was
    rebuilt after the last call, so that nothing measures it.
    """
    transcript = session.transcript
    calls = [call for call in transcript.calls if call.lane == MAIN and call.usage and call.usage.prompt]
    last = calls[-1] if calls else None
    rebuilt = max((event.at for event in transcript.events if event.lane == MAIN and event.drops), default=-1)
    if last is None:
        return session.tokens
    if rebuilt > last.at:
        return None
    since = sum(sum(session.scale.weights[index]) for index in session.start.keep if index > last.at)
    return max(session.tokens, _measured(last) + since)


def _measured(call: Call) -> int:
    usage = call.usage
    return ((usage.prompt or 0) + (usage.output or 0)) if usage else 0
