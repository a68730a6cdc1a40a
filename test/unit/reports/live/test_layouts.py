# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The files for RViz, Foxglove and PlotJuggler parse, and name only what is published."""

import ast
import json
from pathlib import Path
import re
from xml.etree import ElementTree

from safety_scenarios.formats.loading import share_folder
import yaml

CONFIG = share_folder() / 'config'
ROS = Path(__file__).resolve().parents[4] / 'safety_scenarios' / 'ros' / 'link' / 'publishing.py'
NODE = '/evaluator_node'


def published():
    """Return the topics that the source of the publisher names, of a node of that name."""
    tree = ast.parse(ROS.read_text(encoding='utf-8'))
    named = next(node for node in tree.body if isinstance(node, ast.Assign)
                 and isinstance(node.targets[0], ast.Tuple)
                 and node.targets[0].elts[0].id == 'DIAGNOSTICS')
    return {topic.replace('~', NODE) for topic in ast.literal_eval(named.value)}


def test_rviz_draws_our_markers_in_the_frame_in_which_they_are_published():
    from safety_scenarios.reports.live.picture import FRAME
    manager = yaml.safe_load((CONFIG / 'rviz' / 'safety_scenarios.rviz').read_text())[
        'Visualization Manager']
    topics = {display['Topic']['Value'] for display in manager['Displays'] if 'Topic' in display}
    assert topics == {f'{NODE}/markers'} <= published()
    assert manager['Global Options']['Fixed Frame'] == FRAME


def test_foxglove_shows_topics_of_ours_and_every_panel_of_the_layout_is_there():
    layout = json.loads((CONFIG / 'foxglove' / 'safety_scenarios.json').read_text())
    named = set(re.findall(r'"(/[a-z_]+(?:/[a-z_]+)*)', json.dumps(layout)))
    assert named == published()

    def panels(part):
        return {part} if isinstance(part, str) else panels(part['first']) | panels(part['second'])
    assert panels(layout['layout']) == set(layout['configById'])


def test_plotjuggler_plots_values_that_the_diagnostics_have():
    root = ElementTree.parse(CONFIG / 'plotjuggler' / 'safety_scenarios.xml').getroot()
    curves = [curve.get('name') for curve in root.iter('curve')]
    assert {topic.get('name') for topic in root.iter('topic')} == {'/diagnostics'} <= published()
    source = ROS.read_text(encoding='utf-8')
    for curve in curves:
        topic, _, rest = curve.partition('/evaluator_node: ')
        status, _, key = rest.partition('/')
        assert topic == '/diagnostics' and f"'{status}'" in source, curve
        assert f"'{key}'" in source or f'{key}=' in source or key in (
            'PASS', 'INCONCLUSIVE', 'ERROR', 'FAIL'), curve
