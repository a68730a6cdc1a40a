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

"""What a result depends on besides the controller: settings, versions, host, scenario texts."""

from collections.abc import Iterable
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
import os
import platform
from typing import Any

from rclpy.utilities import get_rmw_implementation_identifier

from safety_scenarios.model.scenario import Scenario
from safety_scenarios.model.settings import RunSettings

_PACKAGES = ('safety_scenarios', 'rclpy', 'pydantic', 'PyYAML', 'numpy', 'google-re2', 'openai')


def provenance(settings: RunSettings, scenarios: Iterable[Scenario], domain_id: int) -> \
        dict[str, Any]:
    """Return the content of ``settings.json``; no environment variable but those named here."""
    return {
        'settings': settings.model_dump(mode='json') | {'domain_id': domain_id},
        'started': datetime.now(timezone.utc).isoformat(),
        'versions': {name: _version(name) for name in _PACKAGES},
        'ros': {'distro': os.environ.get('ROS_DISTRO'),
                'rmw': get_rmw_implementation_identifier(),
                'discovery': os.environ.get('ROS_AUTOMATIC_DISCOVERY_RANGE')},
        'host': {'python': platform.python_version(), 'system': platform.platform(),
                 'cores': os.cpu_count()},
        'scenarios': [{'id': scenario.id, 'path': scenario.origin.path,
                       'sha256': scenario.origin.sha256}
                      for scenario in scenarios if scenario.origin]}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
