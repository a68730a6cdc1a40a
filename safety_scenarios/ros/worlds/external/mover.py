# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an adapter asks of a simulator: bodies come, go and are put somewhere; time passes."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from safety_scenarios.ros.worlds.external.poses import PoseBook
from safety_scenarios.scenario.world.footprint import Placed


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
