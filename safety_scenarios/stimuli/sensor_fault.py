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

"""A sensor that goes on publishing, but no longer tells the truth."""

import dataclasses
from typing import Literal

from safety_scenarios.model.faulty import without_numbers
from safety_scenarios.model.intent import StreamFault
from safety_scenarios.model.stimulus import Stamp, Stimulus, StimulusContext, StimulusPlugin


class SensorFault(StimulusPlugin):
    """
    Alters what the nominal phase publishes on the same topic.

    - ``frozen``: the last message again and again, its header stamp standing still
    - ``nan``: fresh stamps, every range or number of the payload NaN
    """

    kind: Literal['sensor_fault'] = 'sensor_fault'
    fault: Literal['frozen', 'nan']
    """What is wrong with the sensor."""

    def interface(self) -> None:
        """Return None: the nominal stimulus decides."""

    def intent(self, context: StimulusContext) -> StreamFault:
        """Return that the sensor fails."""
        return StreamFault(topic=self.topic, fault=self.fault)

    def at(self, elapsed_ns: int, index: int, context: StimulusContext) -> Stimulus | None:
        """Return the nominal message with the fault in it."""
        if context.nominal is None:
            return None
        if self.fault == 'frozen':
            return dataclasses.replace(context.last or context.nominal, stamp=Stamp.HOLD)
        broken = without_numbers(context.nominal.message)
        return dataclasses.replace(context.nominal, message=broken, truth=())
