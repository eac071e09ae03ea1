"""The pieces of an ATIF step: content, calls, results, metrics, and what it says about the context.

Source of the shape: the Agent Trajectory Interchange Format, ATIF-v1.0 to v1.7, RFC 0001 of Harbor,
https://github.com/laude-institute/harbor/blob/main/docs/rfcs/0001-trajectory-format.md.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ctxcli.formats.blocks.draft import Draft
from ctxcli.formats.blocks.media import media_part
from ctxcli.formats.blocks.values import address_of, blocks, count, dump, mapping, sequence, text
from ctxcli.model import Media, Part, PartKind, Usage


def content_of(content: Any, line: int, draft: Draft, kind: PartKind = PartKind.TEXT) -> Iterator[Part]:
    """The parts of a message or of a result: a text, or typed parts (from v1.6 on)."""
    for piece in blocks(content):
        if not isinstance(piece, dict):
            if piece not in ("", None):
                yield Part(kind, text(piece), line)
        elif piece.get("type") == "text":
            yield Part(kind, text(piece.get("text")), line)
        elif piece.get("type") in ("image", "audio"):
            source, type_ = mapping(piece.get("source")), text(piece.get("type"))
            type_, path = text(source.get("media_type")) or type_, text(source.get("path"))
            if path.startswith("data:"):
                yield media_part(path, type_, line)
            else:
                yield Part(PartKind.MEDIA, "", line, address=path, media=Media(type_))
        else:
            draft.unknown(f"content/{text(piece.get('type'))}", line)


def answer_parts(step: Mapping[str, Any], line: int, draft: Draft) -> Iterator[Part]:
    """What the agent thought and said, and the tools that it called."""
    if reasoning := text(step.get("reasoning_content")):
        yield Part(PartKind.THINKING, reasoning, line)
    yield from content_of(step.get("message"), line, draft)
    for call in map(mapping, sequence(step.get("tool_calls"))):
        arguments = call.get("arguments")
        said = arguments if isinstance(arguments, str) else dump({} if arguments is None else arguments)
        name, ref = text(call.get("function_name")), text(call.get("tool_call_id"))
        yield Part(PartKind.TOOL_CALL, said, line, name=name, ref=ref, address=address_of(arguments))


def result_parts_of(step: Mapping[str, Any], line: int, draft: Draft) -> list[Part]:
    """What came back: results of calls, or what the agent was shown where it called no tool by name."""
    calls = [text(mapping(call).get("tool_call_id")) for call in sequence(step.get("tool_calls"))]
    parts: list[Part] = []
    for result in results_of(step):
        ref = text(result.get("source_call_id")) or (calls[0] if len(calls) == 1 else "")
        pieces = list(content_of(result.get("content"), line, draft))
        body = "\n".join(part.text for part in pieces if part.media is None)
        if ref and result.get("content") is not None:
            parts.append(Part(PartKind.TOOL_RESULT, body, line, ref=ref))
        elif body:
            parts.append(Part(PartKind.DOCUMENT, body, line))
        parts += [
            Part(PartKind.MEDIA, "", line, ref=ref, address=part.address, media=part.media)
            for part in pieces
            if part.media is not None
        ]
    return parts


def results_of(step: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The results of a step's observation."""
    return [mapping(result) for result in sequence(mapping(step.get("observation")).get("results"))]


def usage_of(step: Mapping[str, Any]) -> Usage | None:
    """The metrics of a step: cached tokens are part of the prompt. The sum of several calls tells no context size."""
    metrics = mapping(step.get("metrics"))
    extra = mapping(metrics.get("extra"))
    prompt, output = count(metrics.get("prompt_tokens")), count(metrics.get("completion_tokens"))
    if prompt is None and output is None:
        return None
    if (count(step.get("llm_call_count")) or 1) > 1:
        return Usage(output=output)
    read = count(metrics.get("cached_tokens"))
    write = count(extra.get("cache_creation_input_tokens"))
    known = prompt is not None and read is not None
    return Usage(
        prompt=prompt,
        uncached=max(0, (prompt or 0) - (read or 0) - (write or 0)) if known else None,
        cache_read=read,
        cache_write=write if write is not None or not known else 0,
        output=output,
        reasoning=count(extra.get("reasoning_tokens")),
    )


class Boundary(NamedTuple):
    """A step that changes the context of the steps after it."""

    kind: str
    """replace, append, truncate."""
    trigger: str


def boundary_of(step: Mapping[str, Any]) -> Boundary | None:
    """How a system step changes the context (v1.7); before v1.7 only sub-agents that wrote a summary tell."""
    if step.get("source") != "system":
        return None
    said = mapping(mapping(step.get("extra")).get("context_management"))
    if said.get("boundary"):
        return Boundary(text(said["boundary"]), text(said.get("type")))
    names = [text(ref.get("session_id")) + text(ref.get("trajectory_path")) for _, ref in references(step)]
    return Boundary("replace", "compaction") if any("summar" in name for name in names) else None


def references(step: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The trajectories of sub-agents that a step names, each with the call that it answers."""
    for result in results_of(step):
        for ref in blocks(result.get("subagent_trajectory_ref")):
            if isinstance(ref, dict):
                yield text(result.get("source_call_id")), ref


def base(path: str) -> str:
    """The name of a file without its folders."""
    return PurePosixPath(path.replace("\\", "/")).name
