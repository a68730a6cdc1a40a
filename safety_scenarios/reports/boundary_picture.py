# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A boundary map as a picture; needs matplotlib (extra ``plot``)."""

from pathlib import Path

import numpy
from safety_scenarios.errors import MissingDependencyError, TraceError
from safety_scenarios.studies.search.study import BoundarySearch

try:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
except ImportError:
    raise MissingDependencyError('a picture of a boundary', 'matplotlib',
                                 "pip install 'safety_scenarios[plot]'") from None

_COLOURS = 'RdYlGn_r'
_DPI = 150


def draw_boundary(found: BoundarySearch, path: Path) -> None:
    """
    Draw probability, the 5 % and 95 % lines, and each trial.

    :raises TraceError: it cannot be written
    """
    figure = Figure(figsize=(6.4, 4.8))
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    one, other = (found.space.axes[place] for place in found.axes)
    known = found.found
    sides = [(0.0, float(axis.size)) if axis.size else axis.extent for axis in (one, other)]
    shown = axes.imshow(known.probability.T, origin='lower', aspect='auto', vmin=0, vmax=1,
                        cmap=_COLOURS, extent=(*sides[0], *sides[1]))
    figure.colorbar(shown, label='probability that most trials fail')
    if min(known.probability.shape) > 1:
        middles = [low + (numpy.arange(count) + 0.5) / count * (high - low)
                   for (low, high), count in zip(sides, known.probability.shape)]
        axes.contour(*middles, known.probability.T, levels=[0.05, 0.5, 0.95], colors='black',
                     linestyles=['dotted', 'solid', 'dashed'], linewidths=0.8)
    _trials(axes, found, sides)
    for axis, name, ticks in ((one, axes.set_xlabel, axes.set_xticks),
                              (other, axes.set_ylabel, axes.set_yticks)):
        name(axis.name + (f' ({axis.unit})' if axis.unit else ''))
        if axis.size:
            ticks([place + 0.5 for place in range(axis.size)],
                  [axis.text(place) for place in range(axis.size)])
    axes.set_title(found.scenario_id)
    try:
        figure.savefig(path, dpi=_DPI, metadata={'Software': None})
    except OSError as error:
        raise TraceError(f'{path}: cannot be written: {error.strerror}') from None


def _trials(axes: Axes, found: BoundarySearch, sides: list[tuple[float, float]]) -> None:
    low = numpy.array([side[0] for side in sides])
    wide = numpy.array([side[1] - side[0] for side in sides])
    points = low + found.found.points * wide
    for fails, marker, label in ((False, 'o', 'passes'), (True, 'x', 'fails'),
                                 (None, '_', 'not decided')):
        chosen = points[[one is fails for one in found.found.failing]]
        if len(chosen):
            axes.scatter(chosen[:, 0], chosen[:, 1], marker=marker, s=14, c='black',
                         linewidths=0.8, label=label)
    axes.legend(loc='upper center', bbox_to_anchor=(0.5, -0.13), ncols=3, frameon=False)
