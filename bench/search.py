# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Trials until a planted failure is found, by each method side by side, and known rare events.

``python bench/search.py [--seeds 20] [--only planted|rare]``. The landscapes are in
``test/planted.py``. psy-taliro takes part where it is installed (``--path DIR`` where it was
installed with ``pip install --target DIR psy-taliro``); it minimises the same margins over the
shares of each draw. Random search's median is computed from the failing share.
"""

import argparse
import math
from pathlib import Path
import sys
import time

import numpy

sys.path.append(str(Path(__file__).resolve().parents[1] / 'test'))
from planted import expected_trials, PLANTED, Planted, SPACE  # noqa: E402
from safety_scenarios.studies.search.failures import search  # noqa: E402, I202
from safety_scenarios.studies.search.rare_events import estimate  # noqa: E402
from safety_scenarios.studies.search.samplers import SAMPLERS  # noqa: E402
from safety_scenarios.studies.search.space import History, Outcome  # noqa: E402

_USUAL = {'keeps its protective distance': 5.0, 'reaction within the budget': 1.9}
"""Margins of an ordinary trial, for a method that takes one number."""


def say(text: str) -> None:
    """Write a line at once: a run takes long."""
    sys.stdout.write(text + '\n')
    sys.stdout.flush()


def by_sampler(name: str, planted: Planted, seed: int, most: int) -> float:
    """Return the trials until a failure, by one of our samplers or Optuna's."""
    history = History()
    search(lambda worlds: [planted.outcome(SPACE.values(world.point)) for world in worlds],
           SAMPLERS[name](SPACE, seed, history), history, most, seed_of=lambda place: 0,
           stop=lambda: bool(history.failures))
    return len(history) if history.failures else math.inf


def by_staliro(planted: Planted, seed: int, most: int) -> float:
    """Return the trials until a failure, by the dual annealing of psy-taliro."""
    from staliro import costfunc, staliro, TestOptions
    from staliro.optimizers import DualAnnealing
    tried: list[Outcome] = []

    @costfunc
    def cost(inputs: object) -> float:
        shares = [inputs.static[name] for name in SPACE.names]  # type: ignore[attr-defined]
        outcome = planted.outcome(SPACE.values(SPACE.point_at(shares)))
        tried.append(outcome)
        return min(margin / _USUAL[check] for check, margin in outcome.margins.items()
                   if check in _USUAL)
    staliro(cost, DualAnnealing(min_cost=0.0), TestOptions(
        static_inputs=dict.fromkeys(SPACE.names, (0.0, 1.0)), iterations=most,
        seed=seed + 1, runs=1))
    return next((place + 1 for place, one in enumerate(tried) if one.is_failure), math.inf)


def compare_planted(seeds: int, most: int, has_staliro: bool) -> None:
    """Print the median trials of each method for each landscape."""
    for planted in PLANTED:
        median = expected_trials(planted.share)
        say(f'{planted.name}: 1 in {1 / planted.share:.0f} fails; random search '
            f'{median:.0f} trials (median), a twentieth {median / 20:.0f}')
        for name in ('guided', 'tpe', 'cma', 'psy-taliro'):
            if name == 'psy-taliro' and not has_staliro:
                say('  psy-taliro: not installed')
                continue
            began_s = time.process_time()
            found = [by_staliro(planted, seed, most) if name == 'psy-taliro'
                     else by_sampler(name, planted, seed, most) for seed in range(seeds)]
            middle = float(numpy.median(found))
            say(f'  {name:10}: median {middle:.0f}, found {sum(map(math.isfinite, found))} of '
                f'{seeds} within {most}, '
                f'{median / middle if middle < math.inf else 0:.1f} x sooner than random, '
                f'{time.process_time() - began_s:.0f} s of CPU')


def compare_rare(runs: int) -> None:
    """Print estimate and interval of known rare events against the truth."""
    from unit.studies.search.test_rare_events import CASES
    for name, (make, axes) in CASES.items():
        for share in (1e-4, 1e-5, 1e-6):
            found = [estimate(make(share), axes, 40_000, seed) for seed in range(runs)]
            stated = [one for one in found if not one.problems]
            hold = sum(one.rate.low <= share <= one.rate.high for one in stated)
            ratios = [one.rate.share / share for one in stated]
            gain = [one.rate.plain_trials / one.trials for one in stated]
            say(f'{name} {share:g}: stated in {len(stated)} of {runs} runs, {hold} hold the '
                f'share; estimate / share {numpy.median(ratios):.2f} (median); plain sampling '
                f'needs {numpy.median(gain):.0f} x the trials')


def main() -> None:
    """Run both comparisons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seeds', type=int, default=20)
    parser.add_argument('--most', type=int, default=400)
    parser.add_argument('--runs', type=int, default=50)
    parser.add_argument('--only', choices=('planted', 'rare'))
    parser.add_argument('--path', help='folder where psy-taliro was installed')
    given = parser.parse_args()
    if given.path:
        sys.path.append(given.path)
    try:
        import staliro  # noqa: F401
        has_staliro = True
    except ImportError:
        has_staliro = False
    if given.only != 'rare':
        compare_planted(given.seeds, given.most, has_staliro)
    if given.only != 'planted':
        compare_rare(given.runs)


if __name__ == '__main__':
    main()
