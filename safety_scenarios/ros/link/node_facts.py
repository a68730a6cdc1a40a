# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What external nodes say of themselves: their interfaces and parameters."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import hashlib
import re
import time
from typing import Any

from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from safety_scenarios.errors import USER_INFO
from safety_scenarios.ros.link.processes import full_node_name, UNNAMED
from safety_scenarios.trial.identity import NodeFacts

MOST_NODES, MOST_PARAMETERS, LONGEST_VALUE = 20, 500, 300
MASKED = '(masked)'
_TIMEOUT_S = 2.0
"""For all questions to one node; one that did not answer is not asked again."""
_POLL_S = 0.01
_SECRET = re.compile(r'pass(w|phrase|code)|pwd|secret|token|credential|auth|private|'
                     r'(^|[._-])key($|[._-])|api_?key|access_?key|cert', re.IGNORECASE)


class Witness:
    """
    Asks the nodes that command a robot what they are, and keeps what they said first.

    :param node: spins in another thread
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._first: dict[str, NodeFacts] = {}
        self._noted: dict[str, None] = {}
        self._mute: set[str] = set()

    def look(self, publishers: Iterable[tuple[str, Any]]) -> None:
        """
        Ask whoever publishes on these topics; bounded in time, and between trials only.

        :param publishers: topics with what the graph shows of each publisher there
        """
        found: dict[str, dict[str, str]] = {}
        for topic, info in publishers:
            found.setdefault(full_node_name(info), {})[topic] = _interface(info)
        for name, interfaces in sorted(found.items())[:MOST_NODES]:
            if name in self._mute or name.endswith(UNNAMED):
                continue
            try:
                facts = self._asked(name, interfaces)
            except Exception as error:  # whatever a node answers, its trials are done
                facts = NodeFacts(name=name, interfaces=interfaces,
                                  note=f'its answer cannot be read: {str(error)[:200]}')
            first = self._first.setdefault(name, facts)
            self._noted.update(dict.fromkeys(_different(first, facts)))
            if first.parameters is None and facts.parameters is not None:
                self._first[name] = facts

    def told(self) -> tuple[Sequence[NodeFacts], Sequence[str]]:
        """Return what each node said first, and what it said otherwise later."""
        return tuple(self._first.values()), tuple(self._noted)

    def _asked(self, name: str, interfaces: Mapping[str, str]) -> NodeFacts:
        deadline = time.monotonic() + _TIMEOUT_S
        listed = self._call(ListParameters, f'{name}/list_parameters',
                            ListParameters.Request(), deadline)
        names = sorted(listed.result.names) if listed is not None else []
        asked = names[:MOST_PARAMETERS]
        values = None if listed is None else self._call(
            GetParameters, f'{name}/get_parameters', GetParameters.Request(names=asked), deadline)
        if values is None or len(values.values) != len(asked):
            self._mute.add(name)
            return NodeFacts(name=name, interfaces=interfaces, note=(
                f'did not send its parameters within {_TIMEOUT_S:g} s'))
        return NodeFacts(
            name=name, interfaces=interfaces, parameters={
                known: shown(known, parameter_value_to_python(value))
                for known, value in zip(asked, values.values, strict=True)},
            note=f'{len(names) - len(asked)} more parameters are left out'
            if len(names) > len(asked) else '')

    def _call(self, kind: Any, service: str, request: Any, deadline: float) -> Any:
        """Return an answer, None when there is none in time."""
        client = self._node.create_client(kind, service)
        try:
            while not client.service_is_ready():
                if time.monotonic() >= deadline:
                    return None
                time.sleep(_POLL_S)
            future = client.call_async(request)
            while not future.done():
                if time.monotonic() >= deadline:
                    client.remove_pending_request(future)
                    return None
                time.sleep(_POLL_S)
            return future.result() if future.exception() is None else None
        finally:
            self._node.destroy_client(client)


def shown(name: str, value: Any) -> Any:
    """Return a parameter's value as a file may hold it: no secret, and not without end."""
    if _SECRET.search(name):
        return MASKED
    text = value if isinstance(value, str) else repr(value)
    hidden = USER_INFO.sub(f'{MASKED}@', text)
    if len(text) > LONGEST_VALUE:
        digest = hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()
        return f'{hidden[:LONGEST_VALUE]}... ({len(text)} characters, SHA-256 {digest})'
    if isinstance(value, (bool, int, str)) or value is None:
        return hidden if isinstance(value, str) else value
    return value if isinstance(value, float) and abs(value) < float('inf') else hidden


def _interface(info: Any) -> str:
    """Return a type with the hash of its definition, which Humble does not tell."""
    digest = str(getattr(info, 'topic_type_hash', ''))
    return f'{info.topic_type} {digest}' if digest.startswith('RIHS') else str(info.topic_type)


def _different(first: NodeFacts, now: NodeFacts) -> Iterator[str]:
    if first.interfaces != now.interfaces:
        yield f'{now.name}: published other interfaces later'
    before, after = first.parameters, now.parameters
    if before is None or after is None:
        return
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield (f'{now.name}: parameter {name} was {str(before.get(name))[:80]}, later '
                   f'{str(after.get(name))[:80]}')
