# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Live sensor data on its way through the harness, with what a stimulus shows drawn into it.

Each live message leaves as soon as it has come, from the thread that receives: unchanged, to the
last byte, or with the drawing in it. Nothing is sent of which there is no new live message.
"""

from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
import math
from statistics import median
import time
from typing import Any

import numpy
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from safety_scenarios.errors import described, LinkTimeoutError, LiveDataError, MeasurementError
from safety_scenarios.ros.link import qos
from safety_scenarios.ros.link.convert import (
    from_ros,
    header_stamp_ns,
    interface_class,
    to_ros,
    warm_up,
)
from safety_scenarios.ros.link.endpoints import Endpoints
from safety_scenarios.ros.link.frames import static_frames, unreadable
from safety_scenarios.ros.spinning import SentOn, with_info
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.frames import Place, place_in
from safety_scenarios.scenario.message import Message
from safety_scenarios.scenario.stimulus import Stimulus, StimulusContext
from safety_scenarios.scenario.topic_names import DRAWN, LIVE, MERGED, PASSING
from safety_scenarios.scenario.world import BASE
from safety_scenarios.trial.link import Gate, leave_at_once
from safety_scenarios.trial.mcap.cdr import read_stamp_ns
from safety_scenarios.trial.stimulus_rendering import (
    Beams,
    distance,
    draw,
    nearer,
    nearest,
    Ranges,
    silhouette,
    with_poses,
)
from safety_scenarios.trial.summary import PreflightRow
from safety_scenarios.trial.trial import Trial

_SCAN, _POSES, _POSE = MERGED
_STALE_NS, _STALE_PERIODS = 500_000_000, 5
"""Without a new message for longer than both the live data is stale."""
_POLL_S = 0.01
Now = Callable[[int | None], tuple[int, Stamps]]
"""How long it took to read the clocks (ns), and what they say; of a header stamp that is sent."""


@dataclass(frozen=True, slots=True)
class _Overlay:
    """What is drawn by now."""

    stimulus: Stimulus
    hazard: bool
    place: Place
    """Of the live frame, in that of the stimulus."""


class Live:
    """
    One live topic, and the topic on which it goes on.

    :param topic: of the stimulus
    :param interface: of both
    :param publisher: returns what publishes on that topic now, None for nothing
    :param now: reads the clocks
    :param put: takes what has left
    """

    def __init__(self, topic: str, name: str, interface: str, publisher: Callable[[], Any],
                 now: Now, put: Callable[[Any], None]) -> None:
        self.topic, self.name, self.interface = topic, name, interface
        self._publisher, self._now, self._put = publisher, now, put
        self.gate: Gate = leave_at_once
        """Asked when a drawing would leave; where it must not, the live message does."""
        self._overlay: _Overlay | None = None
        self._shape: tuple[Message, Beams, Place, Ranges] | None = None
        self._stamp_ns: int | None = None
        self._gaps: deque[int] = deque(maxlen=50)
        self._passing: deque[int] = deque(maxlen=10_000)
        self.frame: str | None = None
        self.last_ns = 0
        self.error: Exception | None = None

    def show(self, overlay: _Overlay | None) -> None:
        """Draw this into each message from the next one on; None: nothing."""
        self._overlay = overlay

    def receive(self, raw: Any, info: Any) -> None:
        """Let a message pass; called by the thread that receives."""
        steady_ns, system_ns = time.monotonic_ns(), time.time_ns()
        try:
            raw = bytes(raw)
            if not self._is_new(raw):
                return
            arrived_ns = info.get('received_timestamp') if info else None
            waited_ns = max(0, system_ns - arrived_ns) if arrived_ns else 0
            self._pass(raw, steady_ns - waited_ns)
            if self.last_ns:
                self._gaps.append(steady_ns - self.last_ns)
            self.last_ns = steady_ns
        except Exception as error:
            self.error = error

    def check(self) -> None:
        """
        Refuse to go on without live data.

        :raises LiveDataError: none comes, or what was to be shown is not to be seen in it
        """
        error = self.error
        if isinstance(error, LiveDataError):
            raise error
        if error is not None:
            raise MeasurementError(f'{self.name}: cannot pass it on: {described(error)}')
        quiet_ns = time.monotonic_ns() - self.last_ns
        usual_ns = median(self._gaps) if self._gaps else 0
        if quiet_ns > max(_STALE_NS, _STALE_PERIODS * usual_ns):
            raise LiveDataError(f'{self.name}: no new live message came for '
                                f'{quiet_ns / 1e6:.0f} ms, and nothing old is sent for one. Look '
                                f'after the sensor')

    def row(self) -> PreflightRow:
        """Return what passes, how often, and how much later it is for it."""
        late = list(self._passing)
        usual_ns = median(self._gaps) if self._gaps else 0
        return PreflightRow(check='merging', status='ok' if late and usual_ns else 'warn', detail=(
            f'{self.name} [{self.interface}] goes on as {self.topic}'
            + (f', {1e9 / usual_ns:.1f} Hz, in {self.frame!r}' if usual_ns else '')
            + (f'; passing takes {median(late) / 1e6:.2f} ms at the median, '
               f'{max(late) / 1e6:.2f} ms at the most' if late else '')))

    def _is_new(self, raw: bytes) -> bool:
        """Return whether a message is not the last one once more, by its stamp."""
        stamp_ns = read_stamp_ns(raw)
        if stamp_ns is None:
            return True
        before_ns, self._stamp_ns = self._stamp_ns, stamp_ns
        if self.frame is None:
            header = deserialize_message(raw, interface_class(self.interface)).header
            self.frame = header.frame_id
        return not stamp_ns or stamp_ns != before_ns

    def _pass(self, raw: bytes, arrived_ns: int) -> None:
        publisher, overlay = self._publisher(), self._overlay
        if publisher is None:
            return
        if overlay is None or not self._pass_drawn(raw, arrived_ns, publisher, overlay):
            publisher.publish(raw)
            self._passing.append(time.monotonic_ns() - arrived_ns)

    def _pass_drawn(self, raw: bytes, arrived_ns: int, publisher: Any, overlay: _Overlay) -> bool:
        """Send a message on with the drawing in it, if that may leave; return whether it did."""
        message = deserialize_message(raw, interface_class(self.interface))
        message, truth, replaced = self._draw(message, overlay)
        if not replaced and overlay.hazard:
            self.error = LiveDataError(
                f'{self.topic}: what is drawn is nowhere nearer than what {self.name} shows, or '
                'outside of what it sees, so that no controller could react to it. Clear the '
                'place, or '
                f'draw it nearer')
        serialised, header_ns = serialize_message(message), header_stamp_ns(message)
        left: list[Stamps] = []

        def leave() -> None:
            left.append(self._now(header_ns)[1])
            publisher.publish(serialised)
        if not self.gate(self.topic, overlay.hazard, leave):
            return False
        after_ns, [stamps] = time.time_ns(), left
        passing_ns = stamps.steady_ns - arrived_ns
        self._passing.append(passing_ns)
        self._put(SentOn(Event.model_construct(
            kind='stimulus', name=self.topic, stamps=stamps, message=from_ros(message),
            hazard=overlay.hazard, truth={**truth, PASSING: passing_ns / 1e9},
            scheduled_ns=stamps.steady_ns - passing_ns), after_ns))
        return True

    def _draw(self, live: Any, overlay: _Overlay) -> tuple[Any, Mapping[str, float], bool]:
        """Return the message with the drawing, what is true in it, and whether it shows there."""
        shown, claimed = overlay.stimulus.message, dict(overlay.stimulus.truth)
        if self.interface == _SCAN:
            live, found, is_seen = self._draw_scan(live, overlay)
        else:
            live, found, is_seen = _draw_poses(live, shown, overlay.place, self.interface)
        drawn = claimed.get('distance', found.get(DRAWN))
        near = [value for value in (drawn, found.get(LIVE)) if value is not None]
        truth = claimed | found | ({} if drawn is None else {DRAWN: drawn})
        return live, truth | ({'distance': min(near)} if near else {}), is_seen

    def _draw_scan(self, live: Any, overlay: _Overlay) -> tuple[Any, dict[str, float], bool]:
        beams, place = Beams.of(live), overlay.place
        shown = overlay.stimulus.message
        known = self._shape
        if known is None or known[0] is not shown or known[1:3] != (beams, place):
            known = self._shape = shown, beams, place, silhouette(shown.data, beams, place)
        shape = known[3]
        ranges = numpy.asarray(live.ranges, numpy.float32)
        found = draw(ranges, numpy.asarray(live.intensities, numpy.float32), shape, beams)
        truth = {name: near for name, near in (
            (DRAWN, nearest(shape, beams, place)), (LIVE, nearest(ranges, beams, place)))
            if near is not None}
        if found.replaced:
            live.ranges = array('f', found.ranges.tobytes())
            live.intensities = array('f', found.intensities.tobytes())
        is_empty = not any(map(math.isfinite, shown.data['ranges']))
        return live, truth, is_empty or bool(found.replaced)


def _draw_poses(live: Any, shown: Message, place: Place,
                interface: str) -> tuple[Any, dict[str, float], bool]:
    """Return the message with the drawing, how near who is, and whether it shows the drawing."""
    plain = from_ros(live)
    data = {name: plain.data[name] for name in plain.data}
    if interface == _POSES:
        poses, own = data['poses'], shown.data.get('poses', ())
        data['poses'] = with_poses(poses, own, place)
        is_seen = not own or len(data['poses']) > len(poses)
    else:
        poses, own = (data['pose'],), (shown.data['pose'],)
        data['pose'] = nearer(data['pose'], shown.data['pose'], place)
        is_seen = data['pose'] is not poses[0]
    truth = {}
    if poses:
        truth[LIVE] = min(distance(pose, place) for pose in poses)
    if own:
        truth[DRAWN] = min(math.hypot(pose['position']['x'], pose['position']['y'])
                           for pose in own)
    message = to_ros(plain.model_copy(update={'data': data}))
    return message, truth, is_seen


def _frame(stimulus: Stimulus) -> str:
    header = stimulus.message.data.get('header')
    frame = str(header.get('frame_id', '')) if isinstance(header, Mapping) else ''
    return frame or BASE


class Merging:
    """
    All live topics of one link.

    :param rules: topic of a stimulus to that of the live data
    :param endpoints: publish what passes
    """

    def __init__(self, node: Node, rules: Mapping[str, str], endpoints: Endpoints, now: Now,
                 put: Callable[[Any], None]) -> None:
        self._node, self._rules, self._endpoints = node, rules, endpoints
        self._now, self._put = now, put
        self._live: dict[str, Live] = {}
        self._subscriptions: list[Any] = []
        self._places: dict[tuple[str, str], Place] = {}
        self._trial: Trial | None = None
        self.gate: Gate = leave_at_once
        """Asked for each drawing that would leave."""

    def open(self, trial: Trial, deadline: float) -> None:  # noqa: A003
        """
        Begin to let live data pass, and see that what the trial shows can be drawn into it.

        :param deadline: of the monotonic clock
        :raises LinkTimeoutError: there is no live data
        :raises MeasurementError: nothing can be drawn into it
        """
        if self._trial is None or self._trial.scenario is not trial.scenario:
            self._places.clear()
        self._trial, begin = trial, time.monotonic()
        for topic, name in self._rules.items():
            if topic not in self._live:
                self._begin(topic, name, deadline)
            live = self._live[topic]
            live.error, live.gate = None, self.gate
            while not live.last_ns:
                if time.monotonic() >= deadline:
                    raise LinkTimeoutError(
                        self._node.resolve_topic_name(name), f'a live {live.interface}',
                        time.monotonic() - begin,
                        self._endpoints.graph.discovered(name, self._endpoints.publishers),
                        'Start the sensor whose data the stimulus is drawn into.')
                time.sleep(_POLL_S)
            for plugin in (*trial.nominal, *trial.hazard):
                if plugin.topic != topic:
                    continue
                if plugin.interface() != live.interface:
                    raise MeasurementError(
                        f'{name}: got live data of {live.interface}, expected '
                        f'{plugin.interface()} as the stimulus {plugin.kind} on {topic}. Merge '
                        f'it into data of its own type')
                first = plugin.at(0, 0, StimulusContext(trial.trial_id,
                                                        trial.scenario.messages, None))
                if first is not None:
                    self._place(live.frame or '', _frame(first))
            live.check()

    def draws(self, topic: str) -> bool:
        """Return whether a stimulus on a topic is drawn."""
        return topic in self._rules

    def show(self, stimulus: Stimulus, hazard: bool) -> None:
        """
        Draw a stimulus into each live message of its topic from now on.

        :raises MeasurementError: nobody says where the sensor is
        """
        live = self._live[stimulus.topic]
        live.show(_Overlay(stimulus, hazard, self._place(live.frame or '', _frame(stimulus))))

    def withdraw(self, topic: str | None = None) -> None:
        """Draw nothing any more on a topic, or on any."""
        for live in self._live.values():
            if topic in (None, live.topic):
                live.show(None)

    def check(self) -> None:
        """
        Refuse to go on without live data.

        :raises LiveDataError: says which is missing
        """
        for live in self._live.values():
            live.check()

    def rows(self) -> Sequence[PreflightRow]:
        return [live.row() for live in self._live.values()]

    def close(self) -> None:
        """Let nothing pass any more."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()
        self._live.clear()

    def _begin(self, topic: str, name: str, deadline: float) -> None:
        interface, publishers = self._endpoints.alone(name, deadline, (
            'Start the sensor whose data the stimulus is drawn into, or correct merge.'))
        if interface not in MERGED:
            raise MeasurementError(f'{name}: got live data of {interface}, expected one of '
                                   f'{", ".join(MERGED)}: nothing can be drawn into it')
        warm_up(interface)
        self._endpoints.offer(topic, interface)
        live = Live(topic, name, interface, lambda: self._endpoints.publishers.get(topic),
                    self._now, self._put)
        self._subscriptions.append(self._node.create_subscription(
            interface_class(interface), name, with_info(live.receive), qos.command(publishers),
            raw=True))
        self._live[topic] = live

    def _place(self, live: str, frame: str) -> Place:
        key = live, frame
        if key not in self._places:
            mounted = self._trial.scenario.body.mounted_frames if self._trial else ()
            known = [] if live == frame else [*static_frames(self._node), *mounted]
            try:
                self._places[key] = place_in(live, frame, known)
            except MeasurementError as error:
                raise MeasurementError(f'merge: {error}{unreadable()}') from None
        return self._places[key]
