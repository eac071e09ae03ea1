"""What is largest: single parts, and what each tool returned in all."""

import heapq
from collections import defaultdict
from collections.abc import Sequence

from ctxcli.audit.rows import what
from ctxcli.audit.walk import Scales
from ctxcli.model import PartKind, Transcript
from ctxcli.reports.audit import Hot, HotTool

_MOST_PARTS = 20


Weight = tuple[int, int, int]
"""(message, part, tokens)."""


def weights_of(transcript: Transcript, scales: Scales) -> list[Weight]:
    """The weight of everything that entered a context for the first time."""
    model_of: dict[str, str] = {}
    for call in transcript.calls:
        model_of.setdefault(call.lane, call.model)
    return [
        (index, number, tokens)
        for index, message in enumerate(transcript.messages)
        if not message.copied
        for number, tokens in enumerate(scales.of(model_of.get(message.lane, ""), index).parts)
    ]


def hot_parts(transcript: Transcript, weights: Sequence[Weight]) -> tuple[Hot, ...]:
    """The largest single parts, each with its share of all that entered its lane."""
    lanes: defaultdict[str, int] = defaultdict(int)
    for index, _, tokens in weights:
        lanes[transcript.messages[index].lane] += tokens
    largest = heapq.nsmallest(_MOST_PARTS, weights, key=lambda one: (-one[2], one[0], one[1]))
    found = []
    for index, number, tokens in largest:
        message = transcript.messages[index]
        part = message.parts[number]
        if tokens:
            share = round(tokens / lanes[message.lane], 4)
            found.append(Hot(part.line, message.lane, what(message, part), part.name, part.address, tokens, share))
    return tuple(found)


def hot_tools(transcript: Transcript, weights: Sequence[Weight]) -> tuple[HotTool, ...]:
    """What each tool returned in all lanes, the largest first."""
    results: defaultdict[str, list[int]] = defaultdict(list)
    for index, number, tokens in weights:
        part = transcript.messages[index].parts[number]
        if part.kind is PartKind.TOOL_RESULT:
            results[part.name or "?"].append(tokens)
    whole = sum(map(sum, results.values()))
    rows = [
        HotTool(tool, len(sizes), sum(sizes), round(sum(sizes) / whole, 4) if whole else 0.0)
        for tool, sizes in results.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.tokens, row.tool)))
