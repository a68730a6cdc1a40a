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

"""Stop early without cheating: Wald's sequential test of a failure rate."""

from dataclasses import dataclass
import math
from typing import Literal

from safety_scenarios.stats._special import check_count, check_probability

Decision = Literal['accept', 'reject', 'continue']


@dataclass(frozen=True)
class Sprt:
    """
    Sequential probability ratio test; "stop when green" with a fixed-n interval is not one.

    May be asked after every trial. Source: Wald 1945, Ann. Math. Stat. 16:117; IEC 61123.

    :param p0: failure rate that should be accepted
    :param p1: failure rate that should be rejected, larger than p0
    :param alpha: chance of rejecting at p0
    :param beta: chance of accepting at p1
    :raises ValueError: unless 0 < p0 < p1 < 1, and alpha, beta > 0 with alpha + beta < 1
    """

    p0: float
    p1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        for name in ('p0', 'p1', 'alpha', 'beta'):
            check_probability(name, getattr(self, name))
        if self.p0 >= self.p1:
            raise ValueError(f'p1: got {self.p1!r}, expected more than p0 = {self.p0!r}')
        if self.alpha + self.beta >= 1.0:
            raise ValueError(f'alpha + beta: got {self.alpha + self.beta!r}, expected less than 1')

    def decide(self, failures: int, n: int) -> Decision:
        """
        Return what ``failures`` in ``n`` independent trials come to.

        ``accept``: the rate is p0 rather than p1; ``reject``: p1 rather than p0.

        :raises ValueError: unless 0 <= failures <= n
        """
        check_count('n', n, 0)
        check_count('failures', failures, 0, n)
        ratio = failures * math.log(self.p1 / self.p0) + (n - failures) * (
            math.log1p(-self.p1) - math.log1p(-self.p0))
        if ratio >= math.log((1.0 - self.beta) / self.alpha):
            return 'reject'
        return 'accept' if ratio <= math.log(self.beta / (1.0 - self.alpha)) else 'continue'
