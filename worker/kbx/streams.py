"""Streams of torch's pool that a candidate has taken: the clock waits for them, too."""

_PRIORITIES = (0, -1, -2, -3)
_STREAMS_OF_A_PRIORITY = 32


class Streams:
    """The streams of torch's pool that somebody else has taken since this was made.

    The pool of each priority hands out its streams in turn. So a stream taken here is the next one in order, unless the
    candidate has taken those between; a number of them that goes once around, or several times, leaves no trace. A stream is
    known once it has been used: who takes a fresh one again is thought to have taken them all.
    """

    def __init__(self, take):
        """``take(priority=p)`` returns the next stream of that priority, with its ``stream_id``."""
        self._take = take
        self.taken = []
        pools = {p: [take(priority=p) for _ in range(_STREAMS_OF_A_PRIORITY)] for p in _PRIORITIES}
        # A device with fewer priorities gives the nearest: the same pool under several numbers, each time once around.
        firsts = {pool[0].stream_id: p for p, pool in reversed(pools.items())}
        self._pools = {p: pools[p] for p in firsts.values()}
        self._next = dict.fromkeys(self._pools, 0)
        self._finds = dict.fromkeys(self._pools, 0)

    def look(self):
        """Adds to ``taken`` what was taken since the last look."""
        for priority, pool in self._pools.items():
            if found := self._taken_of(priority, pool):
                self._finds[priority] += 1
                self._add(found if self._finds[priority] == 1 else pool)

    def _taken_of(self, priority, pool):
        mine, found = self._take(priority=priority).stream_id, []
        for _ in pool:
            stream = pool[self._next[priority]]
            self._next[priority] = (self._next[priority] + 1) % len(pool)
            if stream.stream_id == mine:
                break
            found.append(stream)
        return found

    def _add(self, streams):
        known = {stream.stream_id for stream in self.taken}
        self.taken += [stream for stream in streams if stream.stream_id not in known]
