# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A guarded link over a robot in simulated time: what is heard is written down, nobody sleeps."""

from collections.abc import Callable, Sequence
import heapq
from itertools import count
from types import SimpleNamespace
from typing import Any

from safety_scenarios.errors import InterlockError
from safety_scenarios.ros.hil.guard import Guard, Readiness, SendBack
from safety_scenarios.ros.hil.guarded_link import GuardedLink
from safety_scenarios.ros.hil.interlock import Alone, MS, PreflightGreen, Word
from safety_scenarios.ros.hil.people import AreaClear, Confirmation, DeadMan, Distance
from safety_scenarios.ros.hil.robot_state import (
    Battery,
    Home,
    Protective,
    Speed,
    Travel,
)
from safety_scenarios.scenario.event import Event, Stamps
from safety_scenarios.scenario.hil import HilSettings
from safety_scenarios.scenario.stimulus import Stimulus
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.trial.link import Gate, Link
from safety_scenarios.trial.summary import PreflightRow
from unit.records import twist

SETTINGS = HilSettings(ready_s=5.0, cool_down_s=1.0)
STIMULUS_MS = 20
"""Period of the stimuli that a trial shows."""
ONE = {'/cmd_vel': ['/controller#1']}
PERIODS_MS = {'deadman': 20, 'feedback': 50, 'distance': 100, 'protective': 200, 'battery': 1000,
              'area': 100, 'graph': 100, 'watch': 10}
"""How often each is heard, or looks."""


def said(**fields: Any) -> Any:
    return SimpleNamespace(**fields)


def odometry(speed: float = 0.0, x: float = 0.0, turn: float = 0.0) -> Any:
    def vector(**values: float) -> Any:
        return said(**{'x': 0.0, 'y': 0.0, 'z': 0.0, **values})
    return said(twist=said(twist=said(linear=vector(x=speed), angular=vector(z=turn))),
                pose=said(pose=said(position=vector(x=x), orientation=vector(w=1.0))))


class Robot(Link):
    """
    All that is around a guard, and the link inside it; time passes while somebody waits.

    :ivar says: what each says at its next turn; None: it is silent
    :ivar left: when each stimulus left (ms)
    :ivar log: what the run log has
    """

    def __init__(self, settings: HilSettings = SETTINGS,
                 send_back: SendBack | None = None) -> None:
        self.now = 10**12
        self.measuring = Measuring(exact=True)
        self.says: dict[str, Any] = {
            'deadman': said(data=True), 'feedback': odometry(), 'distance': said(data=3.0),
            'protective': said(mode=1), 'battery': said(percentage=0.8), 'area': said(data=True),
            'graph': ONE, 'watch': True}
        self.left: list[float] = []
        self.log: list[tuple[str, dict[str, Any]]] = []
        self.answers: dict[str, bool | None] = {}
        self.asked: list[str] = []
        self.told: list[str] = []
        self.disarmed: list[float] = []
        self.rows: Sequence[PreflightRow] = (
            PreflightRow(check='commands', status='ok', detail='fine'),)
        self.events: list[Event] = []
        self.at: list[tuple[int, int, Callable[[], None]]] = []
        """(when, order, what happens)."""
        self._order = count()
        self._due = dict.fromkeys(PERIODS_MS, self.now)
        self.words = {name: Word(f'/{name}', round(age_ms * MS)) for name, age_ms in (
            ('deadman', settings.deadman_timeout_ms), ('feedback', settings.age_ms),
            ('distance', settings.age_ms), ('protective', settings.protective_age_ms),
            ('battery', settings.battery_age_ms), ('area', settings.age_ms))}
        self.deadman = DeadMan(self.words['deadman'], round(settings.deadman_timeout_ms * MS),
                               settings.deadman_rate_hz)
        self.confirmation, self.alone, self.green = Confirmation(), Alone(), PreflightGreen()
        feedback = self.words['feedback']
        early = [self.confirmation, self.deadman,
                 Speed(feedback, settings.speed_cap, settings.turn_cap),
                 Travel(feedback, settings.travel_cap_m),
                 Distance(self.words['distance'], settings.distance_min_m,
                          settings.distance_max_m),
                 Protective(self.words['protective'], {1, 2}),
                 Battery(self.words['battery'], settings.battery_floor),
                 AreaClear(self.words['area'])]
        self.guard = Guard([*early, self.green, self.alone], self.now_ns,
                           lambda what, **fields: self.log.append((what, fields)))
        self.readiness = Readiness(
            settings, self.guard, early, self.confirmation, self.deadman,
            Home(feedback, settings.reset_within_m, settings.reset_within_rad), self, send_back,
            self, self.told.append)
        self.guarded = GuardedLink(self, self.guard, self.readiness, self.alone, self.green, self)

    @property
    def now_ms(self) -> float:
        return self.now / MS

    def now_ns(self) -> int:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pass_until(self.now + round(seconds * 1e9))

    def later(self, delay_ms: float, happens: Callable[[], None]) -> None:
        heapq.heappush(self.at, (self.now + round(delay_ms * MS), next(self._order), happens))

    def press_anew(self, delay_ms: float) -> None:
        """Let the operator release the dead-man after a while, and press it again."""
        self.later(delay_ms, lambda: self.says.update(deadman=said(data=False)))
        self.later(delay_ms + 200, lambda: self.says.update(deadman=said(data=True)))

    def pass_until(self, until_ns: int) -> None:
        """Let time pass, and everybody say what is due."""
        while True:
            name = min(self._due, key=self._due.__getitem__)
            due_ns = min(self._due[name], self.at[0][0] if self.at else until_ns + 1)
            if due_ns > until_ns:
                break
            self.now = max(self.now, due_ns)
            if self.at and self.at[0][0] <= due_ns:
                heapq.heappop(self.at)[2]()
            else:
                self._due[name] += PERIODS_MS[name] * MS
                self._say(name)
        self.now = max(self.now, until_ns)

    def _say(self, name: str) -> None:
        message = self.says[name]
        if message is None:
            return
        if name == 'watch':
            self.guard.watch()
        elif name == 'graph':
            self.alone.saw(message, self.now)
        else:
            self.hear(name, message)

    def hear(self, name: str, message: Any) -> None:
        (self.deadman if name == 'deadman' else self.words[name]).take(message, self.now)
        self.guard.check_now()

    # the operator
    def ask(self, scenario_id: str) -> str:
        self.asked.append(scenario_id)
        return 'say yes'

    def answer(self) -> bool | None:
        return self.answers.get(self.asked[-1], True)

    # what is around the link
    def follow(self, commands: Sequence[str]) -> None:
        pass

    def look(self) -> None:
        self._say('graph')

    def refuse_unlisted(self) -> None:
        pass

    def full_name(self, topic: str) -> str:
        return f'/{topic}'

    # the link inside
    def let_by(self, gate: Gate) -> None:
        self.gate = gate

    def preflight(self) -> Sequence[PreflightRow]:
        return self.rows

    def disarm(self) -> None:
        self.disarmed.append(self.now_ms)

    def mark(self, name: str) -> Event:
        return Event(kind='mark', name=name, stamps=Stamps(
            steady_ns=self.now, system_ns=self.now, ros_ns=self.now))

    def send(self, stimulus: Stimulus, *, hazard: bool, scheduled_ns: int) -> Event:
        self.left.append(self.now_ms)
        return Event(kind='stimulus', name=stimulus.topic, stamps=self.mark('').stamps,
                     message=stimulus.message, hazard=hazard, scheduled_ns=scheduled_ns)

    def receive_until(self, schedule_ns: int) -> Sequence[Event]:
        self.pass_until(schedule_ns)
        events, self.events = self.events, []
        return events


def trial(scenario_id: str = 'S', number: int = 0) -> Any:
    return said(trial_id=f'{scenario_id}.{number}', scenario=said(
        id=scenario_id, body=said(commands=[said(topic='cmd_vel')])))


def play(robot: Robot, scenario_id: str = 'S', seconds: float = 1.0,
         is_begun: Callable[[], None] = lambda: None) -> InterlockError | None:
    """
    Play a trial as the engine does; return what has ended it.

    :param is_begun: called when the first hazard has left
    """
    link = robot.guarded
    shown = Stimulus('scan', twist(0.0))
    try:
        link.open(trial(scenario_id))
        link.send(shown, hazard=False, scheduled_ns=robot.now)
        link.arm()
        until_ns, due_ns = robot.now + round(seconds * 1e9), robot.now
        while due_ns < until_ns:
            link.receive_until(due_ns)
            link.send(shown, hazard=True, scheduled_ns=due_ns)
            if is_begun is not None:
                is_begun()
                is_begun = None
            due_ns += STIMULUS_MS * MS
    except InterlockError as error:
        return error
    finally:
        link.disarm()
    return None
