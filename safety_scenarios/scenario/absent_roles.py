# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A scenario without what it shows on topics that a robot does not have."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from safety_scenarios.scenario.blocks.vary import Draw, STIMULI
from safety_scenarios.scenario.body import RobotBody
from safety_scenarios.scenario.body_intent import BodyIntent
from safety_scenarios.scenario.invariant import InvariantPlugin
from safety_scenarios.scenario.message import parse_path
from safety_scenarios.scenario.stimulus import StimulusContext, StimulusPlugin

Path = tuple[str | int, ...]
_NOMINAL, _CHANGES = ('ros', 'nominal', 'stimuli'), ('ros', 'nominal', 'changes')
_HAZARD = ('ros', 'stimuli')


@dataclass
class LeftOut:
    """What is left of a scenario's body, and what is not."""

    body: RobotBody
    _left_out: dict[str, list[str]] = field(default_factory=dict)
    problems: list[tuple[Path, str]] = field(default_factory=list)
    """Field path and what is wrong: the hazard could not be shown."""
    _places: dict[Path, Mapping[int, int]] = field(default_factory=dict)
    """List in the file to the old and new indices of what is left in it."""

    @property
    def notes(self) -> list[str]:
        """Return what is left out, a sentence for each topic."""
        return [f'{topic} is left out: {", ".join(sorted(places))}'
                for topic, places in self._left_out.items()]

    def keep(self, path: Path, stimuli: Sequence[StimulusPlugin],
             absent: Collection[str]) -> tuple[StimulusPlugin, ...]:
        """Return the stimuli of one list that stay, and remember their places."""
        kept = [index for index, one in enumerate(stimuli) if one.topic not in absent]
        self._places[path] = {old: new for new, old in enumerate(kept)}
        for index, one in enumerate(stimuli):
            if index not in kept:
                self._left_out.setdefault(one.topic, []).append(dotted((*path, index)))
        return tuple(stimuli[index] for index in kept)

    def renumber(self, path: Path, kept: Iterable[int]) -> None:
        """Remember which entries of another list stay."""
        self._places[path] = {old: new for new, old in enumerate(kept)}

    def moved(self, path: str) -> str | None:
        """Return where the field of a path is now; None: it is left out with its stimulus."""
        steps = parse_path(path)
        found: list[str | int] = []
        for index, step in enumerate(steps):
            places = self._places.get(steps[:index])
            if places is not None and isinstance(step, int):
                if step not in places:
                    return None
                step = places[step]
            found.append(step)
        return dotted(tuple(found))


def leave_out(body: RobotBody, absent: Collection[str], context: StimulusContext) -> LeftOut:
    """
    Return a body without the stimuli on some topics; its draws set the same fields as before.

    A stimulus of the hazard is left out only where another one shows the same thing.
    """
    left = LeftOut(body)
    if not any(one.topic in absent for one in body.published):
        return left
    left.problems += _unshown(body.stimuli, absent, context)
    nominal, changes = body.nominal, []
    for index, change in enumerate(nominal.changes):
        kept = left.keep((*_CHANGES, index, 'stimuli'), change.stimuli, absent)
        if kept:
            changes.append((index, change.model_copy(update={'stimuli': kept})))
    left.renumber(_CHANGES, (index for index, _ in changes))
    update: dict[str, Any] = {
        'nominal': nominal.model_copy(update={
            'stimuli': left.keep(_NOMINAL, nominal.stimuli, absent),
            'changes': tuple(change for _, change in changes)}),
        'stimuli': left.keep(_HAZARD, body.stimuli, absent)}
    vary: dict[str, Draw] = {}
    for name, draw in body.vary.items():
        if draw.keeps is not None:
            shown = [kept for topics in draw.choice or ()
                     if (kept := tuple(topic for topic in topics if topic not in absent))]
            if len(shown) > 1:
                vary[name] = draw.model_copy(update={'choice': tuple(shown)})
            elif shown:
                update['stimuli'] = tuple(one for one in update['stimuli']
                                          if one.topic in shown[0])
            else:
                left.problems.append((('ros', 'vary', name, 'choice'), (
                    f'got only choices of {", ".join(sorted(absent))}, which the robot does not '
                    f'have, expected one of another topic that shows the hazard')))
            continue
        sets = tuple(moved for path in draw.sets if (moved := left.moved(path)) is not None)
        if sets:
            vary[name] = draw.model_copy(update={'sets': sets})
    update['invariants'] = tuple(_without(one, absent) for one in body.invariants)
    left.body = body.model_copy(update={**update, 'vary': vary})
    return left


def _without(plugin: InvariantPlugin, absent: Collection[str]) -> InvariantPlugin:
    """Return an invariant about the messages of several topics without those that are absent."""
    update = {name: kept for name in plugin.names_stimuli
              if isinstance(topics := getattr(plugin, name, None), tuple)
              and (kept := tuple(topic for topic in topics if topic not in absent))
              and kept != topics}
    return plugin.model_copy(update=update) if update else plugin


def _unshown(stimuli: Sequence[StimulusPlugin], absent: Collection[str],
             context: StimulusContext) -> Iterator[tuple[Path, str]]:
    """Yield which stimuli of the hazard nothing else shows."""
    shown = [_shown_by(one, context) for one in stimuli if one.topic not in absent]
    for index, one in enumerate(stimuli):
        own = _shown_by(one, context)
        if one.topic in absent and (own is None or own not in shown):
            yield (*_HAZARD, index, 'topic'), (
                f'got the hazard {one.kind} on {one.topic}, which the robot does not have, and no '
                f'other stimulus under {STIMULI} shows the same, expected one on a topic of the '
                f'robot. Add such a stimulus, or run this scenario on another robot')


def _shown_by(plugin: StimulusPlugin, context: StimulusContext) -> Any:
    """
    Return what a stimulus shows, whatever its topic; None: that cannot be compared.

    It is a body in the world, or what is wrong with the messages of a topic.
    """
    intent = plugin.intent(context)
    if isinstance(intent, BodyIntent):
        return intent
    return plugin.model_copy(update={'topic': '', 'rate_hz': 0.0}) \
        if plugin.interface() is None else None


def dotted(path: Path) -> str:
    """Return a field path as text, such as ``ros.stimuli[0].distance``."""
    text = ''
    for step in path:
        text += f'[{step}]' if isinstance(step, int) else f'{"." if text else ""}{step}'
    return text
