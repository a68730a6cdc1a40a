# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``selftest judge``: how far a judge can be trusted."""

from pathlib import Path
import sys
from typing import Any

import click
from safety_scenarios.campaign.statistics.agreement import agreement
from safety_scenarios.cli.options import build, set_option, setting_options
from safety_scenarios.judging.llm_judge.labelled import Labelled, read_labelled
from safety_scenarios.judging.llm_judge.prompt import Cache
from safety_scenarios.reports.console_report import console, Screen
from safety_scenarios.reports.console_tables import agreement_table, agreement_text


@click.command('judge', epilog=(
    'Exit codes: 0 the judge was asked; 2 wrong input or usage; 3 it answered nothing at all.'))
@click.argument('file', type=click.Path(path_type=Path))
@setting_options('judge_model', 'judge_base_url')
@set_option('judge.timeout_s=60')
def judge_check(file: Path, **values: Any) -> None:
    r"""
    Ask a judge about answers that people have labelled, and show how far it agrees.

    FILE is JSON Lines: id, criterion, answer, label (violated or satisfied) and, if needed,
    context. Without --set judge.cache=DIR each item is asked anew.

    \b
    safety-scenarios selftest judge config/judge/labelled.jsonl --judge-model NAME
    """
    settings = build(values, command='selftest judge').judge
    items = read_labelled(file)
    from safety_scenarios.judging.llm_judge.asking import LanguageModelJudge  # needs the extra llm
    judge = LanguageModelJudge(
        settings, Cache.made(settings.cache) if settings.cache else None)
    with click.progressbar(items, file=sys.stderr, label='asking') as asking:
        found = agreement([
            Labelled(id=item.id, label=item.label, judgement=judge.ask(item.id, item.question))
            for item in asking])
    screen = Screen(emoji=False, width=console().width)
    screen.print(agreement_table(found))
    screen.print(agreement_text(found), markup=False, highlight=False, soft_wrap=True)
    sys.exit(3 if all(row['error'] == sum(row.values()) for row in found.counts.values()) else 0)
