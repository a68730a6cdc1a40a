# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""On what was measured, and what else the machine did meanwhile."""

from datetime import datetime, timezone
import os
from pathlib import Path
import subprocess
import time
from typing import Any

from rclpy.utilities import get_rmw_implementation_identifier
from safety_scenarios.campaign.folder.provenance import host, versions
from safety_scenarios.ros.spinning import EXECUTOR


class Machine:
    """This machine, from now on."""

    def __init__(self) -> None:
        self._begin_s = time.monotonic()
        self._busy_s, self._all_s = _cores()
        self._before = {
            'made': datetime.now(timezone.utc).isoformat(timespec='seconds'),
            'commit': _commit(), 'versions': versions(),
            'ros': {'distro': os.environ.get('ROS_DISTRO'), 'executor': EXECUTOR,
                    'rmw': get_rmw_implementation_identifier()},
            'host': host()}

    def as_json(self) -> dict[str, Any]:
        """
        Return what stands in the file; ``host.load`` is of the begin.

        ``others_percent``: of the time of all cores, what neither idled nor was ours.
        """
        busy_s, all_s = _cores()
        others = (busy_s - self._busy_s) / max(1e-9, all_s - self._all_s)
        return {**self._before, 'seconds': round(time.monotonic() - self._begin_s, 1),
                'load_after': [round(load, 2) for load in os.getloadavg()],
                'others_percent': round(100 * others, 1)}


def _cores() -> tuple[float, float]:
    """Return seconds of all cores since boot: busy for others, and in sum; ended children ours."""
    ticks = Path('/proc/stat').read_text(encoding='ascii').splitlines()[0].split()[1:9]
    user, nice, system, idle, wait, irq, soft, stolen = (
        int(tick) / os.sysconf('SC_CLK_TCK') for tick in ticks)
    busy_s = user + nice + system + irq + soft + stolen
    return busy_s - sum(os.times()[:4]), busy_s + idle + wait


def _commit() -> str | None:
    """Return the commit that is measured, marked where files differ from it."""
    ended = subprocess.run(
        ['git', '-C', Path(__file__).parent, 'describe', '--always', '--dirty'],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return ended.stdout.strip() or None
