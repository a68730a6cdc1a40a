# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Figures for papers: the same bytes each time, and foreign names as text."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from safety_scenarios import run
from safety_scenarios.reports.plots import draw, FIGURES, Plotted
from safety_scenarios.scenario.verdict import LatencyBudget
from unit.conftest import QUICK

HOSTILE = '$x^2$ <script>-- \x1b[31m \u202e \u4e2d \U0001f916 $'


@pytest.fixture(scope='module')
def campaigns():
    budget = LatencyBudget(target_ms=100, acceptable_ms=200, critical_ms=400)
    found = []
    for name, controller in (('good', 'rule_based'), (HOSTILE, 'never_stop')):
        results = run(QUICK, 'SCN-R-D-101', controller=controller, link='loopback')
        summary = results.summary.model_copy(update={'scenarios': tuple(
            row.model_copy(update={'scenario_id': HOSTILE}) for row in results.summary.scenarios)})
        found.append(Plotted(name, summary, results.trials, {HOSTILE: budget}))
    return found


@pytest.mark.parametrize('figure', FIGURES)
def test_a_figure_is_the_same_each_time_and_holds_no_date(figure, campaigns, tmp_path):
    for how in ('svg', 'png'):
        paths = [tmp_path / f'{number}.{how}' for number in (1, 2)]
        for path in paths:
            draw(figure, campaigns, path, how)
        assert paths[0].read_bytes() == paths[1].read_bytes()
    text = (tmp_path / '1.svg').read_text(encoding='utf-8')
    ElementTree.fromstring(text.encode())
    assert '<script>' not in text and '\x1b' not in text and 'dc:date' not in text
    assert Path(tmp_path / '1.png').read_bytes().startswith(b'\x89PNG')


def test_a_reaction_that_never_came_is_told_in_the_figure_and_not_drawn(campaigns, tmp_path):
    draw('latency', campaigns[1:], tmp_path / 'x.svg', 'svg')
    assert '1 without reaction' in (tmp_path / 'x.svg').read_text(encoding='utf-8')


def test_a_hazard_that_was_never_published_is_in_the_figure_of_latencies(tmp_path):
    """A scenario must not vanish from a paper because no trial of it could be judged."""
    results = run('SCN-R-101', controller='always_stop', link='loopback', seed=1)
    row = results.summary.scenarios[0]
    assert row.verdicts.keys() == {'INCONCLUSIVE'} and not row.latency_ms
    draw('latency', [Plotted('x', results.summary, results.trials, {})], tmp_path / 'x.svg', 'svg')
    text = (tmp_path / 'x.svg').read_text(encoding='utf-8')
    assert 'SCN-R-101' in text and '1 not measured' in text


def test_a_failure_without_a_number_is_in_the_figure_of_margins(campaigns, tmp_path):
    draw('margins', campaigns[1:], tmp_path / 'x.svg', 'svg')
    assert 'no number: 1 FAIL, 0 undecided' in (tmp_path / 'x.svg').read_text(encoding='utf-8')


def test_no_campaign_can_be_drawn_as_nothing(tmp_path):
    for figure in FIGURES:
        draw(figure, [], tmp_path / 'x.svg', 'svg')
        assert (tmp_path / 'x.svg').stat().st_size > 1000
