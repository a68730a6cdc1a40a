# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""From a model in SDF to the one shape that a body of the embedded world has; pure."""

from collections.abc import Sequence
import math
from xml.etree import ElementTree

from safety_scenarios.scenario.world.body import Solid

LONGEST = 1_000_000
"""Characters of a model."""
ACCEPTED = ('an SDF model with <static>true</static> and one link, whose one collision is an '
            'upright <cylinder> or <box> over its origin, and which a <visual> of the same shape '
            'lets scanners see')
_LEAST_M, _MOST_M = 0.001, 100.0
_NEAR = 1e-6


class FormatError(ValueError):
    """It is not SDF."""


class ContentError(ValueError):
    """It is SDF, of something that this world cannot have."""


def read_sdf(text: str) -> tuple[str, Solid]:
    """
    Return name and shape of a model.

    :raises FormatError: it is something else than SDF
    :raises ContentError: it has more, or something else, than one upright shape
    :raises ValueError: it cannot be read
    """
    if len(text) > LONGEST:
        raise ValueError(f'got {len(text)} characters, expected at most {LONGEST}')
    if '<!DOCTYPE' in text or '<!ENTITY' in text:
        raise ValueError('got a DOCTYPE, expected none')
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ValueError(f'got {text[:40]!r}, which is no XML: {error}, expected {ACCEPTED}'
                         ) from None
    if root.tag != 'sdf':
        raise FormatError(f'got <{root.tag}>, expected <sdf>: {ACCEPTED}')
    model = _one(root, 'model')
    if (model.findtext('static') or '').strip() not in ('true', '1'):
        raise ContentError(f'got a model that is not static, expected {ACCEPTED}: a body stands '
                           f'where it is put')
    for tag in ('joint', 'model', 'include'):
        if model.find(tag) is not None:
            raise ContentError(f'got a <{tag}>, expected {ACCEPTED}')
    link = _one(model, 'link')
    collision = _one(link, 'collision')
    if any(_numbers(link, 'pose', 6)):
        raise ContentError(f'got a link with a pose, expected none: {ACCEPTED}')
    visuals = link.findall('visual')
    found = _shape(collision, is_seen=bool(visuals))
    for visual in visuals:
        if _shape(visual, is_seen=True) != found:
            raise ContentError(f'got a visual of another shape than the collision, expected '
                               f'{ACCEPTED}')
    return model.get('name', ''), found


def _one(parent: ElementTree.Element, tag: str) -> ElementTree.Element:
    found = parent.findall(tag)
    if len(found) != 1:
        raise ContentError(f'got {len(found)} of <{tag}> in <{parent.tag}>, expected {ACCEPTED}')
    return found[0]


def _shape(part: ElementTree.Element, *, is_seen: bool) -> Solid:
    geometry = part.find('geometry')
    shapes = [] if geometry is None else list(geometry)
    if len(shapes) != 1 or shapes[0].tag not in ('cylinder', 'box'):
        kinds = ', '.join(f'<{one.tag}>' for one in shapes) or 'no geometry'
        raise ContentError(f'got {kinds}, expected {ACCEPTED}')
    shape = shapes[0]
    if shape.tag == 'cylinder':
        radius, = _numbers(shape, 'radius', 1)
        height, = _numbers(shape, 'length', 1)
        sizes = (2 * radius, 2 * radius, height)
    else:
        length, width, height = _numbers(shape, 'size', 3)
        sizes = (length, width, height)
    if not all(_LEAST_M <= size <= _MOST_M for size in sizes):
        raise ContentError(f'got a {shape.tag} of {sizes}, expected {_LEAST_M:g} to {_MOST_M:g} m '
                           f'on each side')
    x, y, z, *turned = _numbers(part, 'pose', 6)
    if max(map(abs, (x, y, *turned))) > _NEAR or z - height / 2 < -_NEAR:
        raise ContentError(f'got a {part.tag} beside its origin, tilted, turned or below the '
                           f'floor, expected {ACCEPTED}')
    return Solid('cylinder' if shape.tag == 'cylinder' else 'box', *sizes,
                 max(0.0, z - height / 2), is_seen)


def _numbers(part: ElementTree.Element, tag: str, count: int) -> Sequence[float]:
    """Return numbers of an element; a pose that is left out is none at all."""
    said = part.findtext(tag)
    if said is None and tag == 'pose':
        return (0.0,) * count
    try:
        found = [float(number) for number in (said or '').split()]
    except ValueError:
        found = []
    if len(found) != count or not all(map(math.isfinite, found)):
        raise ContentError(f'<{tag}> of <{part.tag}>: got {(said or "nothing")[:60]!r}, expected '
                           f'{count} numbers')
    return found
