# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``ros.nominal.bag``: a recording becomes one nominal stimulus for each topic of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import InputError, MeasurementError
from safety_scenarios.formats.document.json_document import Resolve
from safety_scenarios.formats.document.messages import describe
from safety_scenarios.scenario.blocks.onset import BagBlock, Recording
from safety_scenarios.scenario.stimulus import StimulusPlugin


class Bags:
    """
    Reads the bag of a scenario file once, however often its values are tried.

    :param path: of the scenario file, from whose folder a relative path begins
    """

    def __init__(self, path: str, resolve: Resolve) -> None:
        self._folder = Path(path).parent
        self._resolve = resolve
        self._read: dict[str, Recording | str] = {}

    def stimuli(self, ros: Mapping[str, Any]) -> tuple[StimulusPlugin, ...]:
        """
        Return what plays the bag of a ``ros:`` block whose stimuli are plug-ins already.

        A block that is broken in itself is told by its model, and gives none.

        :raises InputError: no bag, or none that can be played here; says what is wrong
        """
        block = _block(ros)
        if block is None:
            return ()
        recording = self._recording(block, _kept_off(ros))
        plugin = self._resolve('stimuli', 'recorded')
        new_names = {name.lstrip('/'): topic for name, topic in block.remap.items()}
        found = []
        for recorded in recording.topics:
            try:
                found.append(plugin.of(
                    recorded, topic=new_names.get(recorded.name, recorded.name), bag=block.file,
                    sha256=recording.sha256, round_ns=recording.round_ns, at_end=block.at_end))
            except ValidationError as error:
                _, sentence, _ = next(describe(error.errors(include_url=False), plugin))
                raise InputError(f'{recorded.name}: {sentence}. Leave it out by topics, or '
                                 f'rename it by remap') from None
        return tuple(found)

    @property
    def left_out(self) -> Mapping[str, str]:
        """Name in the bag of each topic that is not played, to the reason."""
        return {name: why for recording in self._read.values()
                if isinstance(recording, Recording) for name, why in recording.left_out.items()}

    @property
    def sha256(self) -> str | None:
        """Of the bag, None where none was read."""
        return next((recording.sha256 for recording in self._read.values()
                     if isinstance(recording, Recording)), None)

    def _recording(self, block: BagBlock, kept_off: Mapping[str, str]) -> Recording:
        key = block.model_dump_json()
        if key not in self._read:
            try:
                self._read[key] = self._resolve('bags', 'rosbag2')(
                    self._folder / block.file, block, kept_off)
            except (InputError, MeasurementError) as error:
                self._read[key] = str(error)
        found = self._read[key]
        if isinstance(found, str):
            raise InputError(found)
        return found


def _block(ros: Mapping[str, Any]) -> BagBlock | None:
    nominal = ros.get('nominal')
    given = nominal.get('bag') if isinstance(nominal, Mapping) else None
    if isinstance(given, str):
        given = {'file': given}
    try:
        return None if given is None else BagBlock.model_validate(given)
    except ValidationError:
        return None


def _kept_off(ros: Mapping[str, Any]) -> dict[str, str]:
    """Return the topics that the bag must not be played on, and why."""
    found: dict[str, str] = {}
    for key, why in (('commands', 'is a command topic, and the harness must not command the '
                                  'robot'),
                     ('feedback', 'is a feedback topic, and what the harness publishes confirms '
                                  'nothing')):
        blocks = ros.get(key)
        found |= {str(block.get('topic')): why for block in (
            blocks if isinstance(blocks, tuple) else ()) if isinstance(block, Mapping)}
    stimuli = ros['nominal'].get('stimuli')
    return found | {str(getattr(plugin, 'topic', '')): 'is published by ros.nominal.stimuli'
                    for plugin in (stimuli if isinstance(stimuli, tuple) else ())}
