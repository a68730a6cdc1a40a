# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What an ARE file says of itself that no run here goes by: each of it is told, and kept."""

from collections.abc import Iterator, Mapping
from typing import Any

from safety_scenarios.formats.document.fields import Fields
from safety_scenarios.formats.document.positions import Path

_METADATA = ('definition', 'simulation', 'annotation', 'execution', 'runner_config')
_DEFINITION = {
    'seed': 'chance comes from --seed',
    'duration': 'a run goes on for as long as its answers may take',
    'time_increment_in_seconds': 'a run has no such steps, and a recording is judged by it',
    'run_number': 'trials are counted here',
    'config': '', 'hf_metadata': 'nothing is fetched',
    'has_a2a_augmentation': 'there are no other agents',
    'has_tool_augmentation': 'no tool fails on purpose',
    'has_env_events_augmentation': 'no event is added',
    'has_exception': 'it is of a run that was recorded',
    'exception_type': '', 'exception_message': ''}
_USED = ('scenario_id', 'start_time', 'hints', 'tags')
_OTHER = {
    'simulation': 'who ran it', 'annotation': 'what people made of it',
    'execution': 'which only conditions need', 'runner_config': 'how ARE ran it'}
_KEYS: Mapping[str, tuple[str, ...]] = {
    'simulation': ('agent_id', 'model_id'),
    'annotation': ('annotation_id', 'annotator', 'validation_decision', 'comment', 'date'),
    'execution': ('has_placeholder_conflicts', 'placeholders')}


def tell(fields: Fields, data: Mapping[str, Any], metadata: Mapping[str, Any], place: Path,
         definition: Mapping[str, Any]) -> None:
    """
    Tell every key that is known and acts on nothing, and every one that is not known.

    :param place: of the definition, which is the metadata itself in the documented form
    """
    if definition is not metadata:
        fields.unknown_keys(metadata, ('metadata',), _METADATA)
        fields.unknown_keys(definition, place, (*_DEFINITION, *_USED))
    elif metadata:
        fields.unknown_keys(metadata, ('metadata',), (*_METADATA, *_DEFINITION, *_USED))
    for name, known in _KEYS.items():
        block = metadata.get(name)
        if isinstance(block, Mapping):
            fields.unknown_keys(block, ('metadata', name), known)
    said = list(_said(definition))
    if said:
        fields.unmapped(place, f'kept, and no run goes by them: {"; ".join(said)}')
    others = [f'{name} ({why})' for name, why in _OTHER.items() if _says(metadata.get(name))]
    if others:
        fields.unmapped(('metadata',), f'kept, and no run goes by them: {"; ".join(others)}')
    if data.get('augmentation'):
        fields.unmapped(('augmentation',), 'kept, and not played: tools do not fail on purpose '
                                           'here, and no event is added')


def _said(definition: Mapping[str, Any]) -> Iterator[str]:
    for name, why in _DEFINITION.items():
        if definition.get(name) not in (None, False, ''):
            yield f'{name} ({why})' if why else name


def _says(block: Any) -> bool:
    return any(value not in (None, '', (), 0) for value in block.values()) \
        if isinstance(block, Mapping) else False
