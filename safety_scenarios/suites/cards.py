# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Cards of a run: made of its campaigns, written, read again, and held against them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.folder.folder import MANIFEST, SETTINGS, settings_of
from safety_scenarios.campaign.rejudging.rejudge import flaw_lines, NOT_RUN, rejudge, Rejudging
from safety_scenarios.campaign.statistics.proportions import (
    clustered,
    SIMULATED,
    worst_stratum,
)
from safety_scenarios.errors import in_words, InputError, SettingsError
from safety_scenarios.formats.document.file_contents import bytes_of
from safety_scenarios.formats.scenario_files import share_folder
from safety_scenarios.scenario.fields import flat, read_assignments
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import RunSettings
from safety_scenarios.scenario.untrusted_text import each_key_once, read_json
from safety_scenarios.scenario.verdict import Estimate, Verdict
from safety_scenarios.studies.side_by_side import judging_settings
from safety_scenarios.suites.card import (
    ALL,
    asking,
    Card,
    CardTrial,
    Evidence,
    figures,
    LevelFigures,
)
from safety_scenarios.suites.run import CARDS, Commitment, REACH, read_commitment, seed_from, SUITE
from safety_scenarios.suites.run_statements import contradictions
from safety_scenarios.suites.suite import frozen_scenarios, LEVELS, read_suite, Suite, trials_of
from safety_scenarios.trial.identity import digest
from safety_scenarios.trial.plan import seed_of
from safety_scenarios.trial.summary import CampaignSummary

_ROUNDING = 1e-9
_CONFIDENCE = 0.95
_MOST = 20_000_000
"""Bytes of a card."""
_SIMULATED_TIME = 'simulated time: neither messages nor thinking take any'
_NOT_OF_SUITE = 'not as in the suite: '
_SIMULATORS = ('mujoco', 'external', 'are')


def is_run(folder: Path) -> bool:
    """Return whether a folder is that of a suite's run."""
    return (folder / SUITE).is_file()


def suite_of(folder: Path) -> Suite:
    """
    Return the suite that was run in a folder.

    :raises InputError: the folder is none of a run
    """
    try:
        return Suite.model_validate_json(each_key_once((folder / SUITE).read_bytes()))
    except (OSError, ValueError) as error:
        raise InputError(f'{folder / SUITE}: cannot be read: {in_words(error):.200}. Name the '
                         f'folder that suite run wrote') from None


@dataclass(frozen=True)
class Judged:
    """One controller of a run, by the records of its trials."""

    folder: Path
    """Of its campaign."""
    card: Card
    found: Rejudging

    @property
    def results(self) -> Sequence[TrialResult]:
        """Return the trials that count."""
        return [one.after for one in self.found if not one.after.warmup]


def judged_run(folder: Path) -> Mapping[str, Judged]:
    """
    Return each controller of a run, judged again from the records of its trials.

    :raises InputError: names whatever in the folder is not as the run left it
    """
    suite = suite_of(folder)
    made, opened = read_commitment(folder)
    if made.suite_sha256 != suite.sha256:
        raise InputError(f'{folder / SUITE}: got SHA-256 {suite.sha256[:12]}, expected '
                         f'{made.suite_sha256[:12]} as in the commitment: it was changed')
    scenarios = {one.id: one for one in frozen_scenarios(suite)}
    begun = [name for name in made.controllers if (folder / name / SETTINGS).is_file()]
    if not begun:
        raise SettingsError(f'{folder}: got no campaign, expected one of each controller')
    return {name: _judged(suite, made, opened.salt, folder / name, scenarios) for name in begun}


def _judged(suite: Suite, made: Commitment, salt: str, folder: Path,
            scenarios: Mapping[str, Scenario]) -> Judged:
    found, seed = rejudge(folder), seed_from(salt, suite.sha256)
    settings = settings_of(folder)
    flaws = list(flaw_lines([one for one in found.flaws if not str(one).endswith(NOT_RUN)]))
    results = [one.after for one in found if not one.after.warmup]
    summary, run = found.summary, settings.run
    if run.seed != seed:
        flaws.append(f'{SETTINGS}: got seed {run.seed}, expected {seed} by the commitment')
    trials = tuple(planned_trials(suite, scenarios, seed, suite.trials, results))
    flaws += _other_trials(trials, results, settings.scenarios, suite)
    flaws += _other_settings(run, suite)
    if flaws:
        raise InputError('\n'.join(f'{folder}: {text}' for text in flaws))
    data = read_json((folder / SETTINGS).read_bytes())
    levels = figures(results, trials, scenarios, summary.link)
    return Judged(folder, Card(
        suite=suite.name, suite_sha256=suite.sha256, controller=summary.controller,
        parameters=summary.spec.parameters if summary.spec else {}, sut=summary.sut,
        evidence=_evidence(run.link, run.world.kind, run.hil.enabled), link=run.link,
        world=run.world.kind, profile=run.profile, judged_by=run.judged_by, judge=run.judge.model,
        settings=_settings(run), versions=data['versions'], machine=data['host'],
        started=data['started'], commitment=made, salt=salt, seed=seed, suite_trials=suite.trials,
        planned=len(trials), completed=len(results),
        doubts=tuple(summary.sut.doubts) if summary.sut else (),
        notes=(*_own_settings(run, suite), *_notes(summary)),
        manifest_sha256=digest(folder / MANIFEST), command=summary.command, levels=levels,
        trials=trials).sealed(), found)


def _evidence(link: str, world: str, is_hardware: bool) -> Evidence:
    """Return what the trials were: a world of a simulator, hardware, or messages to a node."""
    if is_hardware:
        return 'hardware'
    return 'simulated' if link in SIMULATED or world in _SIMULATORS else 'injected'


def planned_trials(suite: Suite, scenarios: Mapping[str, Scenario], seed: int, trials: int,
                   results: Sequence[TrialResult] = ()) -> Iterator[CardTrial]:
    """Yield every trial that a suite asks for, with what it came to if it was run."""
    found = {(one.scenario_id, one.index): one for one in results}
    for name in suite.scenarios:
        scenario = scenarios[name]
        for index, level in trials_of(suite, scenario, seed, trials):
            result = found.get((name, index))
            yield CardTrial(
                scenario=name, index=index, level=level, seed=seed_of(seed, name, index),
                kind='hazard' if scenario.expects == 'reaction' else 'benign variant',
                verdict=result.verdict if result else None,
                is_false_stop=bool(result and result.is_false_stop))


def _other_trials(trials: Sequence[CardTrial], results: Sequence[TrialResult],
                  hashes: Mapping[str, str | None], suite: Suite) -> Iterator[str]:
    """Yield the trials of a campaign that are none of the suite."""
    known = {(one.scenario, one.index): one.seed for one in trials}
    for result in results:
        seed = known.get((result.scenario_id, result.index))
        if seed != result.seed:
            yield (f'{result.trial_id}: got seed {result.seed}, expected '
                   f'{"no such trial" if seed is None else seed} by suite and commitment')
    for name, sha256 in hashes.items():
        if sha256 != suite.scenarios.get(name):
            yield (f'{name}: got SHA-256 {str(sha256)[:12]}, expected '
                   f'{suite.scenarios.get(name, "no such scenario")[:12]} as in the suite')


def _other_settings(run: RunSettings, suite: Suite) -> Iterator[str]:
    """Yield the settings of a campaign by which it judges otherwise than the suite."""
    for name, got, expected in _unlike(run, suite):
        if name.partition('.')[0] not in REACH:
            yield f'{name}: got {got!r}, expected {expected!r} as in the suite'


def _unlike(run: RunSettings, suite: Suite) -> Iterator[tuple[str, Any, Any]]:
    """Yield each setting of the suite that a run does not have: its name, ours, the suite's."""
    got = dict(flat(run.model_dump()))
    for name, value in flat(read_assignments(RunSettings, [
            f'{name}={value}' for name, value in suite.settings.items()])):
        if got.get(name) != value:
            yield name, got.get(name), value


def _settings(run: RunSettings) -> Mapping[str, Any]:
    usual = judging_settings(RunSettings())
    return {name: value for name, value in judging_settings(run).items()
            if value != usual.get(name)}


def _own_settings(run: RunSettings, suite: Suite) -> Iterator[str]:
    """Yield the settings that are otherwise than in the suite, and than their defaults."""
    others = [f'{name}={got} in place of {value}, which the suite sets'
              for name, got, value in _unlike(run, suite)]
    if others:
        yield f'{_NOT_OF_SUITE}{", ".join(others)}'
    own = [f'{name}={value}' for name, value in _settings(run).items()
           if name not in suite.settings and name != 'profile']
    if own:
        yield f'settings of this run: {", ".join(own)}'


def _notes(summary: CampaignSummary) -> Iterator[str]:
    """Yield what a reader of the figures has to know."""
    if summary.by_patterns:
        yield f'in {summary.by_patterns} passed trials the words were read by patterns only'
    if summary.is_in_harness:
        yield 'code of the controller ran in the process of the harness'
    if summary.readable:
        yield f"the controller could read the campaign's files ({summary.readable})"
    if summary.link in SIMULATED:
        yield _SIMULATED_TIME
    yield from summary.repaired


def write_cards(folder: Path) -> Mapping[str, Judged]:
    """
    Write the card of each controller of a run as JSON, and return what they are made of.

    :raises InputError: names whatever in the folder is not as the run left it
    :raises TraceError: the disk is full
    """
    found = judged_run(folder)
    for name, one in found.items():
        write_whole(folder / CARDS / f'{name}.json', one.card.model_dump_json())
    return found


def read_card(path: Path) -> Card:
    """
    Return a card that agrees with itself.

    :raises InputError: names what cannot be right
    """
    card = _parsed(path)
    problems = list(_flaws(card))
    if problems:
        raise InputError('\n'.join(f'{path}: {text}' for text in problems))
    return card


def _parsed(path: Path) -> Card:
    try:
        return Card.model_validate_json(each_key_once(bytes_of(path, _MOST)))
    except OSError as error:
        raise InputError(f'{path}: cannot be read: {error.strerror}. Name the JSON file of a '
                         f'card') from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = '.'.join(map(str, first['loc']))
        raise InputError(f'{path}: {place or "file"}: got no card of this version: '
                         f'{first["msg"]}') from None
    except ValueError as error:
        raise InputError(f'{path}: cannot be read: {error}') from None


def _flaws(card: Card) -> Iterator[str]:
    """Yield what a card says that it cannot say, whoever wrote its hash."""
    if card.digest != card.sha256:
        yield (f'sha256: got {card.sha256[:12]}, expected {card.digest[:12]} of its content: '
               f'it was changed after it was made')
    if not card.commitment.is_opened_by(card.salt):
        yield 'salt: it is not what the commitment is the hash of'
    is_chosen = card.salt.startswith('chosen:')
    if is_chosen != card.commitment.is_chosen:
        yield (f'commitment.is_chosen: got {card.commitment.is_chosen}, expected {is_chosen} by '
               f'the salt')
    yield from contradictions(card)
    if card.suite_sha256 != card.commitment.suite_sha256:
        yield 'suite_sha256: got another suite than the commitment is of'
    if card.seed != seed_from(card.salt, card.suite_sha256):
        yield (f'seed: got {card.seed}, expected {seed_from(card.salt, card.suite_sha256)} by '
               f'the salt')
    for one in card.trials:
        if one.seed != seed_of(card.seed, one.scenario, one.index):
            yield f'trials: {one.scenario}:{one.index}: got a seed that the run cannot have'
            break
    if len({(one.scenario, one.index) for one in card.trials}) < len(card.trials):
        yield 'trials: got a trial twice, expected each once'
    can_be_hardware = card.evidence == 'hardware' and card.link not in SIMULATED
    if card.evidence != (expected := _evidence(card.link, card.world, can_be_hardware)):
        yield (f'evidence: got {card.evidence}, expected {expected} by link {card.link} and world '
               f'{card.world}')
    if card.link in SIMULATED and _SIMULATED_TIME not in card.notes:
        yield f'notes: lacks "{_SIMULATED_TIME}", expected it by link {card.link}'
    if any(one.is_false_stop and (one.verdict is not Verdict.FAIL or one.kind == 'hazard')
           for one in card.trials):
        yield 'trials: got a false stop that is no FAIL of a benign variant'
    if card.planned != len(card.trials):
        yield f'planned: got {card.planned}, expected {len(card.trials)} as listed'
    run = sum(one.verdict is not None for one in card.trials)
    if card.completed != run:
        yield f'completed: got {card.completed}, expected {run} as listed'
    if [row.level for row in card.levels] != [ALL, *LEVELS]:
        yield 'levels: got other rows than all, I, II and III'
        return
    for row in card.levels:
        mine = [one for one in card.trials if row.level in (ALL, one.level)]
        yield from _other_counts(row, mine)
        yield from _impossible(row, mine)
    yield from _unlike_its_levels(*card.levels)


_UNITS = {'reaction_ms': 'ms', 'budget_used': '1', 'stop_m': 'm', 'gap_m': 'm', 'task_done': '1',
          'time_lost_s': 's'}
_OF_HAZARDS = ('reaction_ms', 'budget_used', 'stop_m')


def _impossible(row: LevelFigures, trials: Sequence[CardTrial]) -> Iterator[str]:
    """Yield each measured figure of a row that no such trials can give."""
    place = f'levels.{row.level}'
    done = [one for one in trials if one.verdict is not None]
    hazards = sum(one.kind == 'hazard' for one in done)
    for name, unit in _UNITS.items():
        got = getattr(row, name)
        most = 1.0 if name == 'task_done' else inf
        yield from _other_basis(f'{place}.{name}', got, unit,
                                hazards if name in _OF_HAZARDS else len(done))
        if name != 'gap_m' and got.value is not None and not 0.0 <= got.value <= most:
            yield f'{place}.{name}.value: got {got.value}, expected 0 to {most}'
    if not 0 <= row.no_reaction <= hazards:
        yield (f'{place}.no_reaction: got {row.no_reaction}, expected 0 to {hazards}, which is '
               f'the number of its hazard trials')
    for name, median in (('slowest_ms', row.reaction_ms), ('most_budget_used', row.budget_used)):
        greatest = getattr(row, name)
        if greatest is not None and row.no_reaction > 0:
            yield (f'{place}.{name}: got {greatest}, expected none: {row.no_reaction} trials have '
                   f'no reaction')
        elif greatest is not None and (
                median.value is None or greatest < median.value - _ROUNDING):
            yield f'{place}.{name}: got {greatest}, expected at least the median, {median.value}'
    least, gap = row.least_gap_m, row.gap_m.value
    if least is not None and (gap is None or least > gap + _ROUNDING):
        yield f'{place}.least_gap_m: got {least}, expected at most the median, {gap}'


def _unlike_its_levels(whole: LevelFigures, *levels: LevelFigures) -> Iterator[str]:
    """Yield each extreme of all trials that a level exceeds."""
    if whole.no_reaction < sum(one.no_reaction for one in levels):
        yield f'levels.all.no_reaction: got {whole.no_reaction}, expected those of the levels'
    for name, sign in (('slowest_ms', 1.0), ('most_budget_used', 1.0), ('least_gap_m', -1.0)):
        got = getattr(whole, name)
        others = [value for one in levels if (value := getattr(one, name)) is not None]
        if got is not None and any(sign * (other - got) > _ROUNDING for other in others):
            yield f'levels.all.{name}: got {got}, which a level exceeds'


def _other_counts(row: LevelFigures, trials: Sequence[CardTrial]) -> Iterator[str]:
    """Yield each count of a row that is not that of the trials."""
    done = [one for one in trials if one.verdict is not None]
    expected = {
        'planned': len(trials), 'trials': len(done),
        'scenarios': len({one.scenario for one in trials}),
        'inconclusive': sum(one.verdict is Verdict.INCONCLUSIVE for one in done),
        'errors': sum(one.verdict is Verdict.ERROR for one in done)}
    for name, value in expected.items():
        if (got := getattr(row, name)) != value:
            yield f'levels.{row.level}.{name}: got {got}, expected {value} of its trials'
    hazards = [one for one in done if one.kind == 'hazard']
    benign = [one for one in done if one.kind != 'hazard']
    yield from _other_rate(row, 'missed', hazards)
    yield from _other_rate(row, 'false_stops', benign, lambda one: one.is_false_stop)
    yield from _other_rate(row, 'failed_otherwise', benign, lambda one: not one.is_false_stop)


def _other_rate(row: LevelFigures, name: str, done: Sequence[CardTrial],
                is_meant: Callable[[CardTrial], bool] = lambda one: True) -> Iterator[str]:
    """
    Yield what a rate of a row says that the trials cannot give.

    Trials that came out alike make an interval wider, which the card does not show. So an
    interval may be wider than that of all trials, and never narrower.

    :param is_meant: whether a trial counts if it is FAIL
    """
    got, place = getattr(row, name), f'levels.{row.level}.{name}'
    strata: dict[str, list[bool]] = {}
    for one in done:
        if one.verdict in (Verdict.PASS, Verdict.FAIL):
            strata.setdefault(one.scenario, []).append(
                one.verdict is Verdict.FAIL and is_meant(one))
    counts = {name: (sum(some), len(some)) for name, some in strata.items()}
    share = clustered([*counts.values()])
    count, of = (sum(some) for some in zip((0, 0), *counts.values(), strict=True))
    expected = {'count': count, 'of': of, 'undecided': len(done) - of,
                'worst': worst_stratum(counts) if count else None}
    for part, value in expected.items():
        if getattr(got, part) != value:
            yield f'{place}.{part}: got {getattr(got, part)}, expected {value} of its trials'
    if not _is_near(got.share.value, share.value):
        yield f'{place}.share.value: got {got.share.value}, expected {share.value} of its trials'
    yield from _other_basis(f'{place}.share', got.share, '1', of)
    for part, end, widest, sign in (('low', got.share.low, share.low, 1.0),
                                    ('high', got.share.high, share.high, -1.0)):
        if end is None:
            continue
        if widest is None or sign * (end - widest) > _ROUNDING or not 0.0 <= end <= 1.0:
            yield (f'{place}.share.{part}: got {end}, expected '
                   f'{"none" if widest is None else f"{widest:.6g} or wider, within 0 and 1"}')


def _other_basis(place: str, got: Estimate, unit: str, most: int) -> Iterator[str]:
    """
    Yield what an estimate says of its unit, confidence and trials that it cannot.

    :param most: trials or scenarios that can have gone into it
    """
    if got.unit != unit:
        yield f'{place}.unit: got {got.unit}, expected {unit}'
    if got.confidence != _CONFIDENCE:
        yield f'{place}.confidence: got {got.confidence}, expected {_CONFIDENCE}'
    if got.n > most:
        yield f'{place}.n: got {got.n}, expected at most {most}'
    if not got.n and (got.value, got.low, got.high) != (None, None, None):
        yield f'{place}.n: got a number from 0 trials, expected none'


def _is_near(got: float | None, expected: float | None) -> bool:
    return got is expected if got is None or expected is None else \
        abs(got - expected) <= _ROUNDING


def unlike_suite(card: Card, suite: Suite) -> Iterator[str]:
    """
    Yield what a card says otherwise than the suite: its trials, and the counts by modality.

    :param suite: with the hash that the card names
    """
    scenarios = {one.id: one for one in frozen_scenarios(suite)}
    expected = {(one.scenario, one.index, one.level, one.kind)
                for one in planned_trials(suite, scenarios, card.seed, suite.trials)}
    got = {(one.scenario, one.index, one.level, one.kind) for one in card.trials}
    for verb, found in (('lacks', expected - got), ('has', got - expected)):
        if found:
            name, index, level, kind = min(found, key=str)
            yield (f'trials: {verb} {len(found)} that the suite '
                   f'{"asks for" if verb == "lacks" else "does not have"}, such as {name}:{index} '
                   f'({kind}, level {level})')
    for name, value in card.judged_by.model_dump().items():
        if value != (wanted := suite.settings.get(name, value)):
            yield f'{name}: got {value}, expected {wanted} as in the suite'
    noted = ' '.join(note for note in card.notes if note.startswith(_NOT_OF_SUITE))
    for name, value in (('link', card.link), ('world.kind', card.world)):
        wanted = suite.settings.get(name, value)
        if value != wanted and f' {name}={value} in place of {wanted},' not in noted:
            yield f'{name}: got {value}, expected {wanted} as in the suite, or a note of it'
    if card.suite_trials != suite.trials:
        yield f'suite_trials: got {card.suite_trials}, expected {suite.trials} as in the suite'
    for row in card.levels:
        done = [one for one in card.trials
                if row.level in (ALL, one.level) and one.verdict is not None]
        for figure, modality in (('words', 'text'), ('wire_faults', 'wire')):
            names = asking(scenarios, modality)
            yield from _other_rate(row, figure, [one for one in done if one.scenario in names])


def installed_suite(card: Card) -> Suite | None:
    """Return the installed suite that a card is of, None where there is another one or none."""
    shipped = {one.stem: one for one in (share_folder() / 'config' / 'suites').glob('*.yaml')}
    if card.suite not in shipped:  # never a path that a card chooses
        return None
    suite = read_suite(str(shipped[card.suite]))
    return suite if suite.sha256 == card.suite_sha256 else None


def unlike_run(folder: Path) -> Iterator[str]:
    """
    Yield what the written cards of a run say otherwise than its records.

    :raises InputError: the folder is not as the run left it
    """
    found = judged_run(folder)
    yield from (f'{folder / name}: got no trials of this controller, which the commitment names: '
                f'they were removed, or never run'
                for name in read_commitment(folder)[0].controllers if name not in found)
    yield from (f'{path}: got a card of no controller of the run'
                for path in sorted((folder / CARDS).glob('*.json')) if path.stem not in found)
    for name, one in found.items():
        path = folder / CARDS / f'{name}.json'
        card = Card.model_validate_json(one.card.model_dump_json())  # as it would be read
        if not path.is_file():
            yield f'{path}: missing. Run suite card {folder}'
            continue
        written = _parsed(path)
        if written != card:
            differs = [field for field in Card.model_fields
                       if getattr(written, field) != getattr(card, field)]
            yield (f'{path}: {", ".join(differs)}: got something else than the records of the '
                   f'run give: the card was changed')
