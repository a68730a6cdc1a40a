# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""In a world: the robot touches nobody and nothing, or no harder than is allowed."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field
from safety_scenarios.judging.judged_trial import JudgedTrial
from safety_scenarios.judging.motion.contacts import Contact, described, STANDS, unknown
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.result import Finding, Verdict

Newton = Annotated[float, Field(gt=0, le=10_000)]


class NoContact(InvariantPlugin):
    """
    Over the whole trial the robot touches nobody and nothing, as the world of the link tells.

    A robot that stands and is walked into is not at fault, nor is one that retreats from there;
    a force that a stimulus applies is no contact. With `regions` a person may be touched there,
    if the force stays within the limit: then the check that is made in every world (*touches
    nobody*) goes by that too. A contact at a region that is not named, or whose region or force
    is not told, is not allowed. The margin is that of the force (N), without `regions` that of
    the robot's own speed (m/s). Without a world nobody can tell: INCONCLUSIVE.
    """

    names_signals: ClassVar[tuple[str, ...]] = ()

    kind: Literal['no_contact'] = 'no_contact'
    bodies_only: bool = False
    """Whether only people count, as where a robot docks or pushes boxes."""
    regions: Mapping[str, Newton] = {}
    """Body region to the largest force that lasts (N), such as of your own copy of ISO/TS 15066;
    left out: no touch at all is allowed."""
    transient_factor: float = Field(default=1.0, ge=1, le=10)
    """How many times as much a force may be in the first 0.5 s of a contact."""

    def permits(self, contact: Any) -> bool:
        """Return whether the regions allow a contact."""
        assert isinstance(contact, Contact)
        margin = self._margin(contact)
        return margin is not None and margin >= 0

    def check(self, trial: JudgedTrial) -> Finding:
        """Judge the worst contact."""
        why = unknown(trial.timeline, trial.motion.world)
        found = [one for one in trial.motion.contacts if one.is_body or not self.bodies_only]
        wrong = [one for one in found if one.is_caused_above(STANDS) and not self.permits(one)]
        if wrong:
            worst = min(wrong, key=lambda one: (not one.is_body, -(one.force or 0.0),
                                                -one.own_speed))
            return self._violated(trial, worst)
        if why is not None:
            return self.finding(Verdict.INCONCLUSIVE, why)
        margins = [margin for one in found if (margin := self._margin(one)) is not None]
        for one in found:
            if one.is_caused_above(STANDS) is None and not self.permits(one):
                return self.finding(Verdict.INCONCLUSIVE, f'{described(one)} and the robot '
                                    f'touched, and nothing tells whether the robot moved')
        if not found:
            return self.finding(Verdict.PASS, 'nothing touched it, as the world tells')
        permitted = [one for one in found if self.permits(one)]
        text = 'no harder than is allowed' if len(permitted) == len(found) else \
            'which the robot did not move into'
        return self.finding(Verdict.PASS, f'{described(found[0])} touched it, {text}, as the '
                            f'world tells', min(margins, default=None) if permitted else None,
                            'N' if permitted else None,
                            trial.timeline.since_onset_ms(found[0].begin_ns))

    def _violated(self, trial: JudgedTrial, worst: Contact) -> Finding:
        margin, at_ms = self._margin(worst), trial.timeline.since_onset_ms(worst.begin_ns)
        if margin is not None:
            return self.finding(
                Verdict.FAIL, f'{-margin:.0f} N more than is allowed: {described(worst)}, as the '
                f'world tells', margin, 'N', at_ms)
        why = '' if not self.regions or not worst.is_body else \
            ', and nothing tells a region and a force that would be allowed'
        return self.finding(
            Verdict.FAIL, f'touched {described(worst)}, itself at {worst.own_speed:.2f} m/s, as '
            f'the world tells{why}', STANDS - worst.own_speed, 'm/s', at_ms)

    def _margin(self, contact: Contact) -> float | None:
        """Return how far the force is from its limit (N), None where none allows it."""
        limits = [self.regions.get(region) for region in contact.regions]
        if not contact.is_body or not limits or None in limits or contact.force is None \
                or not contact.is_force_whole:
            return None
        least = min(limit for limit in limits if limit is not None)
        return min(least * self.transient_factor - contact.force,
                   least - (contact.lasting_force or 0.0))
