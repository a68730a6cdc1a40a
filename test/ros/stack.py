# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
A stack that moves when it is asked to: ``stack.py LOG`` serves ``enable`` and ``navigate``.

What is asked of it goes into the file LOG, a line each. The action needs the package test_msgs.
"""

import sys
import time

import rclpy
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import SetBool

try:
    from test_msgs.action import Fibonacci
except ImportError:
    Fibonacci = None


class Stack(Node):
    """Answers at once, and pursues a goal until it is cancelled."""

    def __init__(self, log):
        super().__init__('stack')
        self._log = log
        self.create_service(SetBool, 'enable', self._enable)
        if Fibonacci is not None:
            self._server = ActionServer(
                self, Fibonacci, 'navigate', self._pursue, cancel_callback=lambda goal:
                CancelResponse.ACCEPT, callback_group=ReentrantCallbackGroup())

    def _enable(self, request, response):
        self._note(f'enable {request.data}')
        response.success = request.data
        return response

    def _pursue(self, goal):
        self._note(f'goal {goal.request.order}')
        while not goal.is_cancel_requested and rclpy.ok():
            time.sleep(0.02)
        goal.canceled()
        self._note('cancelled')
        return Fibonacci.Result()

    def _note(self, text):
        self._log.write(f'{text}\n')
        self._log.flush()


def main():
    """Serve until somebody ends the process."""
    with open(sys.argv[1], 'w', encoding='utf-8') as log:
        rclpy.init()
        executor = MultiThreadedExecutor(2)
        executor.add_node(Stack(log))
        try:
            executor.spin()
        except (KeyboardInterrupt, ExternalShutdownException):
            pass


if __name__ == '__main__':
    main()
