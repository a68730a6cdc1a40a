# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What the encodings of ``sensor_msgs/msg/Image`` with 8 bits a channel mean."""

from collections.abc import Mapping

COLOURS: Mapping[str, str] = {'rgb8': 'RGB', 'bgr8': 'BGR', 'rgba8': 'RGBA', 'bgra8': 'BGRA',
                              'mono8': 'L', '8UC1': 'L'}
"""Encoding to the order of its channels, one letter and one byte each. 8UC3 is not among them: it
does not say which colour is first, and cv_bridge does not convert it either."""
