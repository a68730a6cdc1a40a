# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``suite run``, ``card``, ``verify``, ``table`` and ``freeze``, and ``scenario coverage``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
import json
from pathlib import Path
import sys
from typing import Any

import click
from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.folder.signing import sign_file, signer_of_file
from safety_scenarios.campaign.process import interruptible
from safety_scenarios.campaign.rejudging.rejudge import rejudge
from safety_scenarios.cli import completion
from safety_scenarios.cli.completion import OutputPath
from safety_scenarios.cli.options import (
    build,
    given_in,
    selecting,
    SET,
    set_option,
    setting_options,
    survey_of,
)
from safety_scenarios.cli.standard_streams import echo
from safety_scenarios.errors import (
    InputError,
    MissingDependencyError,
    ScenarioError,
    SettingsError,
)
from safety_scenarios.formats.companion_files import load_register
from safety_scenarios.reports.cards import (
    badge,
    card_page,
    card_table,
    cards_table,
    decision_lines,
    decision_table,
    pareto,
    table_page,
)
from safety_scenarios.reports.console_report import console, show, teller, warn
from safety_scenarios.reports.traceability import (
    draw_hazards,
    hazard_data,
    hazard_lines,
    hazard_table,
)
from safety_scenarios.scenario.settings import RunSettings, SEEDS
from safety_scenarios.studies.hazard_coverage import hazard_coverage
from safety_scenarios.suites.card import dominated, ordered, refuse_incomparable
from safety_scenarios.suites.cards import (
    installed_suite,
    is_run,
    Judged,
    read_card,
    unlike_run,
    unlike_suite,
    write_cards,
)
from safety_scenarios.suites.protocol import decide, read_protocol
from safety_scenarios.suites.run import (
    Arm,
    BASELINES,
    CARDS,
    names_set,
    read_commitment,
    refuse_other_judging,
    run_suite,
)
from safety_scenarios.suites.run_statements import UNPROVED
from safety_scenarios.suites.suite import FIRST, freeze_suite, read_suite
from safety_scenarios.trial.session import Observer, open_outputs, OutputContext

_CODES = ('Exit codes: 0 complete, decided and no FAIL; 1 some FAIL; 2 wrong input or usage; '
          '3 incomplete, or some INCONCLUSIVE or ERROR, and no FAIL.')
_SUITE = click.option('--suite', default=FIRST, show_default=True, metavar='NAME|FILE',
                      help='The suite.')


@click.command('run', epilog=_CODES)
@_SUITE
@click.option('--controller', 'controllers', multiple=True, metavar='NAME',
              help='Controller to run, as run takes it; repeat it for several on the same trials.')
@click.option('--baselines', is_flag=True,
              help='Also run the reference, a blind controller and a random policy.')
@click.option('--output', required=True, type=OutputPath(), metavar='DIR',
              help='New folder for campaigns and cards.')
@click.option('--trials', type=click.IntRange(1, 10_000), metavar='N',
              help='Trials of each scenario on each level; fewer than the suite asks for make an '
                   'incomplete card.')
@click.option('--seed', type=click.IntRange(0, SEEDS - 1), metavar='N',
              help='Seed of the worlds; without it one is drawn that could not be known before. '
                   'The card states that a seed was chosen.')
@click.option('--protocol', type=click.Path(exists=True, dir_okay=False, path_type=Path),
              metavar='FILE', help='Acceptance protocol, named before the first trial; it decides '
                                   'the exit code.')
@setting_options('profile', 'link', 'world', shows_default=False)
@setting_options('jobs')
@set_option('controller.delay_ms=400')
def run(suite: str, controllers: tuple[str, ...], baselines: bool, output: Path,
        trials: int | None, seed: int | None, protocol: Path | None, **values: Any) -> None:
    r"""
    Run a frozen suite with a controller, and write its card.

    The suite file sets link, world and judging. --link and --world replace its link and world:
    the card states that, and is not comparable with cards of another link or world.

    All controllers meet the same worlds. The SHA-256 of the seed's salt, the controllers and the
    protocol is printed and written before the first trial; the card holds the salt.

    \b
    safety-scenarios suite run --controller learned --baselines --output runs/suite
    safety-scenarios suite run --controller onnx:policy.onnx --trials 1 --output runs/quick
    """
    names = {**{name: name for name in controllers}, **(BASELINES if baselines else {})}
    if not names:
        raise click.UsageError("Missing option '--controller' or '--baselines'.")
    found = read_suite(suite)
    most = found.trials if trials is None else trials
    if most > found.trials:
        raise SettingsError(f'--trials: got {most}, expected at most {found.trials} as the suite '
                            f'asks for')
    given = given_in(values)
    refuse_other_judging(list(names_set(given)))
    own = {name for name in names_set(given) if name.startswith('controller_parameters')}
    folders = _folders(names)
    arms = [Arm(folders[name], build(
        {**_with_suite_settings(values, found.settings, with_own=name in controllers or not own),
         'controller': controller}, {'console': 'quiet'}), name not in controllers)
        for name, controller in names.items()]
    interruptible()
    sha256 = '' if protocol is None else read_protocol(protocol, load_register())[1]
    run_suite(found, arms, output, _observed, seed=seed, trials=most, tell=echo,
              protocol_sha256=sha256)
    judged = {folders[one] for one in controllers} or {arm.name for arm in arms}
    sys.exit(_show(output, _written(output), judged, protocol))


def _with_suite_settings(values: Mapping[str, Any], settings: Mapping[str, str], *,
                         with_own: bool) -> dict[str, Any]:
    """Return options, with each setting of the suite that the command line does not set."""
    texts = tuple(text for text in values[SET] if with_own or not text.startswith('controller.'))
    given = set(names_set(given_in(values)))
    return {**values, SET: (*texts, *(f'{name}={value}' for name, value in settings.items()
                                      if name not in given))}


def _folders(names: Iterable[str]) -> dict[str, str]:
    """Return the name of each controller as that of a folder; no two have the same."""
    found: dict[str, str] = {}
    for name in names:
        folder = ''.join(letter if letter.isalnum() or letter in '_-' else '_'
                         for letter in name.rpartition('/')[2].rpartition(':')[2])
        used = found.values()
        found[name] = folder if folder not in (*used, CARDS) else next(
            f'{folder}-{number}' for number in range(2, len(found) + 3)
            if f'{folder}-{number}' not in used)
    return found


@contextmanager
def _observed(settings: RunSettings) -> Iterator[Sequence[Observer]]:
    with open_outputs(OutputContext(settings, teller('quiet'), warn)) as observers:
        yield observers


def _written(folder: Path) -> Mapping[str, Judged]:
    """Write cards, pages and badges of a run; a page without its extra is left out and named."""
    found = write_cards(folder)
    cards = {name: one.card for name, one in found.items()}
    beaten = dominated(cards)
    for name, card in cards.items():
        write_whole(folder / CARDS / f'{name}.svg', badge(card))
        try:
            write_whole(folder / CARDS / f'{name}.html', card_page(name, card, cards, beaten))
        except MissingDependencyError as error:
            warn(f'note: {error}')
    return found


def _show(folder: Path, found: Mapping[str, Judged], judged: Set[str],
          protocol: Path | None) -> int:
    """
    Show cards and decisions of a run, and return the exit code.

    :param judged: controllers that decide it; of a baseline it is known that it fails
    """
    cards = {name: one.card for name, one in found.items()}
    for card in cards.values():
        show(card_table(card))
    if len(cards) > 1:
        show(cards_table(cards, dominated(cards)))
    for name, card in cards.items():
        doubts = ''.join(f'; {text}' for text in card.reservations)
        console().print(f'{name}: {card.state}{doubts}', markup=False)
    made = read_commitment(folder)[0]
    if protocol is not None:
        register = load_register()
        known = read_protocol(protocol, register)
        codes = []
        for name, one in found.items():
            if name not in judged:
                continue
            decision = decide(known, register, one.results, one.found.summary,
                              named_sha256=made.protocol_sha256, doubts=one.card.reservations)
            show(decision_table(decision))
            for line in decision_lines(decision):
                console().print(line, markup=False)
            codes.append(decision.exit_code)
    else:
        codes = [{'failures': 1, 'no failure': 0}.get(one.card.state, 3)
                 for name, one in found.items() if name in judged]
    lacking = not codes or len(found) < len(made.controllers)
    return 1 if 1 in codes else 3 if lacking or 3 in codes else 0


@click.command('card', epilog=_CODES)
@click.argument('folder', metavar='DIR',
                type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option('--protocol', type=click.Path(exists=True, dir_okay=False, path_type=Path),
              metavar='FILE', help='Acceptance protocol, which decides the exit code: 0 ACCEPTED, '
                                   '1 NOT ACCEPTED, 3 UNDECIDED.')
@click.option('--sign', 'key', type=click.Path(exists=True, dir_okay=False, path_type=Path),
              metavar='KEY', help='Sign each card with this SSH key, for verify --signers.')
def card(folder: Path, protocol: Path | None, key: Path | None) -> None:
    r"""
    Make the cards of the run in DIR again from the records of its trials, and show them.

    The exit code is that of the controllers that were named; of baselines, if there is no other.

    \b
    safety-scenarios suite card runs/suite
    safety-scenarios suite card runs/suite --protocol release.yaml
    """
    made = read_commitment(folder)[0]
    judged = [name for name in made.controllers if name not in made.baselines]
    found = _written(folder)
    for name in found if key is not None else ():
        assert key is not None
        echo(str(sign_file(folder / CARDS / f'{name}.json', key)))
    sys.exit(_show(folder, found, set(judged or made.controllers), protocol))


@click.command('verify', epilog=(
    'Exit codes: 0 the card is what the records give, or is signed by one of --signers; 2 it is '
    'not, and what was changed is named; 3 it agrees with itself and with the suite, but the '
    'records are not here to check it.'))
@click.argument('target', metavar='CARD|DIR', type=click.Path(exists=True, path_type=Path))
@click.option('--signers', type=click.Path(exists=True, dir_okay=False, path_type=Path),
              metavar='FILE', help='Who may have signed the card, as ssh-keygen reads it (ALLOWED '
                                   'SIGNERS).')
@click.option('--suite', 'own', default='', metavar='FILE',
              help='Suite of the card, if it is none that is installed.')
def verify(target: Path, signers: Path | None, own: str) -> None:
    r"""
    Check a card: its seeds, its trials and its figures.

    Of a run in DIR every card is made again from the records. Of a file alone the seeds are
    computed again from the opened salt, the trials from the suite, and the counts and rates from
    the trials.

    \b
    safety-scenarios suite verify runs/suite
    safety-scenarios suite verify runs/suite/cards/learned.json
    """
    place = target.resolve()
    run_folder = target if target.is_dir() else place.parent.parent
    if target.is_dir() and signers is not None:
        raise SettingsError('--signers: got it with a folder, expected it with the file of a card')
    if target.is_dir() or (is_run(run_folder) and place.suffix == '.json'
                           and place.parent.name == CARDS):
        problems = list(unlike_run(run_folder))
        if not target.is_dir():
            read_card(target)
        if problems:
            raise InputError('\n'.join(problems))
        echo(f'{run_folder}: seeds, trials, records and cards agree; pages and badges are not '
             f'checked')
        if signers is not None:
            echo(f'{target}: signed by {signer_of_file(target, signers)}')
        sys.exit(0)
    found = read_card(target)
    suite = read_suite(own) if own else installed_suite(found)
    if suite is None or suite.sha256 != found.suite_sha256:
        raise InputError(f'{target}: got suite {found.suite} with SHA-256 '
                         f'{found.suite_sha256[:12]}, expected {own or "an installed one"}: its '
                         f'trials cannot be checked here. Name its file with --suite')
    if problems := list(unlike_suite(found, suite)):
        raise InputError('\n'.join(f'{target}: {text}' for text in problems))
    if signers is not None:
        echo(f'{target}: seeds, trials and counts agree; signed by '
             f'{signer_of_file(target, signers)}')
        sys.exit(0)
    echo(f'{target}: seeds, trials and counts agree; the records are not here, and no signature '
         f'was checked, so that {UNPROVED} are as the maker of the card states them')
    sys.exit(3)


@click.command('table', epilog='Exit codes: 0 written; 2 wrong input, or not comparable.')
@click.argument('folder', metavar='DIR',
                type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option('--output', type=OutputPath(), metavar='FILE',
              help='HTML file with the table and the plot; .svg: the plot alone.')
def table(folder: Path, output: Path | None) -> None:
    r"""
    Show the cards in DIR side by side, and draw safety against latency and lost time.

    Cards of different suites, judges, links, worlds or profiles are refused, with the reason.

    \b
    safety-scenarios suite table runs/suite/cards --output table.html
    """
    files = sorted(folder.glob('*.json'))
    if not files:
        raise SettingsError(f'{folder}: got no card, expected JSON files that suite card wrote')
    cards = ordered({path.stem: read_card(path) for path in files})
    refuse_incomparable(cards)
    beaten = dominated(cards)
    show(cards_table(cards, beaten))
    echo(f'Each card agrees with itself. Its {UNPROVED} are as its maker states them: suite '
         f'verify holds them against the records, or checks a signature.')
    if output is not None:
        if output.suffix.lower() not in ('.html', '.svg'):
            raise SettingsError(f'--output: got {output}, expected a file that ends in .html or '
                                f'.svg')
        write_whole(output.resolve(), pareto(cards) if output.suffix.lower() == '.svg'
                    else table_page(cards, beaten))
        echo(str(output))


@click.command('freeze', epilog='Exit codes: 0 written; 2 wrong input.')
@click.argument('file', type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument('scenarios', nargs=-1, metavar='[SCENARIO]...')
def freeze(file: Path, scenarios: tuple[str, ...]) -> None:
    r"""
    Write the SHA-256 of scenarios into the suite in FILE; those that it has, if left out.

    A suite that was published is never frozen again: give the file another name.

    \b
    safety-scenarios suite freeze my_suite.yaml robotic worlds
    """
    found = freeze_suite(file, scenarios)
    echo(f'{file}: {found.name}, {len(found.scenarios)} scenarios, SHA-256 {found.sha256}')


_PICTURES = '.svg', '.png'


@click.command()
@click.argument('scenarios', nargs=-1, metavar='[SCENARIO]...',
                shell_complete=completion.scenarios)
@click.option('--register', metavar='FILE', type=click.Path(path_type=Path),
              help='Hazard register to use instead of the one that comes with the package.')
@click.option('--campaign', metavar='DIR', type=completion.CampaignFolder(),
              help='Show the verdicts of this campaign in the cells; its trials are judged again '
                   'from their records.')
@click.option('--picture', metavar='FILE', type=completion.OutputPath(dir_okay=False),
              help='Also draw the table, as .svg or .png; needs the extra plot.')
@click.option('--json', 'as_json', is_flag=True,
              help='Print it as JSON on standard output instead.')
@selecting
def coverage(scenarios: tuple[str, ...], register: Path | None, campaign: Path | None,
             picture: Path | None, as_json: bool, **values: Any) -> None:
    r"""
    Show which hazards the scenarios probe, by robot kind and modality, and which none does.

    SCENARIO as for scenario list; all that are installed, if left out. A number is how many
    scenarios probe a hazard there. "gap" is where the register asks for one and there is none.
    PL is the performance level that the risk requires, by the risk graph of ISO 13849-1.

    \b
    safety-scenarios scenario coverage
    safety-scenarios scenario coverage robotic worlds --campaign runs/today --picture hazards.svg
    """
    if picture is not None and picture.suffix.lower() not in _PICTURES:
        raise SettingsError(f'--picture: got {picture}, expected a file that ends in .svg or .png')
    listed = load_register(register)
    found = survey_of(scenarios, values)
    if found.problems and scenarios:
        raise ScenarioError(found.problems)
    results = () if campaign is None else tuple(trial.after for trial in rejudge(campaign))
    told = hazard_coverage(listed, found.loaded.scenarios, results)
    if as_json:
        click.echo(json.dumps(hazard_data(told), indent=2, ensure_ascii=False))
    else:
        show(hazard_table(told))
        for line in hazard_lines(told):
            echo(line)
    if picture is not None:
        try:
            draw_hazards(told, picture)
        except OSError as error:
            raise SettingsError(f'--picture: got {picture}, which cannot be written: '
                                f'{error.strerror}. Name another file') from None
