# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Tables in Markdown from JSON Schemas and from docstrings, for the pages of the reference."""

from collections.abc import Iterator, Mapping, Sequence
import inspect
import json
import re
from typing import Any

Schema = Mapping[str, Any]
_LIMITS = {'minimum': '>=', 'exclusiveMinimum': '>', 'maximum': '<=', 'exclusiveMaximum': '<'}
_TYPES = {'number': 'number', 'integer': 'integer', 'string': 'text', 'boolean': 'true, false',
          'object': 'mapping', 'array': 'list', 'null': 'nothing'}


def prose(text: str | None) -> str:
    """Return a docstring as paragraphs of Markdown."""
    parts = re.split(r'(``.+?``|`.+?`)', inspect.cleandoc(text or ''), flags=re.DOTALL)
    parts[::2] = [part.replace('<', '&lt;').replace('*', '\\*') for part in parts[::2]]
    parts[1::2] = [f'`{part.strip("`")}`' for part in parts[1::2]]
    paragraphs = ''.join(parts).split('\n\n')
    return '\n\n'.join(' '.join(one.split()) for one in paragraphs)


def first_sentence(text: str | None) -> str:
    """Return the first paragraph of a docstring."""
    return prose(text).partition('\n\n')[0]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; a cell may hold several lines and signs of a table."""
    lines = [head, ['---'] * len(head), *(
        [' '.join(cell.split()).replace('|', '\\|') for cell in row] for row in rows)]
    return '\n'.join(f'| {" | ".join(line)} |' for line in lines) + '\n'


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')


def properties(schema: Schema, links: Mapping[str, str], skip: Sequence[str] = ()) -> str:
    """
    Return one row for each key of an object, nothing if there is none.

    :param links: name of a definition to its Markdown link
    :param skip: keys that are described elsewhere
    """
    required = schema.get('required', ())
    rows = [(f'`{name}`', _value(one, links), 'required' if name in required else _default(one),
             prose(one.get('description')).replace('\n\n', ' '))
            for name, one in schema.get('properties', {}).items() if name not in skip]
    return table(('key', 'value', 'default', 'meaning'), rows) if rows else ''


def _default(schema: Schema) -> str:
    value = schema.get('default')
    if value in (None, '', [], {}):
        return ''
    return f'`{value if isinstance(value, str) else json.dumps(value)}`'


def _value(schema: Schema, links: Mapping[str, str]) -> str:
    """Return what a key may be: a type, words, a range with its unit, or a link."""
    kinds = list(dict.fromkeys(_kinds(schema, links)))
    unit = schema.get('unit') or next(
        (one['unit'] for one in schema.get('anyOf', ()) if 'unit' in one), '')
    return ', '.join(kinds) + (f' ({unit})' if unit else '')


def _kinds(schema: Schema, links: Mapping[str, str]) -> Iterator[str]:
    if '$ref' in schema:
        name = schema['$ref'].rpartition('/')[2]
        yield links.get(name, name)
    elif 'const' in schema:
        yield f'`{schema["const"]}`'
    elif 'enum' in schema:
        yield from (f'`{value}`' if value != '' else 'empty' for value in schema['enum'])
    elif found := schema.get('anyOf') or schema.get('oneOf'):
        for one in found:
            if one.get('type') != 'null':
                yield from _kinds(one, links)
    elif 'prefixItems' in schema:
        yield f'list of {len(schema["prefixItems"])}'
    elif schema.get('type') == 'array':
        inner = _value(schema.get('items') or {}, links)
        yield f'list of {inner}' if inner else 'list'
    elif isinstance(schema.get('additionalProperties'), Mapping):
        inner = _value(schema['additionalProperties'], links)
        yield f'names to {inner}' if inner else 'mapping'
    elif isinstance(schema.get('type'), str):
        limits = [f'{sign} {schema[key]:g}' for key, sign in _LIMITS.items() if key in schema]
        yield ' '.join([_TYPES[schema['type']], *limits])


def references(schema: Any) -> Iterator[str]:
    """Yield the definitions that a schema names, in its order, at any depth."""
    if isinstance(schema, Mapping):
        if isinstance(schema.get('$ref'), str):
            yield schema['$ref'].rpartition('/')[2]
        for key, inner in schema.items():
            if key != '$defs':
                yield from references(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from references(inner)


def paths(schema: Schema, start: str = '') -> Mapping[str, str]:
    """Return each definition to the first key that leads to it, such as ``ros.robot``."""
    found: dict[str, str] = {}
    waiting: list[tuple[str, Schema]] = [(start, schema)]
    while waiting:
        where, one = waiting.pop(0)
        for key, inner in one.get('properties', {}).items():
            for name in references(inner):
                if name not in found and name in schema.get('$defs', {}):
                    found[name] = f'{where}.{key}' if where else key
                    waiting.append((found[name], schema['$defs'][name]))
                    for one in references(schema['$defs'][name].get('anyOf', [])):
                        if one not in found:
                            found[one] = found[name]
                            waiting.append((found[one], schema['$defs'][one]))
    return found
