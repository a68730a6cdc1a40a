# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The docstrings of a noun's fields: in its JSON Schema, and as help of options and parameters."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
import inspect
import sys
from typing import Any, get_args, TypeVar

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

_Model = TypeVar('_Model', bound=BaseModel)


class Explained(GenerateJsonSchema):
    """
    Describes each property by the docstring below its field.

    Pydantic can look for these whenever a class is made, which takes half of the time that a
    process of this package needs to begin; a schema is hardly ever wanted.
    """

    def model_schema(self, schema: Any) -> JsonSchemaValue:
        """Return the schema of one noun with its properties described."""
        found = super().model_schema(schema)
        told = explanations(schema['cls'])
        for name, described in found.get('properties', {}).items():
            if name in told:
                described.setdefault('description', told[name])
        return found


def explanations(model: type[BaseModel]) -> Mapping[str, str]:
    """Return the docstrings of a model's fields, by the names that its files give them."""
    written: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel):
            written.update(_classes(base.__module__).get(base.__qualname__, {}))
    return {field.alias or name: field.description or written[name]
            for name, field in model.model_fields.items() if name in written}


def described(model: type[_Model]) -> type[_Model]:
    """
    Return a model whose fields, and those of the models in it, are described by their docstrings.

    Only who shows them needs it: pydantic's ``use_attribute_docstrings`` looks for them whenever
    a process begins.
    """
    if model not in _DESCRIBED:
        _describe(model)
    return model


_DESCRIBED = set[type[BaseModel]]()


def _describe(model: type[BaseModel]) -> None:
    _DESCRIBED.add(model)
    told = explanations(model)
    for name, field in model.model_fields.items():
        field.description = told.get(field.alias or name, field.description)
        for inner in _models_in(field.annotation):
            described(inner)


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_in(inner)


@cache
def _classes(module: str) -> Mapping[str, Mapping[str, str]]:
    """Return the docstrings below the fields of each class of a module; none without source."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError, KeyError):
        return {}
    return {node.name: dict(_fields(node)) for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)}


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, below in zip(node.body, node.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) \
                and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) \
                and isinstance(below.value.value, str):
            yield field.target.id, inspect.cleandoc(below.value.value)
