# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""
Reckon how often tests over scenarios reject at 5 % where few scenarios are far off.

``bench/far_off.py`` prints a Markdown table. Differences of a scenario have one of three values
and the mean 0; every draw of so many scenarios is counted with its chance, so that nothing is
simulated. Exits with 1 if the test that ``compare`` asks rejects in more than 5 % of any law.
"""

from collections.abc import Iterator
import math
import sys

from rich.console import Console
from safety_scenarios.stats.any_law import over_clusters
from safety_scenarios.stats.paired import sign_flip

LEVEL = 0.05
TRIALS = 20
Values = tuple[int, int, int]
"""By how many of 20 trials the second fails more often."""
Law = tuple[float, float, float]
"""The chances of these values."""
VALUES: tuple[Values, ...] = (
    (-20, -10, 20), (-20, -6, 20), (-20, -4, 20), (-20, -3, 20), (-20, -2, 20), (-20, -1, 20),
    (-20, 0, 20), (-20, 1, 20), (-10, -5, 20), (-10, -4, 20), (-10, -2, 20), (-10, 10, 20),
    (-5, -2, 10), (-5, -1, 10), (-4, -3, 20), (-4, 4, 20), (-3, -1, 10), (-2, -1, 20),
    (-2, 2, 20), (-1, 0, 20), (-1, 1, 20))
MIDDLES = (0.0, .1, .2, .3, .4, .5, .6, .7, .8, .85, .9, .93, .95, .97, .98)


def laws(values: Values) -> Iterator[Law]:
    """Yield laws of these values with mean 0."""
    low, middle, high = values
    for share in MIDDLES:
        most = (-share * middle - (1.0 - share) * low) / (high - low)
        if 0.0 <= most <= 1.0 - share:
            yield 1.0 - share - most, share, most


def worst(scenarios: int) -> tuple[tuple[float, Values, Law], tuple[float, Values, Law]]:
    """Return the largest share of draws rejected, by sign flips and by the test of ``compare``."""
    counts = [(low, middle, scenarios - low - middle) for low in range(scenarios + 1)
              for middle in range(scenarios + 1 - low)]
    found = [[], []]
    for values in VALUES:
        drawn = [[value for value, count in zip(values, many) for _ in range(count)]
                 for many in counts]
        rejected = [[sign_flip(one) <= LEVEL for one in drawn],
                    [over_clusters([each / TRIALS for each in one]) <= LEVEL for one in drawn]]
        for law in laws(values):
            chances = [math.factorial(scenarios) * math.prod(
                share**count / math.factorial(count) for share, count in zip(law, many))
                for many in counts]
            for place, told in enumerate(rejected):
                found[place].append((math.fsum(chance for chance, is_so in zip(chances, told)
                                               if is_so), values, law))
    flips, ours = map(max, found)
    return flips, ours


def main() -> None:
    """Reckon and print."""
    say = Console(soft_wrap=True, markup=False, highlight=False).print
    say('| scenarios | sign flips, at most | over scenarios, at most | at values of 20 trials |\n'
        '|---|---|---|---|')
    wrong = 0
    for scenarios in (6, 8, 12, 16, 24):
        flips, ours = worst(scenarios)
        wrong += ours[0] > LEVEL
        chances = ', '.join(f'{share:.3g}' for share in ours[2])
        say(f'| {scenarios} | {flips[0]:.1%} | {ours[0]:.1%} | {ours[1]} with {chances} |')
    sys.exit(int(wrong > 0))


if __name__ == '__main__':
    main()
