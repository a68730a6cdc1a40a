# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a plug-in of each kind promises, as tests that its author runs with pytest.

A test class with one of the classes here as its base names the plug-in. Each test that it inherits
is a claim, and the docstring of the test is the reason::

    from safety_scenarios.plugin_contract.scenario_plugins import StimulusContract

    class TestDrone(StimulusContract):
        name = 'drone'                     # of the entry point
        scenario = 'test/drone.yaml'       # a scenario with a drone in it

``scenario_plugins`` has those of what a scenario file names, ``robot_plugins`` those of what is in
the world, ``campaign_plugins`` those of what carries a campaign out.
"""
