# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What interlocks listen to: two of them may be told by one topic."""

from types import SimpleNamespace

from safety_scenarios.ros.hil.hardware import Heard, Listening
from safety_scenarios.ros.hil.interlock import Alone, MS, Word
from std_msgs.msg import Bool


class Topics:
    """A node that shows one publisher of a Bool on every topic."""

    def __init__(self):
        self.callbacks = []

    def resolve_topic_name(self, topic):
        """Return a full name."""
        return f'/{topic}'

    def get_publishers_info_by_topic(self, topic):
        """Return the one publisher."""
        return [SimpleNamespace(topic_type='std_msgs/msg/Bool', endpoint_gid=[7] * 16)]

    def create_subscription(self, kind, topic, callback, profile):
        """Keep whom a message goes to."""
        self.callbacks.append(callback)


def test_two_interlocks_hear_one_topic():
    node, words = Topics(), [Word('/status', 500 * MS), Word('/status', 500 * MS)]
    listening = Listening(node, [('status', Heard(word, word.take)) for word in words], Alone())
    listening.look()
    listening.look()
    assert len(node.callbacks) == 2
    for callback in node.callbacks:
        callback(Bool(data=True))
    assert [word.message.data for word in words] == [True, True]
