# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Which engine runs the trials of a campaign, and which would measure too badly."""

from safety_scenarios.campaign.engines.engine import Engine
from safety_scenarios.campaign.engines.loop import Loop, SessionOf
from safety_scenarios.campaign.engines.processes import Processes
from safety_scenarios.scenario.settings import RunSettings


def engine_for(settings: RunSettings, session_of: SessionOf) -> Engine:
    """
    Return the engine that the settings ask for.

    :param session_of: what trials in this process use
    """
    return Loop(session_of) if settings.jobs == 1 else Processes(settings.jobs)
