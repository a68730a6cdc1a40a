# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an adapter asks of a simulator, and the poses that every model has reported."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
import math
from typing import Any, Protocol

from safety_scenarios.scenario.world_body import Placed

_KEPT = 256
"""Poses of each model: some seconds."""
NEAR_M, NEAR_RAD = 0.02, 0.02
"""A model that is this near to where it was put is there: physics settles a little."""
ALIVE_NS = 500_000_000
"""A model that says nothing for so long while others do is not there."""


class PoseBook:
    """
    Poses by model, as they come in; one thread writes, another reads.

    Stamps that go back mean that the world has begun anew: what was before is forgotten then.
    """

    def __init__(self) -> None:
        self._known: dict[str, deque[tuple[int, Placed]]] = {}
        self.last_ns = 0
        """The newest stamp of any model (ns)."""

    def put(self, name: str, stamp_ns: int, place: Placed) -> None:
        """Take what a model says; the same stamp twice is one telling."""
        if stamp_ns + ALIVE_NS < self.last_ns:
            self._known = {}
            self.last_ns = stamp_ns
        kept = self._known.setdefault(name, deque(maxlen=_KEPT))
        if not kept or stamp_ns > kept[-1][0]:
            kept.append((stamp_ns, place))
            self.last_ns = max(self.last_ns, stamp_ns)

    def clear(self) -> None:
        """Forget everything."""
        self._known, self.last_ns = {}, 0

    def names(self) -> Sequence[str]:
        """Return who is there."""
        return sorted(name for name in list(self._known) if self.is_there(name))

    def is_there(self, name: str) -> bool:
        """Return whether a model still tells where it is, while others do."""
        kept = self._known.get(name)
        return bool(kept) and self.last_ns - kept[-1][0] < ALIVE_NS  # type: ignore[index]

    def last(self, name: str) -> tuple[int, Placed] | None:
        """Return stamp and place that a model has told last."""
        kept = self._known.get(name)
        return kept[-1] if kept else None

    def before(self, name: str, stamp_ns: int) -> tuple[int, Placed] | None:
        """Return what a model told last at a time or before it; None: nothing."""
        return next((one for one in reversed(tuple(self._known.get(name, ())))
                     if one[0] <= stamp_ns), None)

    def stamps_after(self, name: str, stamp_ns: int) -> Sequence[int]:
        """Return the stamps of what a model has told since."""
        return [stamp for stamp, _ in tuple(self._known.get(name, ())) if stamp > stamp_ns]

    def at(self, name: str, stamp_ns: int) -> Placed | None:
        """Return where a model was, between two of its tellings; None: before or after all."""
        before = None
        for stamp, place in reversed(tuple(self._known.get(name, ()))):
            if stamp == stamp_ns:
                return place
            if stamp < stamp_ns:
                if before is None:
                    return None
                later_ns, later = before
                share = (stamp_ns - stamp) / (later_ns - stamp)
                turned = math.remainder(later[2] - place[2], math.tau)
                return (place[0] + share * (later[0] - place[0]),
                        place[1] + share * (later[1] - place[1]),
                        math.remainder(place[2] + share * turned, math.tau))
            before = stamp, place
        return None

    def speed(self, name: str, over_ns: int) -> float | None:
        """Return how fast a model has moved lately, turning included (m/s); None: not known."""
        kept = tuple(self._known.get(name, ()))
        if len(kept) < 2 or kept[-1][0] - kept[0][0] < over_ns:
            return None
        last_ns, (x, y, heading) = kept[-1]
        since_ns, (was_x, was_y, was) = next(
            (one for one in reversed(kept) if last_ns - one[0] >= over_ns), kept[0])
        moved = math.hypot(x - was_x, y - was_y) + abs(math.remainder(heading - was, math.tau))
        return moved / ((last_ns - since_ns) / 1e9)


def is_at(place: Placed, wanted: Placed) -> bool:
    """Return whether something is where it was put."""
    return math.hypot(place[0] - wanted[0], place[1] - wanted[1]) <= NEAR_M \
        and abs(math.remainder(place[2] - wanted[2], math.tau)) <= NEAR_RAD


class Asked:
    """
    One call of a service, on its way.

    :param what: says what was asked, for messages
    :param future: of rclpy; its answer comes in another thread
    :param wrong: what an answer says is wrong; empty: nothing
    """

    def __init__(self, what: str, future: Any, wrong: Callable[[Any], str]) -> None:
        self.what, self._future, self._wrong = what, future, wrong

    @property
    def is_answered(self) -> bool:
        """Whether the answer has come, which need not mean that anything was done."""
        return bool(self._future.done())

    def failure(self) -> str:
        """Return why it was refused; empty: it was not, or nobody has answered yet."""
        if not self._future.done():
            return ''
        error = self._future.exception()
        return repr(error) if error is not None else self._wrong(self._future.result())


class Mover(Protocol):
    """
    The services of one simulator. None of them waits, and success means no more than *queued*.

    What has become of it is in the book of poses.
    """

    name: str
    """As the record names the world."""
    book: PoseBook
    tells_links: bool
    """Whether it tells where the links of a robot are, and not the robot alone."""

    def await_services(self, deadline: float, *, steps: bool = False) -> None:
        """
        Wait until all that is needed is served (monotonic time).

        :param steps: time is to pass in steps, too
        :raises LinkTimeoutError: says what was discovered instead
        """

    def spawn(self, name: str, sdf: str, place: Placed) -> Asked:
        """Let a model come."""

    def remove(self, name: str) -> Asked:
        """Let a model go."""

    def put(self, name: str, place: Placed) -> Asked:
        """Put a model somewhere, standing as far as that can be asked for."""

    def run(self, *, is_running: bool) -> Asked:
        """Let time pass, or stand."""

    def steps(self, count: int) -> Asked:
        """Let so many steps of the physics pass, and stand."""

    def hear(self) -> None:
        """Write into the book what has been told since."""

    def felt(self) -> Iterator[str]:
        """Yield whom the robot has touched since asked before; empty: nobody tells who it was."""

    @property
    def feels(self) -> bool:
        """Whether every touch would be told."""

    def close(self) -> None:
        """Give up the endpoints."""
