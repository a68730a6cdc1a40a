# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Write the results of the last ``make bench`` into ``bench/README.md``, between its marks."""

from collections.abc import Iterator
import json
from typing import Any

from evaluator import HERE
from figures import number

DOCUMENT = HERE / 'README.md'
BEGIN, END = '<!-- results: begin -->\n', '<!-- results: end -->\n'
WHOLE = ('By number of command topics', 'Campaigns in loopback', 'The embedded world',
         'A campaign over DDS')
"""Sections of which every figure is shown; of the others those with a target, and these."""
ALSO = (
    'echo: by callback / bare round trip, p50', 'echo: by callback / bare round trip, p99',
    'bare round trip, p50', 'of that, idle: way to the responder, p50',
    'of that, idle: the responder is late, p50', 'error by callback, idle, p99',
    'error by callback, 5 ms callbacks, p99', 'error by callback, busy thread, p99',
    '4 topics at 1 kHz: CPU a message', '4 topics at 1 kHz: memory a message',
    'sustained on one topic')


def rows(results: dict[str, Any]) -> Iterator[str]:
    """Yield the machine in a line, and the table."""
    host, ros = results['host'], results['ros']
    yield (f'{results["made"]}, commit {results["commit"]}: {host["cpu"]}, {host["cores"]} cores, '
           f'Python {host["python"]}, rclpy {results["versions"]["rclpy"]}, {ros["rmw"]}, '
           f'{ros["executor"]}; load {host["load"][0]:g} before, {results["load_after"][0]:g} '
           f'after, others took {results["others_percent"]:g} % of the cores'
           + (' (a quick run: too few observations to judge by)' if results['quick'] else ''))
    yield ''
    yield '| figure | value | unit | n | target | |'
    yield '|---|---:|---|---:|---|---|'
    for figure in results['figures']:
        if figure['target'] or figure['section'] in WHOLE or figure['name'] in ALSO:
            met = {None: '', True: 'met', False: '**missed**'}[figure['met']]
            yield (f'| {figure["name"]} | {number(figure["value"])} | {figure["unit"]} | '
                   f'{figure["n"]} | {figure["target"] or ""} | {met} |')


def main() -> None:
    """Replace what stands between the marks."""
    results = json.loads((HERE / 'results.json').read_text(encoding='utf-8'))
    before, _, rest = DOCUMENT.read_text(encoding='utf-8').partition(BEGIN)
    after = rest.partition(END)[2]
    text = '\n'.join(rows(results))
    DOCUMENT.write_text(f'{before}{BEGIN}\n{text}\n\n{END}{after}', encoding='utf-8')


if __name__ == '__main__':
    main()
