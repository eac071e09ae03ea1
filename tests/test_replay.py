"""Replay: for any history, the layers add up, lanes stay apart, and nothing is counted twice or lost."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxcli.audit.walk import Scales, walk
from ctxcli.model import Call, Event, EventKind, Lane, Layer, Message, Part, PartKind, Role, Transcript, layer_of
from ctxcli.replay import replay
from ctxcli.tokens import PLACEHOLDER, Fit

LANES = ("main", "agent")
PARTS = st.builds(
    Part,
    st.sampled_from([PartKind.TEXT, PartKind.THINKING, PartKind.TOOL_CALL, PartKind.TOOL_RESULT, PartKind.SUMMARY]),
    st.text("ab ", max_size=5),
)
MESSAGES = st.builds(
    Message, st.sampled_from(list(Role)), st.lists(PARTS, max_size=3).map(tuple), st.sampled_from(LANES)
)


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    messages = draw(st.lists(MESSAGES, min_size=1, max_size=14))
    calls = [
        Call(at, message.lane, model=draw(st.sampled_from("mn")))
        for at, message in enumerate(messages)
        if message.role is Role.ASSISTANT
    ]
    events = []
    for _ in range(draw(st.integers(0, 4))):
        lane, at = draw(st.sampled_from(LANES)), draw(st.integers(0, len(messages)))
        before = [index for index in range(at) if messages[index].lane == lane]
        drops = draw(st.sets(st.sampled_from(before))) if before else set()
        places = [(index, part) for index in before for part in range(len(messages[index].parts))]
        clears = draw(st.sets(st.sampled_from(places))) if places else set()
        kind = draw(st.sampled_from([EventKind.SUMMARY, EventKind.CLEAR, EventKind.STRIP, EventKind.REWIND]))
        events.append(Event(kind, at, lane, drops=tuple(sorted(drops)), clears=tuple(sorted(clears))))
    events.sort(key=lambda event: event.at)
    return Transcript(
        "x", messages=tuple(messages), calls=tuple(calls), events=tuple(events), lanes=tuple(map(Lane, LANES))
    )


def context_by_hand(transcript: Transcript, call: Call, weights: list[tuple[int, ...]]) -> dict[Layer, int]:
    """The context of one call, worked out from scratch."""
    past = [event for event in transcript.events if event.lane == call.lane and event.at <= call.at]
    gone = {index for event in past for index in event.drops}
    sums = dict.fromkeys(Layer, 0)
    for index, message in enumerate(transcript.messages[: call.at]):
        if message.lane != call.lane or index in gone:
            continue
        for number, part in enumerate(message.parts):
            weight = weights[index][number]
            for event in past:
                if (index, number) in event.clears:
                    weight = min(weights[index][number], 0 if event.kind is EventKind.STRIP else PLACEHOLDER)
            sums[layer_of(message, part)] += weight
    return sums


@given(transcripts(), st.randoms(use_true_random=False))
@settings(max_examples=300)
def test_the_running_context_is_the_context_from_scratch(transcript: Transcript, chance: object) -> None:
    weights = [
        tuple(7 * (index + 2 * number) % 50 for number in range(len(message.parts)))
        for index, message in enumerate(transcript.messages)
    ]
    fits = {name: Fit(1.0, (), 0, "exact") for name in ("m", "n", "")}
    for step in walk(replay(transcript), Scales(transcript, weights, fits)):
        assert step.layers == context_by_hand(transcript, step.call, weights)
        assert step.estimated == sum(step.layers.values())
        assert all(weight >= 0 for weight in step.layers.values())


@given(transcripts())
def test_each_call_has_one_frame_and_lanes_stay_apart(transcript: Transcript) -> None:
    frames = list(replay(transcript))
    assert [frame.call for frame in frames] == list(transcript.calls)
    for frame in frames:
        for index in (*frame.entered, *frame.left):
            assert transcript.messages[index].lane == frame.call.lane
        assert all(event.lane == frame.call.lane for event in frame.events)


@given(transcripts())
def test_a_message_enters_once(transcript: Transcript) -> None:
    entered = [index for frame in replay(transcript) for index in frame.entered]
    assert len(entered) == len(set(entered))
