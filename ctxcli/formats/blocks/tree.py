"""The context in a session that is a tree: what lies on the path to its leaf, after the last cut on it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ctxcli.formats.blocks.draft import Draft
from ctxcli.model import MAIN, EventKind, Role

ROOT = ""
"""The key of the place before the first entry."""


def settle(  # noqa: PLR0913 - the facts of an event, by name
    draft: Draft,
    want: Sequence[int],
    kind: EventKind,
    line: int,
    *,
    lane: str = MAIN,
    trigger: str = "",
    always: bool = False,
) -> tuple[int | None, dict[int, int]]:
    """Make the lane's context hold just these messages, in this order; the event, and the copies by what they copy.

    What is in the context already stays as long as it stands in order; what has to come back, or comes later in another
    order, is copied. There is an event only where something leaves, or `always`.
    """
    live = iter(draft.live[lane])
    kept = list(_leading(want, live))
    drops = set(draft.live[lane]) - set(kept)
    event = draft.event(kind, line, lane=lane, drops=drops, trigger=trigger) if drops or always else None
    return event, {index: copy_of(draft, index, lane) for index in want[len(kept) :]}


def _leading(want: Iterable[int], live: Iterator[int]) -> Iterator[int]:
    """As many of the first wanted ones as stand among the live ones in the same order."""
    for index in want:
        if index not in live:  # takes from the iterator up to the one that was found
            return
        yield index


def copy_of(draft: Draft, index: int, lane: str) -> int:
    """Add a message to its lane's context again; returns the new index."""
    said = draft.messages[index]
    return draft.add(
        said.role, said.parts, said.line, lane=lane, id=said.id, time=said.time, harness=said.harness, copied=True
    )


@dataclass(slots=True)
class _Node:
    """An entry that changes the context: a message, a cut with its summary, or an edit of an earlier message."""

    parent: str
    index: int | None
    keeps_from: str | None = None
    """Of a cut: the first entry that stays."""
    edits: str = ""
    """Of an edit: the entry whose message the one at `index` replaces; it goes where that is None."""
    context: list[int] | None = None
    """Of a replacement: the messages that the context is after it."""


@dataclass(slots=True)
class Tree:
    """Follows the entries of one session; tells its draft what leaves and comes back when the user goes elsewhere."""

    draft: Draft
    lane: str = MAIN
    at: str = ROOT
    """The entry whose context is the live one."""
    leaf: str = ROOT
    """The entry written last."""
    _nodes: dict[str, _Node] = field(default_factory=dict)
    _bases: dict[str, str] = field(default_factory=lambda: {ROOT: ROOT})
    """For each entry, itself or the entry before it on its path that changed the context last."""

    def knows(self, key: str) -> bool:
        """Whether an entry of this key was seen before."""
        return key in self._bases

    def pass_by(self, key: str, parent: str) -> None:
        """An entry that changes nothing; others may hang on it."""
        self._bases[key] = self._bases.get(parent, self.at)

    def stands(self, key: str) -> None:
        """An entry after which the context is what it is now: it told several messages."""
        self._bases[key] = self.at

    def go_to(self, key: str, line: int, trigger: str = "user") -> int | None:
        """Make the context that of an entry; the event where something had to leave for it."""
        base = self._bases.get(key, self.at)
        if base == self.at:
            return None
        self.at = base
        return self._settle(self.context_of(base), EventKind.REWIND, line, trigger, always=False)

    def say(self, key: str, index: int) -> None:
        """An entry that is the message at `index`; call `go_to` with its parent first, then add the message."""
        self._grow(key, _Node(self.at, index))

    def cut(self, key: str, keeps_from: str | None, kind: EventKind, line: int, trigger: str) -> int:
        """An entry that takes out all before `keeps_from` (all before itself where that is not on its path)."""
        self._grow(key, _Node(self.at, None, keeps_from or key))
        self._settle(self.context_of(key), kind, line, trigger, always=True)
        return len(self.draft.events) - 1

    def sums_up(self, key: str, index: int) -> None:
        """The message at `index` is the summary of the cut at `key`."""
        self._nodes[key].index = index

    def replace(self, key: str, want: list[int], kind: EventKind, line: int, trigger: str) -> int:
        """An entry after which the context is these messages, and those that `also_holds` adds; the event."""
        self._grow(key, _Node(self.at, None, context=want))
        self._settle(want, kind, line, trigger, always=True)
        return len(self.draft.events) - 1

    def also_holds(self, key: str, index: int) -> None:
        """A message that came into the context with the replacement at `key`."""
        if (context := self._nodes[key].context) is not None:
            context.append(index)

    def edit(self, key: str, target: str, index: int | None, line: int) -> int | None:
        """An entry that puts another message in the place of an earlier one, or takes it out."""
        self._grow(key, _Node(self.at, index, edits=target))
        return self._settle(self.context_of(key), EventKind.REWRITE, line, "client", always=False)

    def message_of(self, key: str) -> int | None:
        """The message that an entry is."""
        node = self._nodes.get(key)
        return node.index if node is not None and node.keeps_from is None and not node.edits else None

    def context_of(self, key: str) -> list[int]:
        """The messages in the context after an entry, system messages first, the summary after what a cut kept."""
        said: list[tuple[str, int]] = []
        places: dict[str, int] = {ROOT: 0}
        start = end = 0
        summary: list[int] = []
        for name in self._path(key):
            node = self._nodes[name]
            places[name] = len(said)
            if node.context is not None:
                said = [(f"{name}/{index}", index) for index in node.context]
                start, end, summary = 0, 0, []
            elif node.keeps_from is not None:
                start, end = self._place(node.keeps_from, places, len(said)), len(said)
                summary = [] if node.index is None else [node.index]
            elif node.edits:
                place = next((at for at, (one, _) in enumerate(said) if one == node.edits), None)
                if place is not None:
                    said[place] = (node.edits, -1 if node.index is None else node.index)
            elif node.index is not None:
                said.append((name, node.index))
        messages = self.draft.messages
        before = [index for _, index in said[:start] if index >= 0 and messages[index].role is Role.SYSTEM]
        kept, later = ([index for _, index in half if index >= 0] for half in (said[start:end], said[end:]))
        return [*before, *kept, *summary, *later]

    def _place(self, key: str, places: dict[str, int], here: int) -> int:
        """Where among what was said on the path an entry stands, be it one that says nothing."""
        if key in self._nodes:
            return places.get(key, here)
        base = self._bases.get(key)
        if base is None or base not in places:
            return here
        says = base in self._nodes and self._nodes[base].keeps_from is None and not self._nodes[base].edits
        return places[base] + says

    def _path(self, key: str) -> list[str]:
        path: list[str] = []
        while key in self._nodes:
            path.append(key)
            key = self._nodes[key].parent
        return path[::-1]

    def _grow(self, key: str, node: _Node) -> None:
        self._nodes[key] = node
        self._bases[key] = self.at = key

    def _settle(self, want: list[int], kind: EventKind, line: int, trigger: str, *, always: bool) -> int | None:
        event, copies = settle(self.draft, want, kind, line, lane=self.lane, trigger=trigger, always=always)
        for name in self._path(self.at) if copies else ():
            node = self._nodes[name]
            if node.index is not None:
                node.index = copies.get(node.index, node.index)
            if node.context is not None:
                node.context = [copies.get(index, index) for index in node.context]
        return event
