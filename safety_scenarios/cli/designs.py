# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Locked designs: ``plan --lock``, ``run --design``, and what ``report`` says of one."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.signals import interruptible, uninterrupted
from safety_scenarios.cli.echo import echo
from safety_scenarios.cli.matrix import observed, show_done, write_page
from safety_scenarios.errors import counted, SettingsError
from safety_scenarios.reports.design_text import answer_lines, lock_lines
from safety_scenarios.studies.designs.answer import Answer, answer, is_locked
from safety_scenarios.studies.designs.design import key_path, lock_path, LOCKED
from safety_scenarios.studies.designs.locking import lock_design, locked_plan
from safety_scenarios.studies.designs.sealing import go_on, is_sealed, seal, trials_by_code, unseal
from safety_scenarios.studies.matrix.plan import PlannedArm
from safety_scenarios.studies.matrix.run import run_matrix
from safety_scenarios.trial.session import Observer


def lock(file: Path) -> None:
    """Lock a design and say what was locked."""
    locked = lock_design(file)
    for text in lock_lines(locked):
        echo(text)
    echo(f'Lock: {lock_path(file)}' + (f'; key: {key_path(file)}' if locked.codes else ''))
    echo(f'safety-scenarios run --design {file} runs exactly this')


def run_design(file: Path, given: Mapping[str, Any], *, live: bool,
               resume: Path | None = None) -> int:
    """
    Run a locked design and return the exit code: that of its arms.

    :param given: what the command line sets, nested as the settings are
    :param resume: folder of a run of this design that was cut off
    :raises InputError: names everything that is not as it was locked; nothing has been run then
    """
    if live:
        raise SettingsError('--live: got it with --design, expected one controller. Leave it out')
    given = {name: value for name, value in given.items() if name != 'scenarios' or value}
    now = datetime.now(timezone.utc).strftime('%Y%m%d-%H%M%S-%f')
    folder = resume or Path(given.get('output') or Path('runs') / now)
    locked, plan, codes = locked_plan(
        file, {name: value for name, value in given.items() if name != 'output'}, folder)

    @contextmanager
    def watched(arm: PlannedArm) -> Iterator[Sequence[Observer]]:
        write_whole(folder / LOCKED, lock_path(file).read_text(encoding='utf-8').rstrip('\n'))
        with observed(arm) as observers:
            yield observers
    interruptible()
    if not codes:
        done = run_matrix(plan, watched, resumed=resume is not None)
        settings = plan.arms[0].arm.settings
        found = answer(folder)
        tell(found)
        show_done(done, given.get('console', 'normal'), folder, write_page(
            plan, done, settings, list(answer_lines(found))))
        return done.summary.exit_code
    if resume is not None and is_sealed(resume):
        go_on(resume)
    try:
        done = run_matrix(plan, watched, resumed=resume is not None)
    finally:
        if (folder / LOCKED).exists():
            with uninterrupted():
                counts = seal(folder, locked, key_path(file))
    echo(_blinded(folder, counts))
    return done.summary.exit_code


def _blinded(folder: Path, counts: Mapping[str, int]) -> str:
    done = ', '.join(f'{code} {counted(count, "trial")}' for code, count in counts.items())
    return (f'Blinded: {done}. safety-scenarios report {folder} --unblind opens the codes, and '
            f'notes that in the folder')


def opened(folder: Path, unblind: bool) -> bool:
    """
    Return whether the arms of a folder may be looked at; say so where they may not.

    :param unblind: open their codes
    :raises InputError: there are none, or they cannot be opened
    """
    if is_sealed(folder):
        if not unblind:
            echo(_blinded(folder, trials_by_code(folder)))
            return False
        unseal(folder)
    elif unblind:
        raise SettingsError(f'--unblind: got it for {folder}, in which no arm is behind a code; '
                            f'expected the folder of a blinded design')
    return True


def answered(folder: Path) -> Answer | None:
    """Return the answer to the locked question of a folder, and print it; None: there is none."""
    if not is_locked(folder):
        return None
    found = answer(folder)
    tell(found)
    return found


def tell(found: Answer) -> None:
    """Print the answer to a locked question."""
    for text in answer_lines(found):
        echo(text)
