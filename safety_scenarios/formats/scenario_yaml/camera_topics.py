# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""What a scenario may do with the topics of ``ros.world.camera``."""

from collections.abc import Iterator, Mapping
from typing import Any

from safety_scenarios.formats.document.positions import Path
from safety_scenarios.scenario.world.block import Camera

_FIELDS = 'topic', 'info'


def camera_topics(ros: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the topics of a camera, each with the field that names it; empty: there is none."""
    world = ros.get('world')
    camera = world.get('camera') if isinstance(world, Mapping) else None
    if not isinstance(camera, Mapping):
        return {}
    named = ((camera.get(field, Camera.model_fields[field].default), field) for field in _FIELDS)
    return {topic: field for topic, field in named if isinstance(topic, str)}


def taken(ros: Mapping[str, Any], commands: list[str],
          feedback: list[str]) -> Iterator[tuple[Path, str]]:
    """Yield what else uses a topic of the camera."""
    for topic, field in camera_topics(ros).items():
        for topics, what in ((commands, 'command'), (feedback, 'feedback')):
            if topic in topics:
                yield (('ros', 'world', 'camera', field),
                       f'got {topic!r}, which is a {what} topic, expected one that the camera '
                       f'has to itself. Choose another topic')


def shown_by_camera(ros: Mapping[str, Any], topic: str, interface: str | None) -> str:
    """Return why a stimulus cannot be on a topic of the camera; empty: it can."""
    if interface:
        return (f'got {topic!r}, on which ros.world.camera publishes, expected another topic: '
                f'the camera sees whatever any stimulus puts into the world. Choose another one')
    if ros['world'].get('required') is not True:
        return (f'got {topic!r}, on which only a world publishes, so without one it cannot fail. '
                f'Add required: true to ros.world')
    return ''
