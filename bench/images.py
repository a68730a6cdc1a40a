# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
How many images of a 30 Hz camera reach the model in ``policy_node``, over the real middleware.

Run it alone, with ROS: ``python bench/images.py [seconds]``. Each image of 3 x 224 x 224 carries
its number. The policy runs at 90 Hz, so that it sees each image that the node received.
"""

import os
from pathlib import Path
import subprocess
import sys
from tempfile import TemporaryDirectory
import time

SIDE, IMAGE_HZ, POLICY_HZ = 224, 30.0, 90.0
SECONDS = 60.0
DOMAIN = '77'
CONTRACT = f"""
robot: mobile_base
inputs: {{image: {{role: image, size: [{SIDE}, {SIDE}], layout: hwc, dtype: uint8}}}}
outputs: {{actions: {{quantity: velocity}}}}
rate_hz: {POLICY_HZ:g}
on_missing: wait
"""
CODE = '''
import numpy


class Counting:
    """Notes the number that each image carries."""

    def __init__(self):
        self.seen = open(%r, 'w', buffering=1)

    def infer(self, inputs):
        first = inputs['image'][0, :4, 0]
        self.seen.write(f'{int.from_bytes(first.tobytes(), "little")}\\n')
        return numpy.zeros((1, 2))
'''


def publish(seconds: float) -> tuple[int, float]:
    """Publish numbered images; return how many, and the longest time one took to leave (ms)."""
    import rclpy
    from sensor_msgs.msg import Image
    node = rclpy.create_node('camera')
    publisher = node.create_publisher(Image, 'image', 10)
    deadline = time.monotonic() + 60
    while publisher.get_subscription_count() == 0:
        if time.monotonic() > deadline:
            raise SystemExit('no subscription on image within 60 s')
        time.sleep(0.05)
    time.sleep(2.0)
    pixels, longest_s = bytearray(os.urandom(SIDE * SIDE * 3)), 0.0
    begin_s, count = time.monotonic(), 0
    while time.monotonic() - begin_s < seconds:
        for place, byte in enumerate((count + 1).to_bytes(4, 'little')):
            pixels[3 * place] = byte
        message = Image(height=SIDE, width=SIDE, encoding='rgb8', step=3 * SIDE)
        message.data = bytes(pixels)
        message.header.stamp = node.get_clock().now().to_msg()
        before_s = time.monotonic()
        publisher.publish(message)
        longest_s = max(longest_s, time.monotonic() - before_s)
        count += 1
        time.sleep(max(0.0, begin_s + count / IMAGE_HZ - time.monotonic()))
    time.sleep(1.0)
    node.destroy_node()
    return count, longest_s * 1e3


def main(seconds: float) -> None:
    """Run the node, publish, and print what it saw."""
    os.environ.update(ROS_DOMAIN_ID=DOMAIN, ROS_AUTOMATIC_DISCOVERY_RANGE='LOCALHOST')
    with TemporaryDirectory() as folder:
        seen, code = Path(folder) / 'seen', Path(folder) / 'counting_policy.py'
        code.write_text(CODE % str(seen))
        (Path(folder) / 'policy.yaml').write_text(CONTRACT)
        command = [sys.executable, '-m', 'safety_scenarios.ros.nodes.policy_node', '--ros-args',
                   '-p', 'model:=python:counting_policy:Counting', '-p', 'autostart:=true',
                   '-p', 'robot.kind:=mobile_base', '-p', 'robot.max_speed:=1.0']
        paths = os.pathsep.join([folder, os.environ.get('PYTHONPATH', '')])
        with subprocess.Popen(command, cwd=folder,
                              env={**os.environ, 'PYTHONPATH': paths}) as running:
            try:
                import rclpy
                rclpy.init()
                sent, longest_ms = publish(seconds)
                rclpy.shutdown()
            finally:
                running.terminate()
                running.wait(20)
        numbers = {int(line) for line in seen.read_text().split()} - {0}
    lost = sorted({*range(1, sent + 1)} - numbers)
    rmw = os.environ.get('RMW_IMPLEMENTATION', 'the default middleware')
    sys.stdout.write(f'images of {SIDE} x {SIDE} x 3 at {IMAGE_HZ:g} Hz over {rmw}: sent {sent}, '
                     f'seen {len(numbers)}, not seen {len(lost)} {lost[:10]}; longest publish '
                     f'{longest_ms:.1f} ms\n')


if __name__ == '__main__':
    main(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS)
