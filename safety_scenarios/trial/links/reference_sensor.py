# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What stands in for the reference sensor of a real hazard, where time is simulated."""

from collections.abc import Mapping
import math
import random
from typing import Any

from safety_scenarios.errors import MeasurementError
from safety_scenarios.scenario.blocks.observed_onset import ObservedOnset
from safety_scenarios.scenario.blocks.signal import Signal
from safety_scenarios.scenario.message import Message, parse_path
from safety_scenarios.trial.trial import Trial

PERIOD_NS = 20_000_000
"""A light barrier that tells its state at 50 Hz, and a change of it at once."""
_TYPES = {'data': 'std_msgs/msg/Bool', 'range': 'sensor_msgs/msg/Range'}
"""Interface of a topic whose file leaves it open, by the field that is read."""


class ReferenceSensor:
    """
    Tells of the hazard that the harness plays, as late as the scenario says its sensor is.

    In each trial it is late by another time, drawn from the trial's seed within the uncertainty
    that the scenario states: what is made of it has to get along with that.

    :ivar topic: on which it tells
    :raises MeasurementError: no message can be made that shows the hazard, or its absence
    """

    def __init__(self, trial: Trial, wanted: ObservedOnset, signals: Mapping[str, Signal]) -> None:
        self.topic = wanted.topic
        off_ns = random.Random(f'{trial.seed}/reference sensor').uniform(-1.0, 1.0) \
            * wanted.uncertainty_ns
        self.latency_ns = max(0, round(wanted.latency_ns + off_ns))
        self._quiet, self._alarm = _both(wanted, signals[wanted.when.signal])
        self._shown_ns: float = math.inf
        self.there_ns: float = math.inf if wanted.release_within_ms is None \
            or trial.all_clear_ns is None else trial.all_clear_ns
        """How long the hazard is there; infinite: nobody asks when it is over."""

    def see(self, now_ns: int) -> bool:
        """Take that a hazard is shown now; return whether it is the first."""
        is_first = math.isinf(self._shown_ns)
        self._shown_ns = min(self._shown_ns, now_ns)
        return is_first

    def tell(self, now_ns: int) -> Message:
        """Return what it sends now."""
        since_ns = now_ns - self._shown_ns - self.latency_ns
        return self._alarm if 0 <= since_ns < self.there_ns else self._quiet


def _both(wanted: ObservedOnset, signal: Signal) -> tuple[Message, Message]:
    """Return a message without the hazard, and one with it."""
    found: dict[bool, Message] = {}
    for value in _values(wanted):
        message = _message(wanted, signal, value)
        margin = None if message is None else wanted.when.margin(signal.value(message))
        if message is not None and margin is not None:
            found.setdefault(margin >= 0, message)
    if len(found) < 2:
        raise MeasurementError(
            f'ros.onset: got {wanted.when} of the field {signal.field!r}, expected a number or a '
            f'truth value on its own, which a stand-in for the sensor can send: there is no real '
            f'hazard here. Use link ros')
    return found[False], found[True]


def _values(wanted: ObservedOnset) -> list[float]:
    bounds = [bound for bound in (wanted.when.at_least, wanted.when.at_most) if bound is not None]
    return [0.0, 1.0, *bounds, sum(bounds) / len(bounds),
            *(bound + step for bound in bounds for step in (1.0, -1.0))]


def _message(wanted: ObservedOnset, signal: Signal, value: float) -> Message | None:
    steps = parse_path(signal.field)
    interface = _TYPES.get(signal.field, '') if wanted.message == 'auto' else wanted.message
    if not interface:
        raise MeasurementError(
            f'ros.onset.message: got auto for the field {signal.field!r}, expected the interface '
            f'type of {wanted.topic}, such as std_msgs/msg/Bool: nobody publishes there whose '
            f'type could be looked up')
    if not all(isinstance(step, str) and step != '*' for step in steps):
        return None
    told: Any = value
    if interface == _TYPES['data']:
        if value not in (0.0, 1.0):
            return None
        told = bool(value)
    for step in reversed(steps):
        told = {step: told}
    return Message.model_construct(type=interface, data=told)
