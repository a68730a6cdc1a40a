# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
``report.html`` of a campaign's folder, or of several.

While a campaign runs, what is drawn of each trial is kept in ``views.jsonl.gz``, so that the page
is there at once when it ends; it is one of the files that the manifest holds. A page that is
written later is judged and drawn from the records, which takes longer: whoever can change a result
can write a manifest too. ``--as-written`` shows what the files say, and states it.
The page itself and the folder that it loads from are views: the manifest leaves them out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timezone
from itertools import repeat
import json
from pathlib import Path
from typing import Any
import zlib

from safety_scenarios import registry
from safety_scenarios.campaign.folder.evidence import evidence_of, other_than_found
from safety_scenarios.campaign.folder.files import journal_path, write_whole
from safety_scenarios.campaign.folder.folder import (
    ended,
    lines_of,
    MANIFEST,
    PAGE,
    PAGE_DATA,
    settings_of,
    SUMMARY,
    TRIALS,
    VIEWS,
)
from safety_scenarios.campaign.folder.provenance import versions
from safety_scenarios.campaign.folder.signing import is_signed
from safety_scenarios.campaign.process import uninterrupted
from safety_scenarios.campaign.rejudging.rejudge import flaw_lines, rejudge, summary_of
from safety_scenarios.campaign.statistics.degradation import Varying
from safety_scenarios.campaign.statistics.summarise import latency_quantile, summarise
from safety_scenarios.errors import (
    counted,
    in_words,
    InputError,
    MissingDependencyError,
    SafetyScenariosError,
    SettingsError,
    TraceError,
)
from safety_scenarios.reports.film.files import links_to_films
from safety_scenarios.reports.outputs.assurance import CHANGED, claim_of, unclaimed
from safety_scenarios.reports.page.page import (
    compact,
    is_wanted,
    LOADED,
    render,
    require,
    visible_in,
)
from safety_scenarios.reports.page.source import Source, Trust
from safety_scenarios.reports.trial_view.comparison import compared, over_what_varied
from safety_scenarios.reports.trial_view.view import view_of
from safety_scenarios.scenario.result import TrialResult
from safety_scenarios.scenario.verdict import Estimate
from safety_scenarios.studies.conditions.failures import conditions_of, ScenarioConditions
from safety_scenarios.studies.selftest.kill_matrix import KillMatrix
from safety_scenarios.studies.side_by_side import side_by_side
from safety_scenarios.trial.identity import digest
from safety_scenarios.trial.journal import read_journal, read_plan
from safety_scenarios.trial.lines import compressed, lines_in
from safety_scenarios.trial.session import Beginning, Extract, Observer, OutputContext
from safety_scenarios.trial.summary import CampaignSummary, ScenarioSummary
from safety_scenarios.trial.trial import Trial, TrialRecord

_AT_END = 'as judged while the campaign ran'
_AS_WRITTEN = ('not judged again, as the files of the campaign have them. safety-scenarios report '
               'DIR judges them again')
_AGAIN = 'judged again, from the records, for this page'
_FEW = 32
"""Records up to which no other process is started to read them."""


def lines_of_view(record: TrialRecord, result: TrialResult) -> tuple[str, str]:
    """Return the line of a trial, and that of its scenario."""
    return (f'{{"trial_id":{compact(result.trial_id)},"view":{drawn(record, result)}}}\n',
            compact({'scenario_id': result.scenario_id, 'about': about(record)}) + '\n')


class Views(Observer):
    """Keeps what is drawn of each trial, in the campaign's folder, line by line."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._known: set[str] = set()

    def campaign_began(self, beginning: Beginning) -> None:
        """Note where the lines go; without a folder nothing is kept."""
        self._path = beginning.folder and beginning.folder / VIEWS
        if self._path is not None and self._path.exists():  # of a campaign that is resumed
            _cut_half_member(self._path)

    @property
    def extract(self) -> Extract:
        return lines_of_view

    def trial_extracted(self, extracted: tuple[str, str], result: TrialResult) -> None:
        """
        Write the trial's line, and before it that of its scenario.

        :raises TraceError: the disk is full, or the folder is gone
        """
        if self._path is None:
            return
        line, scenario = extracted
        if result.scenario_id not in self._known:
            self._known.add(result.scenario_id)
            line = scenario + line
        try:
            with self._path.open('ab') as file:
                file.write(compressed(line.encode()))
        except OSError as error:
            raise TraceError(f'{self._path}: cannot be written: {error.strerror}') from error


class Report(Observer):
    """
    Writes ``report.html`` of a campaign that has ended; that it cannot changes no verdict.

    :param context: takes the path, or one line that says why there is no page
    """

    reads_events = False

    def __init__(self, context: OutputContext) -> None:
        self._context = context
        self._folder: Path | None = None
        self._results: list[TrialResult] = []
        self._summary: CampaignSummary | None = None

    def campaign_began(self, beginning: Beginning) -> None:
        self._folder = beginning.folder

    def trial_ended(self, record: TrialRecord, result: TrialResult) -> None:
        """Keep the result, which is small."""
        self._results.append(result)

    def campaign_ended(self, summary: CampaignSummary) -> None:
        """Keep what the campaign came to."""
        self._summary = summary

    def write(self) -> None:
        """Write the page, once the manifest is written that it names."""
        folder, summary = self._folder, self._summary
        if folder is None or summary is None:
            return
        try:
            require()
            page = folder / PAGE
            with uninterrupted():  # launch sends SIGTERM some time after SIGINT
                trust = Trust((), _AT_END, _manifest(folder), 'not signed yet')
                write([source_in(folder, summary, summary.as_in_files(self._results), trust)],
                      page)
            if 'console' not in self._context.settings.outputs:  # which names the folder
                self._context.tell(f'  {page}')
        except MissingDependencyError as error:
            self._context.warn(f'note: no {PAGE}: {error}')
        except Exception as error:  # a page that fails must not take a campaign's result with it
            self._context.warn(f'note: no {PAGE}: {type(error).__name__}: {in_words(error)}')


@contextmanager
def page(context: OutputContext) -> Iterator[Sequence[Observer]]:
    """
    Keep what is drawn of each trial, and write the page when the campaign's files are.

    Where no page is wanted neither is kept; one that is asked for later is drawn from the records.
    """
    if not is_wanted():
        yield ()
        return
    found = Report(context)
    yield Views(), found
    found.write()


def report(folders: Sequence[Path], output: Path, *, again: bool = True,
           matrix: KillMatrix | None = None,
           comparison: Mapping[str, Any] | None = None) -> Sequence[str]:
    """
    Write the page of one campaign, or of several against each other.

    :param again: judge every trial again from its record; False: show what the files say
    :param matrix: of the self-test
    :param comparison: how they compare, where that is known already
    :return: what in the folders is not as their campaigns left it
    :raises InputError: a folder that is none, or a page that cannot be written
    """
    require()
    sources = [with_films(source_of(folder, again=again, matrix=matrix), folder, output)
               for folder in folders]
    write(sources, output, None if len(sources) < 2 else comparison or _comparison(folders))
    return [f'{source.name}: {text}' for source in sources for text in source.trust.flaws]


def report_trials(trials: Sequence[tuple[Path, TrialResult]], output: Path) -> None:
    """
    Write the page of single trials, each of the campaign in a folder.

    :raises InputError: a folder that is none, or a page that cannot be written
    """
    require()
    sources = []
    for folder, result in trials:
        flaws = tuple(flaw_lines(evidence_of(folder).flaws))
        summary = summarise([result], controller=result.controller, seed=result.seed,
                            link=settings_of(folder).run.link, planned=1, interrupted=False)
        found = source_in(folder, summary, [result], Trust(
            flaws, _AGAIN, _manifest(folder), _signature(folder)), draws=True)
        sources.append(with_films(replace(found, conditions=(), views={
            name: view for name, view in found.views.items() if name == result.trial_id}),
            folder, output))
    write(sources, output)


def with_films(source: Source, folder: Path, page: Path) -> Source:
    """Return a campaign with links to the films of its trials."""
    known = {result.trial_id for result in source.results}
    return replace(source, films=links_to_films(folder, page, known))


def _comparison(folders: Sequence[Path]) -> Mapping[str, Any]:
    """Return several campaigns against the first, or why they cannot be compared."""
    try:
        return compared(side_by_side(folders))
    except (InputError, TraceError) as error:
        return {'why': str(error)}


def source_of(folder: Path, *, again: bool = True, matrix: KillMatrix | None = None) -> Source:
    """
    Return a campaign by its records, with what is wrong with the folder.

    :param again: False: as its files say
    :raises InputError: a folder that is none
    """
    if again:
        found = rejudge(folder)
        results, summary = [trial.after for trial in found.trials], found.summary
        flaws = list(flaw_lines(found.flaws))
    else:
        evidence = evidence_of(folder)
        results = [line.result for line in evidence.lines.values()]
        summary = summary_of(folder, results)
        flaws = [*flaw_lines(evidence.flaws), *_unlike(folder, summary)]
    return source_in(folder, summary, results, Trust(
        tuple(flaws), _AGAIN if again else _AS_WRITTEN, _manifest(folder), _signature(folder),
        is_as_written=not again), matrix, draws=again)


def _signature(folder: Path) -> str:
    return 'signed; check it with safety-scenarios campaign verify --signers' \
        if is_signed(folder) else 'not signed'


def _unlike(folder: Path, found: CampaignSummary) -> Iterator[str]:
    """Find a summary that the trials do not give."""
    try:
        before = ended(folder)
    except TraceError as error:
        yield str(error)
        return
    if before is None:
        yield 'campaign.json: is missing: the campaign did not end. Run campaign repair'
        return
    yield from (f'{SUMMARY}: {text} by {TRIALS}'
                for text in other_than_found(before, found, entirely=False))


def source_in(folder: Path, summary: CampaignSummary, results: Sequence[TrialResult],
              trust: Trust, matrix: KillMatrix | None = None, *, draws: bool = False) -> Source:
    """
    Return a campaign whose results and summary are known, with what is drawn of its trials.

    :param draws: draw every trial from its record, also where that was kept
    """
    is_kept = not draws and not any(text.startswith((VIEWS, MANIFEST)) for text in trust.flaws)
    views, known = _stored_views(folder) if is_kept else ({}, {})
    missing = [result for result in results if result.trial_id not in views
               and (folder / journal_path(result.trial_id)).is_file()]
    for result, view, scenario in _from_records(folder, missing):
        views[result.trial_id] = view
        if scenario:
            known.setdefault(result.scenario_id, scenario)
    p95_ms = {row.scenario_id: _p95(row, results, summary.link)
              for row in summary.scenarios if row.latency_ms}
    claim = claim_of(summary, results, trust.flaws)
    if trust.flaws:  # whoever has changed a result has changed what it would bound
        summary, p95_ms = unclaimed(summary, CHANGED), unclaimed(p95_ms, CHANGED)
    conditions = () if trust.flaws else _conditions(folder, summary, results)
    return Source(
        name=folder.resolve().name, summary=summary, results=tuple(results), trust=trust,
        claim=claim, settings=_settings(folder), scenarios=known, views=views,
        interlocks=tuple(_interlocks(folder)), kill_matrix=matrix, p95_ms=p95_ms,
        conditions=conditions)


def _conditions(folder: Path, summary: CampaignSummary,
                results: Sequence[TrialResult]) -> tuple[ScenarioConditions, ...]:
    """Return under which conditions trials fail; of each scenario one plan is read."""
    planned: dict[str, Trial] = {}
    for result in results:
        path = folder / journal_path(result.trial_id)
        if result.scenario_id not in planned and path.is_file():
            with suppress(SafetyScenariosError):  # whoever judges it says what is wrong with it
                planned[result.scenario_id] = read_plan(path, registry.resolve)
    return conditions_of([(result, planned.get(result.scenario_id)) for result in results],
                         summary.link)


def _p95(row: ScenarioSummary, results: Sequence[TrialResult], link: str) -> Estimate:
    found = latency_quantile([result for result in results
                              if result.scenario_id == row.scenario_id], 0.95, link)
    return found if row.stopped_early is None else found.model_copy(
        update={'low': None, 'high': None})


def drawn(record: TrialRecord, result: TrialResult) -> str:
    """Return what is drawn of a trial, as JSON; of an odd one why nothing is."""
    try:
        return compact(visible_in(view_of(record, result)))
    except Exception as error:  # what cannot be drawn must not cost the campaign
        return compact(visible_in({'error': f'{type(error).__name__}: {in_words(error)}'}))


def about(record: TrialRecord) -> Mapping[str, Any]:
    """Return what the file of a trial's scenario says, for people."""
    scenario = record.trial.scenario
    return dict(visible_in({
        'description': scenario.description, 'expected_action': scenario.expected_action,
        'latency_budget': scenario.latency_budget.model_dump(mode='json'),
        'tags': scenario.tags, 'severity': scenario.severity}))


def _cut_half_member(path: Path) -> None:
    """Cut what a crash has left half written, so that what comes behind it can be read."""
    data = path.read_bytes()
    rest = data
    while rest:
        member = zlib.decompressobj(wbits=31)
        try:
            member.decompress(rest)
        except zlib.error:
            break
        if not member.eof:
            break
        rest = member.unused_data
    if rest:
        with path.open('r+b') as file:
            file.truncate(len(data) - len(rest))


def _stored_views(folder: Path) -> tuple[dict[str, bytes], dict[str, Mapping[str, Any]]]:
    """Return what ``views.jsonl.gz`` holds; a line that a crash cut is left out."""
    views, known = dict[str, bytes](), dict[str, Mapping[str, Any]]()
    with suppress(OSError):
        for line in lines_in(folder / VIEWS):
            with suppress(ValueError, KeyError, TypeError):
                found = json.loads(line)
                if 'about' in found:
                    known[str(found['scenario_id'])] = found['about']
                else:
                    views[str(found['trial_id'])] = zlib.compress(
                        compact(found['view']).encode(), 1)
    return views, known


def _from_records(folder: Path, missing: Sequence[TrialResult]) -> \
        Iterable[tuple[TrialResult, bytes, Mapping[str, Any]]]:
    """Read what nobody has kept; many records on all cores."""
    if len(missing) <= _FEW:
        return map(_from_record, repeat(folder), missing)
    from multiprocessing import get_context
    with ProcessPoolExecutor(mp_context=get_context('spawn')) as pool:
        return list(pool.map(_from_record, repeat(folder), missing, chunksize=8))


def _from_record(folder: Path, result: TrialResult) -> \
        tuple[TrialResult, bytes, Mapping[str, Any]]:
    try:
        record = read_journal(folder / journal_path(result.trial_id), registry.resolve)
    except SafetyScenariosError as error:
        return result, zlib.compress(compact(visible_in({'error': str(error)})).encode()), {}
    return result, zlib.compress(drawn(record, result).encode()), about(record)


def _settings(folder: Path) -> Mapping[str, Any]:
    try:
        found = json.loads((folder / 'settings.json').read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _manifest(folder: Path) -> str | None:
    path = folder / MANIFEST
    return digest(path) if path.is_file() else None


def _interlocks(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the run log of hardware in the loop; a line that cannot be read says so."""
    try:
        lines = lines_of((folder / 'hil.jsonl').read_text(encoding='utf-8', errors='replace'))
    except OSError:
        return
    for number, line in enumerate(lines, 1):
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        yield found if isinstance(found, dict) else {'what': f'line {number} cannot be read'}


def write(sources: Sequence[Source], output: Path,
          comparison: Mapping[str, Any] | None = None, *,
          matrix: Mapping[str, Any] | None = None,
          varying: Sequence[Varying] | None = None) -> None:
    """
    Write the page, and beside it what it loads when a trial is opened.

    :param matrix: what the campaigns came to as arms of a matrix
    :param varying: over what they are drawn; None: over every number in which they differ
    :raises SettingsError: it cannot be written
    """
    beside = output.with_name(PAGE_DATA if output.name == PAGE else f'{output.stem}_data')
    now = datetime.now(timezone.utc).isoformat(timespec='seconds').replace('+00:00', 'Z')
    made = f'Made at {now} by safety_scenarios {versions()["safety_scenarios"] or "?"}.'
    page = render(sources, comparison, beside=beside.name, matrix=matrix,
                  varied=over_what_varied(sources, varying), made=made)
    try:
        _clear(beside)
        for name, text in page.beside.items():
            write_whole(beside / name, text.removesuffix('\n'))
        write_whole(output, page.html)
    except (OSError, TraceError) as error:
        raise SettingsError(f'{output}: cannot be written: {in_words(error)}. Name another file '
                            f'by --output') from None


def _clear(beside: Path) -> None:
    """Remove what an earlier page loaded; a folder with anything else in it stays."""
    if not beside.exists():
        return
    paths = list(beside.iterdir())
    others = [path for path in paths if not _is_ours(path)]
    if others or beside.is_symlink():
        raise OSError(0, f'{beside} holds {counted(len(others), "other file")}' if others
                      else f'{beside} is a link')
    for path in paths:
        path.unlink()
    beside.rmdir()


def _is_ours(path: Path) -> bool:
    """Return whether a file begins as those do that a page loads."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open('rb') as file:
        return file.read(len(LOADED)) == LOADED.encode()
