# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a worker tells of a test: what it came to, and of its fixtures only what went wrong.

To send that a test begins, that its fixtures were made, that they were ended, and that it ends,
and to hear all that, takes longer than most tests do. It is told all the same where somebody asks
for it: with ``--durations`` and with ``--junitxml``.
"""

from typing import Any

import pytest

_NEVER_ASKED_FOR = ('logstart', 'logfinish')


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let a worker of xdist send what is news; nothing else has what is called ``sendevent``."""
    option = session.config.option
    if option.durations is not None or getattr(option, 'xmlpath', None) is not None:
        return
    for plugin in session.config.pluginmanager.get_plugins():
        if hasattr(session.config, 'workerinput') and hasattr(plugin, 'sendevent'):
            plugin.sendevent = _news(plugin.sendevent)


def _news(send: Any) -> Any:
    def sendevent(name: str, **told: Any) -> None:
        if name not in _NEVER_ASKED_FOR and not (name == 'testreport' and _is_none(told['data'])):
            send(name, **told)
    return sendevent


def _is_none(report: dict[str, Any]) -> bool:
    return report['when'] != 'call' and report['outcome'] == 'passed'
