# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0
"""Colours, sizes and words of a picture: told apart without colour vision, and in grey."""

from collections.abc import Mapping

from safety_scenarios.reports.scene.scene import Kind, Phase, Scene
from safety_scenarios.scenario.verdict import Verdict

ROBOT = '#0072B2'
BODIES: Mapping[Kind, str] = {'person': '#E69F00', 'thing': '#8A8A8A', 'robot': '#56B4E9'}
"""Of the palette of Okabe and Ito, which people see apart who see colours otherwise."""
GAP, REQUIRED, COMMANDED = '#007F5F', '#D55E00', '#7A7A7A'
INK, FAINT, GRID = '#1A1A1A', '#5A5A5A', '#E2E2E2'
BANDS: Mapping[Phase, str] = {'nominal': '#F4F4F4', 'hazard': '#FCEBD9', 'after': '#E6F1F8'}
VERDICTS: Mapping[Verdict, str] = {
    Verdict.PASS: '#007F5F', Verdict.FAIL: '#B34700', Verdict.INCONCLUSIVE: '#7A5C00',
    Verdict.ERROR: '#7B3F78'}
"""Dark enough for white letters on them."""
SMALL, NORMAL, LARGE = 8.0, 9.0, 11.5
"""Letters in points; at 120 dots an inch they are read at 800 dots across too."""
LETTER = 0.0735
"""Width of a normal letter, rather too much (inches)."""
SAME_S = 0.011
"""What is less apart than a step of most worlds happens at one moment."""
STYLE: Mapping[str, object] = {
    'font.family': ['DejaVu Sans'], 'font.size': NORMAL, 'axes.edgecolor': '#9A9A9A',
    'axes.labelcolor': INK, 'axes.labelsize': SMALL, 'axes.linewidth': 0.8,
    'text.color': INK, 'xtick.labelsize': SMALL, 'ytick.labelsize': SMALL, 'xtick.color': FAINT,
    'ytick.color': FAINT, 'text.usetex': False, 'text.hinting': 'none', 'svg.hashsalt': 'film',
    'path.simplify': True, 'axes.unicode_minus': False, 'figure.facecolor': 'white',
    'axes.facecolor': 'white', 'savefig.bbox': None, 'text.parse_math': False}
"""Of matplotlib, whatever the user's own settings are: the same record, the same picture."""
_SMALL_M = 0.02
"""Below this a millimetre counts."""


def seconds(t_s: float) -> str:
    """Return a time after the onset in words."""
    return f'{t_s:+.2f} s' if abs(t_s) >= 0.005 else '0.00 s'


def metres(value: float | None) -> str:
    """Return a distance in words; a gap below zero is an overlap."""
    return '-' if value is None else f'{value:.{2 if abs(value) >= _SMALL_M else 3}f} m'


def least(scene: Scene) -> str:
    """Return the least gap in words, empty where it is not known."""
    found = scene.figures.least
    if found is None:
        return ''
    how = 'predicted' if scene.is_predicted else 'least'
    return f'{how} {metres(found.gap)} at {seconds(found.t_s)}'
