# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A controller that stops for people on the floor, by the pictures of a camera alone."""

from typing import ClassVar

import numpy
import safety_scenarios as ss


class Looks(ss.ControllerPlugin):
    """Stops while clothes in bright colours are on the floor, near and ahead."""

    inputs: ClassVar = {'image': 'sensor_msgs/msg/Image',
                        'camera_info': 'sensor_msgs/msg/CameraInfo'}
    height: float = 0.9  # of the camera above the floor (m), and how far it looks down (rad)
    pitch: float = 0.35
    near: float = 2.6  # ahead, and to each side: where it stops for somebody (m)
    beside: float = 0.9

    def decide(self, observation):
        image, info = map(observation.readings.get, ('image', 'camera_info'))
        is_clear = image is not None and info is not None and image.age_ns < 250_000_000 \
            and not self.sees(image.message, info.message.at('k'))
        return ss.Command(velocity=(0.8 if is_clear else 0.0, 0.0))

    def sees(self, image, k):
        pixels = numpy.array(image.at('data'), float).reshape(image.at('height'), -1, 3)
        red, blue = pixels[:, :, 0], pixels[:, :, 2]
        down, right = numpy.nonzero((red > 60) & (blue < 0.2 * red))
        below = self.pitch + numpy.arctan((down - k[5]) / k[4])
        low = below > 0.05
        ahead = self.height / numpy.tan(below[low])
        left = (k[2] - right[low]) / k[0] * numpy.hypot(ahead, self.height)
        return bool(((ahead < self.near) & (abs(left) < self.beside)).any())
