# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The table of all columns in ``doc/reference/data.md``, from the one place that says what they mean.

``python test/unit/reports/data_page.py`` writes it; a test beside this file holds the page to it.
"""

from itertools import groupby
from pathlib import Path

from safety_scenarios.reports.outputs.rows import dictionary

PAGE = Path(__file__).parents[3] / 'doc' / 'reference' / 'data.md'
BEGIN, END = '<!-- data dictionary: begin -->', '<!-- data dictionary: end -->'
_HEAD = '| column | type | unit | clock | meaning | empty means |\n|---|---|---|---|---|---|'


def tables() -> str:
    """Return one table of Markdown for each table of data."""
    parts = []
    for table, columns in groupby(dictionary(), lambda column: column['table']):
        rows = [f'| `{one["column"]}` | ' + ' | '.join(
            one[key] or '-' for key in ('type', 'unit', 'clock', 'meaning', 'absent')) + ' |'
            for one in columns]
        parts.append(f'### {table}\n\n{_HEAD}\n' + '\n'.join(rows))
    return f'{BEGIN}\n' + '\n\n'.join(parts) + f'\n{END}'


def page() -> str:
    """Return the page with the tables as they are here."""
    before, _, rest = PAGE.read_text(encoding='utf-8').partition(BEGIN)
    return before + tables() + rest.partition(END)[2]


if __name__ == '__main__':
    PAGE.write_text(page(), encoding='utf-8')
