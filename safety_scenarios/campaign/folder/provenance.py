# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What a result depends on: settings, controller, versions, host, repositories, texts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import cache
import hashlib
from importlib.metadata import PackageNotFoundError, version
import os
from pathlib import Path
import platform
import subprocess
from typing import Any

from safety_scenarios.formats.document.file_contents import file_of
from safety_scenarios.formats.profile_file import sources_of
from safety_scenarios.formats.scenario_files import portable, portable_name
from safety_scenarios.scenario.controller import ControllerSpec
from safety_scenarios.scenario.scenario import Scenario
from safety_scenarios.scenario.settings import EXTERNAL, RunSettings
from safety_scenarios.stimuli.messages import Recorded
from safety_scenarios.trial.identity import Identity
from safety_scenarios.trial.link import ControllerPlan
from safety_scenarios.trial.parameters import is_policy, source_of
from safety_scenarios.trial.trial import PlannedTrial

_GIT_S = 5.0
"""A git that hangs, as on a network drive, must not hold up a campaign."""
_MOST_NAMES = 1000
"""Of more files git is asked for all that it has: it compares each name with each of those, and a
command can only be so long."""


class Repositories:
    """
    The repositories that files belong to; git is asked once for all files of one.

    A file that its repository ignores, as one that is installed in ``.venv``, belongs to none.

    :param files: all that will be asked about
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._names: dict[Path, list[str]] = {}
        self._added: dict[Path, set[str]] = {}
        self._states: dict[Path, dict[str, Any]] = {}
        for nearest, name in _placed(files):
            self._names.setdefault(nearest, []).append(name)

    def of(self, files: Iterable[Path], *, not_added: bool = True) -> list[dict[str, Any]]:
        """
        Return name, commit and state of each repository that one of some files belongs to.

        :param not_added: whether a file belongs to a repository that it is not added to yet; it
            counts as a change there
        """
        names: dict[Path, list[str]] = {}
        for nearest, name in _placed(files):
            names.setdefault(nearest, []).append(name)
        found: dict[Path, dict[str, Any]] = {}
        for nearest, some in names.items():
            try:
                added = self._added_to(nearest)
                new = [name for name in some
                       if name not in added and not _is_ignored(nearest, name)] \
                    if not_added else []
                if new or not added.isdisjoint(some):
                    state = self._state(nearest)
                    found.setdefault(nearest, dict(state))['changed'] |= bool(new)
            except (OSError, subprocess.SubprocessError):
                continue
        return list(found.values())

    def _added_to(self, nearest: Path) -> set[str]:
        if nearest not in self._added:
            names = self._names[nearest]
            told = _git(nearest, '--literal-pathspecs', 'ls-files', '-z', '--',
                        *(names if len(names) <= _MOST_NAMES else ()))
            self._added[nearest] = set(told.split('\0'))
        return self._added[nearest]

    def _state(self, nearest: Path) -> dict[str, Any]:
        if nearest not in self._states:
            told = _git(nearest, 'rev-parse', '--show-toplevel', 'HEAD')
            root, _, commit = told.rpartition('\n')
            self._states[nearest] = {'root': Path(root).name, 'commit': commit, 'changed': bool(
                _git(nearest, 'status', '--porcelain', '--untracked-files=no'))}
        return self._states[nearest]


def _placed(files: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Yield of each file in a repository the folder of that, and the file's path in it."""
    for file in dict.fromkeys(path.resolve() for path in files):
        nearest = next((above for above in file.parents if (above / '.git').exists()), None)
        if nearest is not None:  # else git would find nothing either
            yield nearest, file.relative_to(nearest).as_posix()


def _is_ignored(folder: Path, name: str) -> bool:
    try:
        return bool(_git(folder, 'check-ignore', '--', name))
    except subprocess.CalledProcessError:
        return False


def _git(folder: Path, *arguments: str) -> str:
    """Ask git of a folder, whatever repository the caller's environment names."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith('GIT_')}
    return subprocess.run(['git', '-C', str(folder), *arguments], capture_output=True, text=True,
                          errors='surrogateescape', check=True, timeout=_GIT_S,
                          env=environment).stdout.rstrip('\n')


_PACKAGES = ('safety_scenarios', 'rclpy', 'pydantic', 'PyYAML', 'numpy', 'google-re2', 'openai',
             'mcap')
_CPU_INFO = Path('/proc/cpuinfo')
_GOVERNOR = Path('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor')
_PREEMPTION = Path('/sys/kernel/realtime')
_DOCKER, _PODMAN = Path('/.dockerenv'), Path('/run/.containerenv')
_PODMAN_FACTS = {'image': 'image', 'imageid': 'image_id'}


def provenance(settings: RunSettings, spec: ControllerSpec, scenarios: Iterable[Scenario],
               ros: Mapping[str, Any], plan: Iterable[PlannedTrial] = (),
               sut: Identity | None = None) -> dict[str, Any]:
    """
    Return the content of ``settings.json``; no environment variable but those named here.

    :param ros: domain, distribution and middleware; empty without ROS
    :param plan: everything that is planned, so that nothing can be left out or added later
    :param sut: what tells the controller that is judged from others
    """
    scenarios = tuple(scenarios)
    return {
        'settings': {**portable(settings).model_dump(mode='json'),
                     'profile': portable_name(settings.profile)},
        'values': sources_of(portable(settings)),
        'started': datetime.now(timezone.utc).isoformat(),
        'versions': versions(), 'ros': dict(ros), 'host': host(),
        'controller': _controller(portable(spec)), 'git': _repositories(spec, scenarios),
        **({} if sut is None else {'sut': sut.at_start.model_dump(mode='json')}),
        'scenarios': [{'id': scenario.id, 'path': portable_name(scenario.origin.path),
                       'sha256': scenario.origin.sha256, **_bag(scenario), **_labels(scenario)}
                      for scenario in scenarios if scenario.origin],
        'plan': [entry.model_dump() for entry in plan]}


def _bag(scenario: Scenario) -> dict[str, Any]:
    """Return which recording the nominal phase plays, if any; its hash is in the scenario's."""
    played = [one for one in scenario.body.published if isinstance(one, Recorded)]
    return {'bag': {'file': played[0].bag, 'sha256': played[0].sha256, 'topics': {
        one.source: one.topic for one in played}}} if played else {}


def source_sha256(controller: ControllerSpec) -> str | None:
    """Return the hash of a controller's source, None when nobody knows it."""
    found: str | None = _controller(controller)['sha256']
    return found


def beside_source(controller: ControllerPlan) -> Sequence[str]:
    """Return the files that a controller is made of; of its code not what its source is."""
    source = None if is_policy(controller.name) else source_of(controller.name)[1]
    return [name for name in controller.facts.files
            if source is None or Path(name).resolve() != source.resolve()]


def _labels(scenario: Scenario) -> dict[str, Any]:
    """Return what a scenario is evidence for: it may never be run."""
    named = scenario.traceability
    return {'traceability': named.model_dump(mode='json')} if named else {}


def _controller(controller: ControllerSpec) -> dict[str, Any]:
    """
    Return a controller plug-in, what was set of its parameters, its class and its source.

    Of an external one nobody knows class and source.
    """
    target, source = source_of(controller.name)
    return {**controller.model_dump(mode='json'), 'class': target, 'sha256': hashlib.sha256(
        source.read_bytes()).hexdigest() if source and source.is_file() else None}


def _repositories(controller: ControllerSpec, scenarios: Iterable[Scenario]) -> dict[str, Any]:
    """Return the repositories of this package, of the controller and of the scenario files."""
    own = Path(__file__)
    source = None if controller.name == EXTERNAL else source_of(controller.name)[1]
    sources = [source] if source else []
    files = [Path(file_of(scenario.origin.path)) for scenario in scenarios if scenario.origin]
    known = Repositories([own, *sources, *files])
    return {'package': next(iter(known.of([own], not_added=False)), None),
            'controller': next(iter(known.of(sources)), None), 'scenarios': known.of(files)}


def versions() -> dict[str, str | None]:
    """Return the versions of the packages that a result depends on."""
    return {name: _version(name) for name in _PACKAGES}


def host() -> dict[str, Any]:
    """Return what of this host decides how well it measures."""
    return {
        'python': platform.python_version(), 'system': platform.platform(),
        'cpu': _line(_CPU_INFO, 'model name'), 'cores': os.cpu_count(),
        'usable_cores': len(os.sched_getaffinity(0)),
        'load': [round(load, 2) for load in os.getloadavg()],
        'governor': _line(_GOVERNOR), 'kernel_preemption': _line(_PREEMPTION),
        'container': _container()}


def _container() -> dict[str, str] | None:
    """
    Return what can be read of the container that this process runs in, None outside of one.

    Docker tells a container nothing of its image, podman its name and id.
    """
    try:
        lines = _PODMAN.read_text(encoding='utf-8', errors='replace').splitlines()
    except OSError:
        return {'kind': 'docker'} if _DOCKER.exists() else None
    told = dict(line.split('=', 1) for line in lines if '=' in line)
    return {'kind': 'podman', **{name: told[key].strip('"')[:300]
                                 for key, name in _PODMAN_FACTS.items() if key in told}}


def _line(path: Path, key: str = '') -> str | None:
    """Return the first line of a file, or the value of the first that begins with ``key``."""
    try:
        lines = path.read_text(encoding='utf-8', errors='replace').splitlines()
    except OSError:
        return None
    found = next((line for line in lines if line.startswith(key)), None)
    return None if found is None else found.rpartition(':')[2].strip()


@cache
def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
