# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""
The embedded world: physics by MuJoCo, robots that execute commands, people, and what sensors see.

``world.py`` is the one door: a link gives it commands and intents and lets time pass, and it gives
back what sensors publish and what is true. It knows neither a controller nor a verdict.

- ``scene.py`` puts a scenario together as one model: floor, walls, boxes, robot, people, things,
  and an arm on its column
- ``mobile_base.py`` and ``arm.py`` move the robot: driver, delay, limits, then forces
- ``entities.py`` is what can be there beside the robot; ``people.py`` is one of its
  kinds, built by what ``scenario/world_body.py`` says of a body
- ``robot_sensors.py`` says which sensors a robot has, with the scanner; ``camera.py`` draws
  without a screen; ``wires.py`` is what sensors publish and a robot is commanded, with faults
- ``truth.py`` is what ``state`` events tell

MuJoCo is the extra ``sim``; nothing but these modules imports it.
"""
