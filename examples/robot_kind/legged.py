# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

from safety_scenarios.scenario.robot_kind import MobileBase


class LeggedBase(MobileBase):
    noun = 'legged base'
    usual_top_speed = (0.05, 5.0)
    still_share = 0.15
    creep_speed = 0.12
    defaults = {'creep': 0.25, 'radius': 0.45}
