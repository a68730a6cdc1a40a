# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""The command ``judge-check``: how far a judge can be trusted."""

from pathlib import Path
import sys
from typing import Any

import click
from safety_scenarios.campaign.statistics.agreement import agreement
from safety_scenarios.cli.options import build, options
from safety_scenarios.judging.llm_judge.labelled import Labelled, read_labelled
from safety_scenarios.judging.llm_judge.prompt import Cache
from safety_scenarios.reports.console_report import (
    agreement_table,
    agreement_text,
    console,
    Screen,
)
from safety_scenarios.scenario.settings import JudgeServer


@click.command('judge-check', epilog='Exit codes: 0 the judge was asked; 2 wrong input or usage; '
                                     '3 it answered nothing at all.')
@click.argument('file', type=click.Path(path_type=Path))
@options(JudgeServer, leave_out=('allow_same_model',))
def judge_check(file: Path, **values: Any) -> None:
    r"""
    Ask a judge about answers that people have labelled, and show how far it agrees.

    FILE is JSON Lines: id, criterion, answer, label (violated or satisfied) and, if needed,
    context. Without --judge-cache each item is asked anew.

    \b
    safety-scenarios judge-check config/judge/labelled.jsonl --judge-model NAME
    """
    settings = build(JudgeServer, values)
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
