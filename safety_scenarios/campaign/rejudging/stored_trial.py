# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""One trial of a campaign by its name, judged again, or from a recorded bag."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
import re
from typing import Any, NoReturn

from safety_scenarios import registry
from safety_scenarios.campaign.folder.evidence import Evidence
from safety_scenarios.campaign.folder.files import files_of, journal_path, plan_sha256, terms_of
from safety_scenarios.campaign.folder.folder import MANIFEST, RunFolder, TRIALS
from safety_scenarios.campaign.folder.provenance import provenance, versions
from safety_scenarios.campaign.rejudging.repair import killed
from safety_scenarios.campaign.statistics.summarise import summarise
from safety_scenarios.errors import counted, did_you_mean, InputError, SettingsError
from safety_scenarios.formats.scenario_files import portable, portable_name
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.findings.harness import doubted
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import EXTERNAL, RunSettings
from safety_scenarios.scenario.untrusted_text import read_json
from safety_scenarios.trial.identity import digest
from safety_scenarios.trial.journal import planned_entries, read_journal, unfinished
from safety_scenarios.trial.on_robot import on_robot
from safety_scenarios.trial.plan import plan, unvaried
from safety_scenarios.trial.trial import PlannedTrial, TrialRecord

_FEW = 4
"""Trials that a message names."""


def named(plan: Sequence[PlannedTrial], name: str) -> PlannedTrial:
    """
    Return the trial of a plan that somebody means.

    :param name: its number in the list of ``show``, its id or the beginning of one, the id of a
        scenario for its first trial, or ``SCENARIO:INDEX``
    :raises SettingsError: there is none, or more than one
    """
    by_id = {trial.trial_id: trial for trial in plan}
    if name in by_id:
        return by_id[name]
    of_scenario = sorted((trial for trial in plan if trial.scenario_id == name),
                         key=lambda trial: (trial.index < 0, trial.index))
    if of_scenario:
        return of_scenario[0]
    if re.fullmatch(r'[+-]?[0-9]{1,9}', name):
        if 1 <= int(name) <= len(plan):
            return plan[int(name) - 1]
        raise SettingsError(f'TRIAL: got {name}, expected a number from 1 to {len(plan)}, the id '
                            f'of a trial, or SCENARIO:INDEX. {counted(len(plan), "trial")} '
                            f'{"is" if len(plan) == 1 else "are"} in this campaign')
    scenario, _, index = name.rpartition(':')
    if scenario and re.fullmatch(r'-?[0-9]{1,9}', index):
        found = [trial for trial in plan if trial.index == int(index)
                 and trial.scenario_id == scenario]
        last = max((trial.index for trial in plan if trial.scenario_id == scenario), default=-1)
        if last >= 0 and not found:
            raise SettingsError(f'TRIAL: got {name!r}, expected {scenario}:0 to '
                                f'{scenario}:{last}. The index counts from 0')
    else:
        found = [trial for trial in plan if name and trial.trial_id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise SettingsError(f'TRIAL: got {name}, which are {counted(len(found), "trial")}: '
                            f'{_few(found)}. Name one of them')
    known = [*by_id, *dict.fromkeys(trial.scenario_id for trial in plan)]
    raise SettingsError(f'TRIAL: got {name!r}, expected a trial of this campaign, such as '
                        f'{_few(plan) or "none: it has no trial"}.{did_you_mean(name, known)}')


def _few(trials: Sequence[PlannedTrial]) -> str:
    names = [trial.trial_id for trial in trials[:_FEW]]
    return ', '.join(names) + (', ...' if len(trials) > _FEW else '')


def judged(folder: Path, evidence: Evidence,
           planned: PlannedTrial) -> tuple[TrialRecord, TrialResult, Sequence[str]]:
    """
    Return a trial's record and result, and what is wrong with them: no PASS with that.

    :raises InputError: it has no record
    :raises TraceError: nothing of its record can be read
    """
    settings, place = evidence.settings, journal_path(planned.trial_id)
    terms = '' if settings.plan is None else terms_of(
        settings.raw, settings.controller, plan_sha256(settings.plan), settings.version,
        settings.sut)
    path, damage = folder / place, list[str]()
    if path.exists():
        record = read_journal(path, registry.resolve, planned=planned, campaign=terms,
                              damage=damage)
        damage = [text.replace(f'{folder}/', '') for text in damage]
    elif unfinished(path).exists():
        record = killed(read_journal(unfinished(path), registry.resolve, planned=planned,
                                     campaign=terms, partial=True, damage=damage))
        damage.append(f'{place}: the trial never ended, this is what there is of it')
    else:
        _refuse_without_record(evidence, planned)
    by = settings.run.judged_by
    result = evaluate(record, by.gate, by.words, by.subject)
    damage += _changed(folder, place)
    line = evidence.lines.get(planned.trial_id)
    if line is not None and not damage:
        is_ours = settings.version == versions()['safety_scenarios']
        is_same = line.text == result.model_dump_json() if is_ours \
            else line.result.verdict is result.verdict
        if not is_same:
            damage.append(f'{line.place} says {line.result.verdict.value}, and not what the '
                          f'record gives')
    return record, doubted(result, damage) if damage else result, damage


def _refuse_without_record(evidence: Evidence, planned: PlannedTrial) -> NoReturn:
    line = evidence.lines.get(planned.trial_id)
    why = 'it was not run' if line is None else f'{TRIALS} says of it: {line.result.reason}'
    raise InputError(f'{planned.trial_id}: got no record, expected '
                     f'{journal_path(planned.trial_id)}: {why}. Name another trial')


def _changed(folder: Path, place: str) -> Sequence[str]:
    """Return that a record is another than the one that the campaign wrote."""
    try:
        known = read_json((folder / MANIFEST).read_bytes())
        expected = known.get(place) if isinstance(known, dict) else None
        found = digest(folder / place)
    except (OSError, ValueError):
        return ()  # of a campaign that never ended; verify tells it
    return () if expected in (None, found) else (f'{place}: changed, by the manifest',)


LINK = 'bag'
"""What the folder says of where the events came from: over no link of ours."""


def judge_bag(bag: Path, scenario: Scenario, onset: str, settings: RunSettings, *,
              output: Path | None = None) -> TrialResult:
    """
    Judge a recording that somebody else made, on a real robot.

    :param onset: ``TOPIC:FIELD[:REDUCE] <= NUMBER``, when the hazard is there
    :param output: new folder for all that a campaign of this one trial leaves; None: no files
    :raises InputError: an onset or a scenario that does not fit
    :raises TraceError: no bag, or without what the scenario needs
    """
    from safety_scenarios.trial.mcap.bag import Onset, read_bag
    settings = portable(settings).model_copy(update={
        'controller': EXTERNAL, 'controller_label': bag.stem, 'link': LINK,
        'calibration': 'off', 'output': '' if output is None else portable_name(str(output))})
    spec = ControllerSpec(name=EXTERNAL, label=bag.stem)
    [scenario] = on_robot(settings, [scenario])
    [trial] = plan([unvaried(scenario)], controller=spec, trials=1, seed=0,
                   prompt=registry.resolve('stimuli', 'prompt')())
    record = read_bag(bag, trial, Onset.parse(onset), full_name=settings.names.full)
    result = evaluate(record, settings.gate, settings.words, settings.subject)
    if output is not None:
        told = provenance(settings, spec, [scenario], {}, planned_entries([trial]))
        _write(output, settings, record, result, {
            **told, 'recording': {'path': portable_name(str(bag)), 'onset': onset,
                                  'sha256': _hashes(bag)}})
    return result


def _write(output: Path, settings: RunSettings, record: TrialRecord, result: TrialResult,
           told: dict[str, Any]) -> None:
    """Write what a campaign of this one trial would have left, so that it can be judged again."""
    spec = ControllerSpec(name=EXTERNAL, label=settings.controller_label)
    with closing(RunFolder(files_of(
            settings, output, controller=spec,
            plan=plan_sha256(planned_entries([record.trial]))))) as folder:
        folder.write_settings(told)
        for sink in folder.sinks(record.trial):
            for event in record.events:
                sink.add(event)
        folder.trial_ended(record, result)
        folder.campaign_ended(summarise(
            [result], controller=spec,
            link=LINK, seed=0, planned=1, interrupted=False))


def _hashes(bag: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a recording."""
    files = [bag] if bag.is_file() else sorted(path for path in bag.rglob('*') if path.is_file())
    return {path.name: digest(path) for path in files}
