# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A monitor's verdicts as diagnostics (diagnostic_msgs, REP 107)."""

from collections.abc import Iterator, Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from safety_scenarios.judging.monitoring import Level, Watch, Watched

_LONGEST = 300
"""Characters of a message that tools still show."""


class Diagnostics:
    """
    Publishes what has changed at once, and all of it once a second.

    :param publisher: of DiagnosticArray
    :param node_name: stands before each name
    :param hardware_id: the id of the monitor file
    """

    def __init__(self, publisher: Any, node_name: str, hardware_id: str) -> None:
        self._publisher = publisher
        self._node_name, self._hardware_id = node_name, hardware_id
        self._told: dict[str, Any] = {}

    def publish(self, statuses: Mapping[str, DiagnosticStatus], stamp_ns: int,
                everything: bool) -> bool:
        """Publish statuses; return whether the level of one has changed."""
        changed = [name for name, status in statuses.items()
                   if self._told.get(name) != status.level]
        self._told |= {name: statuses[name].level for name in changed}
        names = list(statuses) if everything else changed
        if names:
            message = DiagnosticArray(status=[statuses[name] for name in names])
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(
                stamp_ns, 1_000_000_000)
            self._publisher.publish(message)
        return bool(changed)

    def status(self, name: str, level: Level, message: str, **values: Any) -> DiagnosticStatus:
        """Return one status; what is None is left out."""
        return DiagnosticStatus(
            name=f'{self._node_name}: {name}', level=bytes([level]), message=message[:_LONGEST],
            hardware_id=self._hardware_id, values=[
                KeyValue(key=key, value=str(value)) for key, value in values.items()
                if value is not None])


def of_invariants(watch: Watch, places: Mapping[str, str],
                  diagnostics: Diagnostics) -> Iterator[tuple[str, DiagnosticStatus]]:
    """
    Yield the status of each invariant, and of what else was found.

    :param places: name of a check to the folder of its last finding
    """
    for name, known in watch.watched.items():
        found = known.finding
        yield name, diagnostics.status(
            name, known.level, _words(known),
            verdict=None if found.verdict is None else found.verdict.value,
            margin=None if found.margin is None else f'{found.margin:.4g}', unit=found.unit,
            severity=f'{found.severity:g}', violations=known.violations,
            record=places.get(name))


def _words(known: Watched) -> str:
    return f'{known.doubt}; {known.finding.reason}' if known.doubt else known.finding.reason
