# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Feed the loaders with whatever coverage suggests, and stop by itself.

::

    python test/fuzz/fuzz_loaders.py --seconds 600
    python test/fuzz/fuzz_loaders.py --seconds 60 --target pattern
    python test/fuzz/fuzz_loaders.py --replay pattern findings/crash-...

Needs ``pip install atheris``. Ends with 1 when there is a finding: an unknown exception, more than
a second of CPU for one input, or memory that grows. The input is kept beside the report.
"""

import argparse
from functools import cache
import os
from pathlib import Path
import resource
import subprocess
import sys
import time

MAX_CPU_S = 1.0
MAX_GROWTH_MB = 150.0
MAX_INPUT = 4096
WARM_UP = 0.1
"""Share of the time after which memory is measured for the first time."""
_SHOWN = 4000
TARGETS = 'scenario', 'edited', 'json', 'agents', 'pattern', 'formula', 'results'


class Finding(Exception):
    """What a target let through that is no exception."""


def say(text: str) -> None:
    sys.stdout.write(text + '\n')
    sys.stdout.flush()


def memory_mb() -> float:
    """Return the resident memory of this process (MB)."""
    pages = int(Path('/proc/self/statm').read_text(encoding='ascii').split()[1])
    return pages * resource.getpagesize() / 1e6


class Watch:
    """Runs one target, and ends the process when its time is over."""

    def __init__(self, name: str, seconds: float) -> None:
        from targets import TARGETS as FUNCTIONS
        self._name, self._target, self._seconds = name, FUNCTIONS[name], seconds
        self._began = time.monotonic()
        self._start_mb: float | None = None
        self._count = 0
        self._slowest_s = 0.0

    def __call__(self, data: bytes) -> None:
        """Run one input."""
        cpu_s = time.process_time()
        self._target(data)
        cpu_s = time.process_time() - cpu_s
        self._count += 1
        self._slowest_s = max(self._slowest_s, cpu_s)
        if cpu_s > MAX_CPU_S:
            raise Finding(f'{cpu_s:.1f} s of CPU for {len(data)} bytes, expected at most '
                          f'{MAX_CPU_S:g}')
        elapsed_s = time.monotonic() - self._began
        if self._start_mb is None and elapsed_s >= WARM_UP * self._seconds:
            self._start_mb = memory_mb()
        if elapsed_s >= self._seconds:
            self._end()

    def _end(self) -> None:
        end_mb = memory_mb()
        start_mb = end_mb if self._start_mb is None else self._start_mb
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
        grows = end_mb - start_mb > MAX_GROWTH_MB
        say(f'{self._name:10} {self._count:9} executions, slowest {self._slowest_s:.3f} s, memory '
            f'{start_mb:.0f} MB at the start, {end_mb:.0f} MB at the end, peak {peak_mb:.0f} MB'
            + (f': it grows by more than {MAX_GROWTH_MB:g} MB' if grows else ''))
        os._exit(1 if grows else 0)


def fuzz(name: str, seconds: float, folder: Path) -> None:
    """Fuzz one target in this process; does not return."""
    import atheris
    with atheris.instrument_imports(include=['safety_scenarios', 'yaml']):
        import targets
    from safety_scenarios import registry
    registry.entry_points = cache(registry.entry_points)  # else read from disk at every look-up
    corpus = folder / f'corpus-{name}'
    corpus.mkdir()
    for index, seed in enumerate(targets.SEEDS[name]):
        (corpus / f'seed{index}').write_bytes(seed)
    words = folder / 'words'
    words.write_text(''.join(f'"{word}"\n'.replace('\\', '\\\\') for word in targets.WORDS),
                     encoding='ascii')
    atheris.Setup([sys.argv[0], str(corpus), f'-max_len={MAX_INPUT}', '-timeout=30',
                   '-rss_limit_mb=2048', '-verbosity=0', '-print_final_stats=0',
                   f'-dict={words}', f'-artifact_prefix={folder}/{name}-'], Watch(name, seconds))
    atheris.Fuzz()


def fuzz_all(names: list[str], seconds: float, folder: Path) -> int:
    """Fuzz targets one after the other, each in a process of its own; return the exit code."""
    os.nice(10)
    folder.mkdir(parents=True)
    failed = []
    for name in names:
        done = subprocess.run([sys.executable, __file__, '--one', name, '--seconds',
                               str(seconds / len(names)), '--folder', str(folder)],
                              stderr=subprocess.PIPE, text=True, errors='replace', check=False)
        if done.returncode:
            failed.append(name)
            say(done.stderr[-_SHOWN:])
    found = sorted(str(path) for name in names for path in folder.glob(f'{name}-*'))
    say(f'findings: {", ".join(failed) or "none"}' + (f'; inputs: {", ".join(found)}'
                                                      if found else ''))
    return 1 if failed else 0


def main() -> int:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    reader.add_argument('--seconds', type=float, default=600.0, help='for all targets together')
    reader.add_argument('--target', choices=TARGETS, action='append', help='default: all')
    reader.add_argument('--folder', type=Path, default=Path('runs', f'fuzz-{os.getpid()}'),
                        help='new folder for the corpus and for findings')
    reader.add_argument('--replay', nargs=2, metavar=('TARGET', 'FILE'),
                        help='run one input again, without atheris')
    reader.add_argument('--one', choices=TARGETS, help=argparse.SUPPRESS)
    given = reader.parse_args()
    if given.replay:
        Watch(given.replay[0], 3600.0)(Path(given.replay[1]).read_bytes())
        return 0
    if given.one:
        fuzz(given.one, given.seconds, given.folder)
    return fuzz_all(given.target or list(TARGETS), given.seconds, given.folder)


if __name__ == '__main__':
    sys.exit(main())
