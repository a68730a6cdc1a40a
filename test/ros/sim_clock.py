# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A /clock in plain rclpy: ``python3 sim_clock.py FACTOR [PAUSE_AFTER_S | -BACK_AFTER_S]``.

Simulated time runs at FACTOR of real time, 250 ticks of real time a second. It stands still after
PAUSE_AFTER_S, or goes back by 10 s after BACK_AFTER_S and every 2 s from then on.
"""

import sys
import time

import rclpy
from rosgraph_msgs.msg import Clock

HZ = 250
START_S = 100.0


def main() -> None:
    """Run until SIGINT or SIGTERM."""
    factor = float(sys.argv[1])
    change_s = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    rclpy.init()
    node = rclpy.create_node('simulation')
    publisher = node.create_publisher(Clock, '/clock', 10)
    begin = time.monotonic()
    tick = 0
    try:
        while rclpy.ok():
            real_s = tick / HZ
            shown_s = min(real_s, change_s) if change_s > 0 else real_s
            if change_s < 0 and real_s > -change_s and int(real_s + change_s) % 4 >= 2:
                shown_s -= 10.0 / factor
            sim_ns = round((START_S + shown_s * factor) * 1e9)
            message = Clock()
            message.clock.sec, message.clock.nanosec = divmod(sim_ns, 1_000_000_000)
            publisher.publish(message)
            tick += 1
            time.sleep(max(0.0, begin + tick / HZ - time.monotonic()))
    except (KeyboardInterrupt, rclpy.executors.ExternalShutdownException):
        pass
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == '__main__':
    main()
