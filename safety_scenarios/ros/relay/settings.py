# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The parameters of ``relay_node``, and what their texts mean; without ROS."""

from collections.abc import Sequence
import re

from pydantic import Field, ValidationError
from safety_scenarios.errors import refused, SettingsError
from safety_scenarios.scenario.noun import Noun, TOLD
from safety_scenarios.scenario.world.wire_fault import WireFault
import yaml

_TOPIC = re.compile(r'~?/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*')
_ASSIGNS = ':='


class RelaySettings(Noun):
    """One relay process."""

    model_config = TOLD

    topics: tuple[str, ...] = ()
    """What it carries, each as FROM:=TO: whatever is published on FROM it publishes on TO."""
    faults: tuple[str, ...] = ()
    """What is wrong from the start, each as TO:={kind: delay, delay_ms: 100}; several of one
    topic in a row."""
    patience_s: float = Field(default=5.0, gt=0, le=600, json_schema_extra={'unit': 's'})
    """After how long it says that nobody publishes on FROM (s)."""
    exit_with_stdin: bool = False
    """End when standard input closes; for a parent that must not leave it behind."""


def pairs(settings: RelaySettings) -> Sequence[tuple[str, str]]:
    """
    Return what is carried where, as the topics are named in the settings.

    :raises SettingsError: nothing, or not FROM:=TO
    """
    if not settings.topics:
        raise SettingsError('parameter topics: got nothing, expected what to carry. Set it: '
                            "--ros-args -p topics:=\"['scan:=scan_on_wire']\"")
    return [_split(text, place, 'topics', 'FROM:=TO') for place, text
            in enumerate(settings.topics)]


def faults_at_start(settings: RelaySettings) -> Sequence[tuple[str, WireFault]]:
    """
    Return output topic and fault of each that is there from the start.

    :raises SettingsError: not TO:={kind: ...}, or numbers that make no sense
    """
    found = []
    for place, text in enumerate(settings.faults):
        topic, given = _split(text, place, 'faults', 'TO:={kind: delay, delay_ms: 100}')
        try:
            data = yaml.safe_load(given)
        except yaml.YAMLError:
            data = None
        if not isinstance(data, dict):
            raise SettingsError(f'parameter faults[{place}]: got {given!r:.100}, expected a '
                                f'mapping such as {{kind: delay, delay_ms: 100}}')
        found.append((topic, _fault(data, f'parameter faults[{place}]')))
    return found


def _fault(data: dict[str, object], where: str) -> WireFault:
    fields = data.get('fields')
    given = data if not isinstance(fields, list) else {**data, 'fields': tuple(fields)}
    try:
        return WireFault.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = '.'.join(map(str, first['loc']))
        raise SettingsError(refused(f'{where}.{place}' if place else where, first)) from None


def _split(text: str, place: int, name: str, shape: str) -> tuple[str, str]:
    before, sign, after = (part.strip() for part in text.partition(_ASSIGNS))
    wrong = not sign or not after or not _TOPIC.fullmatch(before) or (
        name == 'topics' and not _TOPIC.fullmatch(after))
    if wrong:
        raise SettingsError(f'parameter {name}[{place}]: got {text!r:.100}, expected {shape}')
    return before, after
