# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a CI server is told of a campaign: a JUnit file, and a summary on the page of the run."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
import os
from pathlib import Path

from safety_scenarios.campaign.folder.files import write_whole
from safety_scenarios.campaign.folder.provenance import versions
from safety_scenarios.errors import SettingsError, TraceError
from safety_scenarios.reports.junit import junit_text, JunitReport, JunitSource
from safety_scenarios.reports.step_summary import markdown, stopped
from safety_scenarios.trial.observer import Observer, OutputContext
from safety_scenarios.trial.summary import CampaignSummary

STEP_SUMMARY = 'GITHUB_STEP_SUMMARY'
"""Environment variable with the file whose Markdown GitHub shows."""
Tell = Callable[[str], None]


class _StepSummary(Observer):
    """Appends to the file that GitHub names; that it cannot is told, and changes no verdict."""

    def __init__(self, path: str, tell: Tell) -> None:
        self._path, self._tell = path, tell

    def campaign_ended(self, summary: CampaignSummary) -> None:
        """Append the summary."""
        self.append(markdown(summary))

    def append(self, text: str) -> None:
        """Append some Markdown."""
        try:
            with open(self._path, 'a', encoding='utf-8') as file:
                file.write(text + '\n')
        except OSError as error:
            self._tell(f'note: {STEP_SUMMARY}: {self._path} cannot be written: {error.strerror}')


@contextmanager
def junit(context: OutputContext) -> Iterator[Sequence[Observer]]:
    """
    Give what writes the JUnit file that the settings name, if they name one.

    A campaign that raises leaves a JUnit file that says so: an old one would be taken for its own.

    :raises SettingsError: the JUnit file cannot be written, or lies in the campaign's folder
    """
    settings = context.settings
    if not settings.junit:
        yield ()
        return
    report = JunitReport(_writer(Path(settings.junit), settings.output),
                         {f'version {name}': version
                          for name, version in versions().items() if version})
    report.stopped('the campaign did not begin')
    try:
        yield (report,)
    except BaseException as error:
        try:
            report.stopped(_why(error))
        except SettingsError as unwritten:
            context.warn(f'note: {unwritten}')
        raise


@contextmanager
def step_summary(context: OutputContext) -> Iterator[Sequence[Observer]]:
    """Give what appends to the page of a run on GitHub, where there is one."""
    page = os.environ.get(STEP_SUMMARY, '')
    if not page:
        yield ()
        return
    summary = _StepSummary(page, context.warn)
    try:
        yield (summary,)
    except BaseException as error:
        summary.append(stopped(_why(error)))
        raise


def _why(error: BaseException) -> str:
    return str(error) or 'interrupted'


def write_junit(path: Path, source: JunitSource, folder: Path) -> None:
    """
    Write a JUnit file of a campaign that was judged again.

    :param folder: of the campaign
    :raises SettingsError: it cannot be written, or lies in the folder
    """
    _writer(path, str(folder))(junit_text(source))


def append_step_summary(summary: CampaignSummary, tell: Tell) -> None:
    """Append a summary to the page of a run, where there is one."""
    page = os.environ.get(STEP_SUMMARY, '')
    if page:
        _StepSummary(page, tell).campaign_ended(summary)


def _writer(path: Path, output: str) -> Callable[[str], None]:
    if path.is_dir():
        raise SettingsError(f'junit: got {path}, a folder, expected the name of a file, such as '
                            f'{path / "junit.xml"}')
    if output and path.resolve().is_relative_to(Path(output).resolve()):
        raise SettingsError(f"junit: got {path}, which is in the campaign's own folder, expected "
                            f'a file beside it: that folder holds what was measured, and its '
                            f'manifest every file of it')

    def write(text: str) -> None:
        try:
            write_whole(path, text)
        except TraceError as error:
            raise SettingsError(f'junit: {str(error).partition(". ")[0]}') from None
    return write
