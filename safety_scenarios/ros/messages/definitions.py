# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Texts of the installed .msg files, found as the ament index finds them; needs no rclpy."""

import os
from pathlib import Path
import re
import sys

_NAME = re.compile(r'([A-Za-z]\w*)/msg/([A-Za-z]\w*)')


def definition(name: str) -> str | None:
    """
    Return the text of the .msg file of an interface.

    It stands below ``share/`` of a prefix in ``AMENT_PREFIX_PATH``, or of the Python environment,
    where the wheels of ROS put it. A type made of an .idl file alone has none.

    :param name: such as ``geometry_msgs/msg/Twist``
    :return: None when no such file is installed
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    listed = os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)
    for prefix in (*filter(None, listed), sys.prefix):
        path = Path(prefix, 'share', match[1], 'msg', f'{match[2]}.msg')
        if path.is_file():
            return path.read_text(encoding='utf-8', errors='replace')
    return None
