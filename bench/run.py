# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
``make bench``: measure the product on this machine, print every figure, write results.json.

Every ratio is of one run in which its two sides took turns. A missed target is printed as missed;
the exit code says only whether everything could be measured.
"""

import argparse
from collections.abc import Callable, Iterator
import json
from pathlib import Path
import sys
import time
from typing import Any

from are_traces import against_are
from campaigns import loopback, over_dds
from evaluator import Evaluator, evaluator, HERE
from figures import Figure, table
from machine import Machine
from reaction import echo, known_delays
from safety_scenarios.campaign.process import interruptible
from safety_scenarios.reports.console_report import console, show
from temporal import temporal
from throughput import by_topics, many_topics, one_topic
from world import against_real_time

Section = tuple[str, Callable[[], list[Figure]]]


def sections(measuring: Evaluator | None, quick: bool) -> Iterator[Section]:
    """Yield what is measured while the evaluator runs, in order."""
    yield 'An echo against the bare round trip', lambda: echo(
        measuring, *((1, 20) if quick else (10, 150)))
    yield 'Error against known delays', lambda: known_delays(
        measuring, *((1, 10) if quick else (10, 30)))
    yield 'Four topics at once', lambda: many_topics(
        measuring, *((0.5, 1.5) if quick else (20.0, 60.0)))
    yield 'One topic', lambda: one_topic(measuring, *((0.5, 0.5) if quick else (10.0, 5.0)))
    yield 'By number of command topics', lambda: by_topics(
        measuring, *((1, 0.5) if quick else (2, 5.0)))


def campaigns(quick: bool) -> Iterator[Section]:
    """Yield what campaigns in processes of their own take."""
    yield 'Campaigns in loopback', lambda: loopback((1, 10) if quick else (1, 10, 100, 1000))
    yield 'The embedded world', lambda: against_real_time(*((1, 2) if quick else (5, 20)))
    yield 'A campaign over DDS', lambda: over_dds(2 if quick else 10)
    yield 'Signal temporal logic', lambda: temporal(1 if quick else 7)
    yield 'ARE traces', lambda: against_are(*((1_000, 1) if quick else (100_000,)))


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--quick', action='store_true', help='short, for a look or a test')
    parser.add_argument('--section', action='append', default=[], metavar='TITLE',
                        help='measure only this one; may be given several times; default: all')
    parser.add_argument('--output', type=Path, default=HERE / 'results.json', metavar='FILE')
    arguments = parser.parse_args()
    titles = [title for title, _ in (*sections(None, True), *campaigns(True))]
    for title in arguments.section:
        if title not in titles:
            parser.error(f'--section: got {title!r}, expected one of: {"; ".join(titles)}')
    interruptible()
    machine, screen, figures = Machine(), console(), list[dict[str, Any]]()

    def measured(title: str, measure: Callable[[], list[Figure]]) -> None:
        begin_s = time.monotonic()
        found = measure()
        show(table(f'{title} ({time.monotonic() - begin_s:.0f} s)', found))
        figures.extend({'section': title, **figure.as_json()} for figure in found)

    def wanted_of(offered: Iterator[Section]) -> Iterator[Section]:
        return (one for one in offered if not arguments.section or one[0] in arguments.section)

    if [*wanted_of(sections(None, True))]:
        with evaluator() as measuring:
            for section in wanted_of(sections(measuring, arguments.quick)):
                measured(*section)
    for section in wanted_of(campaigns(arguments.quick)):
        measured(*section)
    about = machine.as_json()
    arguments.output.write_text(json.dumps(
        {'quick': arguments.quick, **about, 'figures': figures}, indent=2) + '\n',
        encoding='utf-8')
    missed = [figure['name'] for figure in figures if figure['met'] is False]
    wanted = sum(figure['target'] is not None for figure in figures)
    screen.print(f'{wanted - len(missed)} of {wanted} targets met'
                 + (f'; missed: {"; ".join(missed)}' if missed else '')
                 + f'. Others took {about["others_percent"]:g} % of the cores; load '
                 f'{about["host"]["load"][0]:g} before, {about["load_after"][0]:g} after. '
                 f'{arguments.output}', soft_wrap=True)


if __name__ == '__main__':
    try:
        main()
    except KeyboardInterrupt:  # also SIGTERM; everything has been ended by now
        sys.exit(130)
