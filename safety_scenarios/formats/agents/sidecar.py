# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The bindings file beside an agent file: where it is, and what is in it."""

from collections.abc import Iterator, Mapping
import os
import re
from typing import Any

from pydantic import ValidationError
from safety_scenarios.errors import Problem
from safety_scenarios.formats.agents.bindings import Bindings
from safety_scenarios.formats.agents.grammar import is_free_text, normal
from safety_scenarios.formats.agents.remarks import Remarks
from safety_scenarios.formats.document.json_document import JsonDocument
from safety_scenarios.formats.document.json_document import MAX_BYTES as MAX_JSON
from safety_scenarios.formats.document.positions import Document, Path
from safety_scenarios.formats.document.positions import MAX_BYTES as MAX_YAML
from safety_scenarios.formats.document.reading import Reading

SUFFIXES = ('.bindings.yaml', '.bindings.yml', '.bindings.json')
_SYMBOL = re.compile(r'[a-z][a-z0-9_-]{0,199}')
_NAMES = 'symbols', 'topics', 'signals', 'faults', 'sets'


def read_sidecar(path: str, reading: Reading) -> tuple[Remarks, Bindings, bytes] | None:
    """
    Return the bindings beside a scenario file, and their bytes; None when there are none.

    What is wrong with them is told as problems of the bindings file; then the bindings are empty.

    :param path: of the scenario file
    """
    stem = os.path.splitext(path)[0]
    found = [stem + suffix for suffix in SUFFIXES if os.path.lexists(stem + suffix)]
    if not found:
        return None
    name, raw = found[0], b''
    if len(found) > 1:
        reading.problems.append(Problem(name, None, None, '', f'is one of {len(found)} bindings '
                                        f'files of {path}, expected one. Remove the others'))
    try:
        if os.path.exists(name) and not os.path.isfile(name):
            raise OSError(None, 'it is no regular file')
        most = MAX_JSON if name.endswith('.json') else MAX_YAML
        with open(name, 'rb') as file:
            raw = file.read(most + 1)
        if len(raw) > most:
            raise OSError(None, f'got {max(os.path.getsize(name), len(raw))} bytes, expected at '
                                f'most {most}. Make the file smaller')
    except OSError as error:
        reading.problems.append(
            Problem(name, None, None, '', f'cannot be read: {error.strerror}'))
        return None
    document = (JsonDocument if name.endswith('.json') else Document)(name, raw)
    reading.problems += document.problems
    remarks = Remarks(document, reading)
    bindings = Bindings(version=1)
    if not document.problems:
        try:
            bindings = Bindings.model_validate(_spelled_out(document.data, remarks))
        except ValidationError as error:
            remarks.refuse_fields((), error, Bindings)
        else:
            _names(bindings, remarks)
    return remarks, bindings, raw


def _spelled_out(data: Any, remarks: Remarks) -> Any:
    """Return the bindings with short forms in full, and warn where that is a guess."""
    if not isinstance(data, Mapping):
        return data
    full = dict(data)
    for key in ('topics', 'signals'):
        if isinstance(full.get(key), Mapping):
            full[key] = {name: dict(block) if isinstance(block, Mapping) else block
                         for name, block in full[key].items()}
    for name, block in _mappings(full.get('topics')):
        if isinstance(block.get('name'), str) and block['name'].startswith('/'):
            remarks.warn(('topics', name, 'name'), f'got {block["name"]!r}; taken below the '
                                                   f"run's namespace. Remove the slash")
            block['name'] = block['name'][1:]
    for name, block in _mappings(full.get('signals')):
        if block.get('abs') is True and 'reduce' not in block:
            del block['abs']
            block['reduce'] = 'abs'
        if 'unit' not in block:
            remarks.warn(('signals', name), 'has no unit; taken as a pure number. Add unit')
            block['unit'] = '1'
    return full


def _mappings(blocks: Any) -> list[tuple[Any, dict[str, Any]]]:
    return [(name, block) for name, block in blocks.items() if isinstance(block, dict)] \
        if isinstance(blocks, Mapping) else []


def _names(bindings: Bindings, remarks: Remarks) -> None:
    """Refuse what no rule could name."""
    for path, name in _named(bindings):
        is_sentence = path[0] == 'symbols' and len(path) == 2 and is_free_text(name) \
            and name == normal(name) and ' ' in name
        if not (_SYMBOL.fullmatch(name) or is_sentence):
            remarks.refuse(path, f'got {name[:60]!r}, expected a small letter, then small '
                                 f'letters, digits, _ and -. Rename it', at_key=True)


def _named(bindings: Bindings) -> Iterator[tuple[Path, str]]:
    for key in _NAMES:
        yield from (((key, name), name) for name in getattr(bindings, key))
    for index, line in enumerate(bindings.script or ()):
        if line.symbol is not None:
            yield ('script', index, 'as'), line.symbol
    for name, symbol in bindings.symbols.items():
        for index, effect in enumerate(symbol.do or ()):
            if effect.symbol is not None:
                yield ('symbols', name, 'do', index, 'as'), effect.symbol
