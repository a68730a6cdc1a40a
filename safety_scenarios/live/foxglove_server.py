# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
A live server for Foxglove: whatever the link is, it streams events, verdicts and a scene.

It has none of the capabilities by which a client could publish or call something: who connects
can look, and nothing else.
"""

from collections.abc import Mapping
import json
import time
from typing import Any

from safety_scenarios.errors import MissingDependencyError, SettingsError
from safety_scenarios.live.output import Output
from safety_scenarios.live.shapes import Colour, Shape, shapes_of
from safety_scenarios.live.stage import FRAME, Picture
from safety_scenarios.live.words import of_event, of_result, of_summary, to_text
from safety_scenarios.model.event import Event
from safety_scenarios.model.observer import Beginning
from safety_scenarios.model.result import TrialResult
from safety_scenarios.model.summary import CampaignSummary
from safety_scenarios.model.trial import Trial

try:
    import foxglove
    from foxglove import Channel, Context
    from foxglove.channels import SceneUpdateChannel
    from foxglove.messages import (
        ArrowPrimitive,
        Color,
        CylinderPrimitive,
        Duration,
        Pose,
        Quaternion,
        SceneEntity,
        SceneEntityDeletion,
        SceneEntityDeletionType,
        SceneUpdate,
        SpherePrimitive,
        TextPrimitive,
        Vector3,
    )
except ImportError as error:
    if (error.name or '').partition('.')[0] == 'safety_scenarios':
        raise
    raise MissingDependencyError('the live Foxglove server', 'foxglove-sdk',
                                 "pip install 'safety_scenarios[foxglove]'") from error

EVENT, VERDICT, MARKERS, STATUS = ('/evaluator_node/event', '/evaluator_node/verdict',
                                   '/evaluator_node/markers', '/evaluator_node/status')
"""The first three are called as over ROS, so that one layout shows both."""
_LIFETIME_S = 2
_LEAVES_S = 0.2
_UP = Quaternion(x=0.0, y=0.0, z=0.0, w=1.0)


class FoxgloveServer(Output):
    """
    Listens from when it is made.

    :param host: address to listen on
    :param port: 1 to 65535
    :raises SettingsError: the address cannot be listened on
    """

    def __init__(self, host: str, port: int) -> None:
        self._context = Context()
        try:
            self._server = foxglove.start_server(name='safety_scenarios', host=host, port=port,
                                                 capabilities=[], context=self._context)
        except (OSError, RuntimeError, ValueError) as error:
            raise SettingsError(f'foxglove: got {host}:{port}, which cannot be listened on: '
                                f'{error}. Name another port, or an address of this machine') \
                from None
        self._event, self._verdict, self._status = (
            Channel(topic, schema={'type': 'object', 'title': title}, message_encoding='json',
                    context=self._context)
            for topic, title in ((EVENT, 'event'), (VERDICT, 'verdict'), (STATUS, 'status')))
        self._scene = SceneUpdateChannel(MARKERS, context=self._context)
        self._drawn = set[str]()
        self._campaign: dict[str, Any] = {}

    def began(self, beginning: Beginning) -> None:
        """Say what begins."""
        self._campaign = {'controller': beginning.controller.label, 'where': beginning.where,
                          'planned': beginning.planned, 'ended': 0}
        self._log(self._status, {**self._campaign, 'phase': 'begins'})

    def happened(self, trial: Trial, event: Event, since_ns: int) -> None:
        """Stream an event."""
        self._log(self._event, of_event(trial, event, since_ns))

    def show(self, picture: Picture) -> None:
        """Stream the scene, and its numbers for plots."""
        shapes = tuple(shapes_of(picture))
        names = {_name(shape) for shape in shapes}
        gone = [SceneEntityDeletion(type=SceneEntityDeletionType.MatchingId, id=name)
                for name in sorted(self._drawn - names)]
        self._drawn = names
        self._scene.log(SceneUpdate(deletions=gone, entities=list(map(_entity, shapes))))
        self._log(self._status, {
            **self._campaign, 'trial': picture.trial.trial_id,
            'scenario': picture.trial.scenario.id, 'phase': picture.phase,
            'distance_m': picture.distance, 'required_m': picture.required,
            'speed': picture.speed})

    def clear(self) -> None:
        """Take the scene away."""
        self._drawn = set()
        self._scene.log(SceneUpdate(deletions=[
            SceneEntityDeletion(type=SceneEntityDeletionType.All)], entities=[]))

    def judged(self, result: TrialResult, ended: int, planned: int) -> None:
        """Stream a verdict."""
        self._campaign |= {'ended': ended, 'planned': planned}
        self._log(self._verdict, of_result(result, ended, planned))

    def ended(self, summary: CampaignSummary) -> None:
        """Stream what the campaign came to."""
        self._log(self._verdict, of_summary(summary))

    def close(self) -> None:
        """Stop to listen, when what was said last has had the time to leave."""
        time.sleep(_LEAVES_S)
        self._server.stop()

    @staticmethod
    def _log(channel: Channel, found: Mapping[str, Any]) -> None:
        channel.log(json.loads(to_text(found)))


def _name(shape: Shape) -> str:
    return f'{shape.group}/{shape.number}'


def _entity(shape: Shape) -> SceneEntity:
    """Return a shape as an entity of its own, so that it replaces the one before."""
    pose = Pose(position=Vector3(x=shape.x, y=shape.y, z=shape.z), orientation=_UP)
    size = Vector3(x=shape.size[0], y=shape.size[1], z=shape.size[2])
    colour = _colour(shape.colour)
    primitives: dict[str, Any] = {}
    if shape.kind == 'cylinder':
        primitives['cylinders'] = [CylinderPrimitive(
            pose=pose, size=size, bottom_scale=1.0, top_scale=1.0, color=colour)]
    elif shape.kind == 'sphere':
        primitives['spheres'] = [SpherePrimitive(pose=pose, size=size, color=colour)]
    elif shape.kind == 'arrow':
        primitives['arrows'] = [ArrowPrimitive(
            pose=pose, shaft_length=0.8 * shape.size[0], shaft_diameter=shape.size[1],
            head_length=0.2 * shape.size[0], head_diameter=2 * shape.size[1], color=colour)]
    else:
        primitives['texts'] = [TextPrimitive(
            pose=pose, billboard=True, font_size=shape.size[2], scale_invariant=False,
            color=colour, text=shape.text)]
    return SceneEntity(frame_id=FRAME, id=_name(shape), frame_locked=True,
                       lifetime=Duration(sec=_LIFETIME_S, nsec=0), **primitives)


def _colour(colour: Colour) -> Color:
    red, green, blue, opacity = colour
    return Color(r=red, g=green, b=blue, a=opacity)
