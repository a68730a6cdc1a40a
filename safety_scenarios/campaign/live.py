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

"""Where a running campaign is shown beside the terminal and ROS, whatever its link is."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from safety_scenarios.live.feed import Feed
from safety_scenarios.model.observer import Observer
from safety_scenarios.model.settings import RunSettings

_PERIOD_S = 0.1


@contextmanager
def shown_live(settings: RunSettings) -> Iterator[Sequence[Observer]]:
    """
    Give the observers that the settings ask for, while the block lasts.

    :raises MissingDependencyError: without the extra that one of them needs
    :raises SettingsError: the port is in use
    """
    if not settings.foxglove:
        yield ()
        return
    from safety_scenarios.live.foxglove_server import FoxgloveServer  # needs an extra
    with Feed(FoxgloveServer(settings.foxglove_host, settings.foxglove), _PERIOD_S) as feed:
        yield (feed,)
