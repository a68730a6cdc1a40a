# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What must hold for anything: any file, any message, any list of commands."""

from collections.abc import Iterator
from copy import deepcopy
import datetime
import json
import math
from pathlib import Path
import re
from typing import Any

from examples import up_to
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
import pytest
from safety_scenarios.errors import InputError, ScenarioError
from safety_scenarios.formats.loading import load_scenarios, share_folder
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.command_stream import Liveness
from safety_scenarios.judging.invariants.limits import Bound
from safety_scenarios.judging.invariants.stop import Stop
from safety_scenarios.judging.invariants.text import Text
from safety_scenarios.judging.latency.network import clock_offset
from safety_scenarios.scenario.blocks.signal import Limit
from safety_scenarios.scenario.message import Message, parse_path
from safety_scenarios.scenario.timing import Measuring
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.trial.margins import MarginSeries, Sample
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.trial import TrialRecord
from unit.formats.files import places
from unit.records import ALL_CLEAR_MS, are_text, command, driving, hazard, reacting, record
import yaml

SHIPPED = sorted((share_folder() / 'config' / 'scenarios').rglob('*.yaml'))
TEXTS = [path.read_text(encoding='utf-8') for path in SHIPPED]
ODD: list[Any] = [
    None, True, 0, -1, 1.5, 1e308, math.nan, -math.inf, 10**400, '', 'x', 'scan', 'person', '(',
    [], {}, [None], ['scan'], {'a': 1}, {'kind': 'person'}, datetime.date(2026, 1, 1), b'\xff']
TAGS = ['!!bool maybe', '!!timestamp x', '!!int ""', '!!float ""', '!!set {a}', '!!omap [a: 1]',
        '!!binary "@"', '!!python/name:os.system ""', '*nowhere', '&a [*a]', '2026-02-30',
        '0x' + 'f' * 5000, '"\\ud800"', '<<: 3', '? [a]', '!!null x', '~']
numbers = st.floats(allow_nan=True, allow_infinity=True)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3).map(tuple)
    | st.dictionaries(st.from_regex(r'[a-z_]{1,4}', fullmatch=True), inner, max_size=3),
    max_leaves=12)
thorough = settings(deadline=None, max_examples=up_to(300), derandomize=True)


@pytest.fixture(scope='module')
def file(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp('property') / 'scenario.yaml'


def check_loader(file: Path, raw: bytes) -> None:
    """Load; a file is refused with its problems, or gives a scenario that nothing cannot pass."""
    file.write_bytes(raw)
    try:
        found = load_scenarios([str(file)]).scenarios
    except ScenarioError as error:
        assert error.problems and str(error).startswith(str(file))
        return
    except InputError:
        return
    for trial in plan(found, controller='c', trials=1, seed=0, prompt=Prompt()):
        assert evaluate(TrialRecord(trial=trial, events=())).verdict is not Verdict.PASS


@thorough
@given(raw=st.binary(max_size=300))
def test_the_loader_refuses_any_bytes_with_an_input_error(file, raw):
    check_loader(file, raw)


@thorough
@given(text=st.text(max_size=300) | st.lists(st.sampled_from(
    ['messages', 'ros', ':', '\n', '  ', '- ', '{', '}', '[', ']', '&a', '*a', '!!', '|', '"', '#',
     "'", '<<', '?', ',', '1', 'null', '\t', '---\n', '%YAML 1.1\n', *TAGS])).map(''.join))
def test_the_loader_refuses_any_text_with_an_input_error(file, text):
    check_loader(file, text.encode('utf-8', 'replace'))


@thorough
@given(data=st.data())
def test_a_valid_file_with_odd_values_gives_an_input_error_at_most(file, data):
    content = yaml.safe_load(data.draw(st.sampled_from(TEXTS)))
    for _ in range(data.draw(st.integers(1, 3))):
        *way, last = data.draw(st.sampled_from(list(places(content))))
        parent = content
        for step in way:
            parent = parent[step]
        if data.draw(st.integers(0, 3)) == 0:
            del parent[last]
        else:
            parent[last] = deepcopy(data.draw(st.sampled_from(ODD)))  # it may be changed next
    check_loader(file, yaml.safe_dump(content, allow_unicode=True).encode())


@thorough
@given(data=st.data())
def test_a_valid_file_with_mistyped_text_gives_an_input_error_at_most(file, data):
    text = data.draw(st.sampled_from(TEXTS))
    lines = text.splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    tag = data.draw(st.sampled_from(TAGS))
    lines[at] = data.draw(st.sampled_from([
        '', lines[at] * 2, lines[at][1:], ' ' + lines[at], lines[at].replace(':', '', 1),
        re.sub(r': .*', lambda match: f': {tag}', lines[at]),
        re.sub(r'\w+:', lambda match: f'{match[0]} {tag}', lines[at], count=1)]))
    check_loader(file, ''.join(lines).encode())


@thorough
@given(path=st.text(max_size=12) | st.text('ab.[]*-01_', max_size=12), data=anything)
@example(path='', data={})
@example(path='a[*].b', data={'a': ({'b': 1.0}, 2.0)})
def test_any_path_into_any_message_is_a_value_or_a_known_error(path, data):
    try:
        parse_path(path)
        Message.model_construct(type='t', data=data if isinstance(data, dict) else {}).at(path)
    except (ValueError, LookupError) as error:
        assert error.args


@thorough
@given(data=st.dictionaries(st.from_regex(r'[a-z_]{1,4}', fullmatch=True), anything, min_size=1))
def test_every_value_in_a_message_is_found_by_its_path(data):
    message = Message.model_construct(type='t', data=data)
    for path in leaves(data):
        text = ''.join(f'[{step}]' if isinstance(step, int) else f'.{step}' for step in path)
        value: Any = data
        for step in path:
            value = value[step]
        found = message.at(text.lstrip('.'))
        assert (type(found), repr(found)) == (type(value), repr(value))


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, tuple) else ()
    for key, inner in items:
        yield (*path, key)
        yield from leaves(inner, (*path, key))


finite = st.floats(-1e6, 1e6)


@thorough
@given(bounds=st.tuples(finite, finite).map(sorted), value=finite)
def test_a_limit_holds_exactly_inside_its_bounds(bounds, value):
    low, high = bounds
    for limit, holds in ((Limit(signal='s', at_least=low, at_most=high), low <= value <= high),
                         (Limit(signal='s', at_most=high), value <= high),
                         (Limit(signal='s', at_least=low), low <= value)):
        assert Sample(0, limit.margin(value)).holds is holds
        assert limit.margin(math.nan) is limit.margin(None) is None


@thorough
@given(verdicts=st.lists(st.sampled_from(Verdict)), data=st.data())
def test_the_worst_verdict_does_not_depend_on_the_order(verdicts, data):
    shuffled = data.draw(st.permutations(verdicts))
    assert Verdict.worst(shuffled) is Verdict.worst(verdicts)
    cut = data.draw(st.integers(0, len(verdicts)))
    parts = [Verdict.worst(part) for part in (verdicts[:cut], verdicts[cut:]) if part]
    assert Verdict.worst(parts) is Verdict.worst(verdicts)
    assert (Verdict.worst(verdicts) is Verdict.PASS) is (set(verdicts) == {Verdict.PASS})


speeds = st.sampled_from([0.0, 0.04, 0.05, 0.051, 0.3, 0.8, 1.0, 1.001, math.nan, math.inf, None])
strokes = st.lists(st.tuples(st.integers(-69, 299).map(lambda tick: tick * 10.0 + 5), speeds),
                   max_size=4, unique_by=lambda stroke: stroke[0])
drives = st.builds(lambda base, more: sorted([*base, *more], key=lambda stroke: stroke[0]),
                   st.integers(0, 60).map(lambda tick: reacting(tick * 10.0)), strokes)
SAFE = hazard(invariants=(
    Stop(name='stop'), Bound(name='bound', signal='speed', at_most=1.0),
    Liveness(name='alive', topic='cmd_vel', max_gap_ms=300.0)))


@thorough
@given(commands=drives | strokes)
def test_judging_is_a_function_of_the_record(commands):
    first, second = (evaluate(record(commands, SAFE)) for _ in range(2))
    assert first.model_dump_json() == second.model_dump_json()


def moved(commands: list[tuple[float, float]], from_ms: float) -> float:
    """Return how far commands that hold until the next lead until the all-clear (m)."""
    ends = [t_ms for t_ms, _ in commands[1:]] + [ALL_CLEAR_MS]
    return sum(speed * max(0.0, end_ms - max(t_ms, from_ms)) / 1e3
               for (t_ms, speed), end_ms in zip(commands, ends, strict=True)
               if end_ms > from_ms)


@thorough
@given(commands=drives)
@example(commands=reacting(500))
@example(commands=sorted([*reacting(0), (605.0, 0.04)]))
@example(commands=sorted([*reacting(0), (405.0, 0.05)]))
def test_a_pass_is_a_stop_that_can_be_seen_in_the_commands(commands):
    """The verdict once more, in the plainest words; both directions."""
    clean = all(speed is not None and speed <= 1.0 for _, speed in commands)
    moving = [speed for t_ms, speed in commands if t_ms < 0][-1:]
    after = [(t_ms, speed) for t_ms, speed in commands if 0 <= t_ms <= 2500]
    stops = [t_ms for t_ms, speed in after if speed is not None and speed <= 0.05]
    passes = bool(clean and moving and moving[0] >= 0.3 and stops and stops[0] <= 500 and all(
        speed is not None and speed <= 0.05 for t_ms, speed in after if t_ms >= stops[0]))
    if passes:  # it may still creep away: 0.05 m at most, and not as if it went on for a minute
        rest_ms = min(stops[0] + 500, (stops[0] + ALL_CLEAR_MS) / 2)
        pace = moved(after, rest_ms) / (ALL_CLEAR_MS - rest_ms) * 1e3
        assume(not math.isclose(pace, 0.05 / 60))
        passes = moved(after, stops[0]) <= 0.05 and pace < 0.05 / 60
    assert (evaluate(record(commands, SAFE)).verdict is Verdict.PASS) is passes


@thorough
@given(steps=st.lists(st.tuples(st.integers(0, 100), st.sampled_from([None, -1.0, 0.0, 1.0])),
                      unique_by=lambda step: step[0]).map(sorted),
       hold=st.integers(0, 60), until=st.integers(0, 120))
def test_a_hold_is_the_first_that_lasts(steps, hold, until):
    steps = [Sample(t_ns, margin) for t_ns, margin in steps]
    starts = [start for start in steps if start.holds and start.t_ns + hold <= until and all(
        other.holds for other in steps if start.t_ns <= other.t_ns <= start.t_ns + hold)]
    assert MarginSeries(steps).first_held(0, hold, until) == (starts[0] if starts else None)


@thorough
@given(commands=drives | strokes)
def test_a_trace_of_anything_is_json_with_increasing_times(commands):
    found = record(commands, SAFE)
    trace = json.loads(are_text(found, evaluate(found)))
    times = [event['event_time'] for event in trace['completed_events']]
    assert times == sorted(set(times))


@thorough
@given(answer=st.text(st.characters(max_codepoint=126, min_codepoint=9), max_size=40),
       pattern=st.sampled_from(['stop', r'\bno\b', '^a', 'z$', 'a.*z', '[^a-z]', r'\d+', '^$']))
@example(answer='\x1b', pattern='[^a-z]')
@example(answer='n\x0eo', pattern=r'\bno\b')
@example(answer='sto\x1fp', pattern='stop')
def test_a_regular_expression_means_what_it_means_in_python(answer, pattern):
    """Control characters but blanks are invisible: they are not there, separators are blanks."""
    check = Text(name='n', description='d', check_type='regex', pattern=pattern)
    seen = re.sub('[\x0e-\x1b]', '', re.sub('[\x1c-\x1f]', ' ', answer))
    expected = re.search(pattern, seen.lower().strip(), re.IGNORECASE) is not None
    assert check.holds(answer) is expected


trips = st.lists(st.tuples(*[st.integers(0, 10**8)] * 4), min_size=1, max_size=12)


@thorough
@given(ahead=st.integers(-10**18, 10**18), trips=trips)
@example(ahead=0, trips=[(0, 0, 0, 0)])
@example(ahead=7, trips=[(0, 10**8, 1, 0), (0, 3, 0, 10**8)])
def test_the_true_offset_lies_within_its_bound_however_unequal_the_ways(ahead, trips):
    """A trip is: pause before it, time there, thinking, time back."""
    now, ways = 0, []
    for pause, there, thinking, back in trips:
        left = now + pause
        now = left + there + thinking + back
        ways.append((left, left + there + ahead, left + there + thinking + ahead, now))
    found = clock_offset(ways)
    assert found is not None and found.probes == len(trips)
    assert abs(found.offset_ns - ahead) <= found.bound_ns
    narrowest = min(there for _, there, _, _ in trips) + min(back for *_, back in trips)
    assert found.bound_ns == (narrowest + 1) // 2


@thorough
@given(ahead=st.integers(-10**9, 10**9), trips=trips, step=st.integers(1, 10**9),
       sign=st.sampled_from([-1, 1]))
def test_more_probes_never_widen_the_bound_and_a_step_beyond_it_is_noticed(ahead, trips, step,
                                                                           sign):
    ways = [(0, there + ahead, there + ahead, there + back) for _, there, _, back in trips]
    bounds = [found.bound_ns for count in range(1, len(ways) + 1)
              if (found := clock_offset(ways[:count]))]
    assert len(bounds) == len(ways) and bounds == sorted(bounds, reverse=True)
    stepped = (0, ahead + sign * (2 * bounds[-1] + step), ahead + sign * (2 * bounds[-1] + step),
               0)
    assert clock_offset([*ways, stepped]) is None


@thorough
@given(after=st.integers(0, 10**9), uncertainty=st.integers(0, 10**8))
@example(after=500_000_000, uncertainty=0)
@example(after=485_840_000, uncertainty=14_160_000)
@example(after=514_160_000, uncertainty=14_160_000)
def test_no_latency_passes_that_may_be_too_late_and_none_fails_that_may_be_in_time(after,
                                                                                   uncertainty):
    measuring = Measuring(one_host=True, uncertainty_ms={'source': uncertainty / 1e6})
    result = evaluate(record([command(-100, 0.8, left_ms=-100, arrived_ms=-100), command(
        after / 1e6, 0.0, left_ms=after / 1e6, arrived_ms=after / 1e6)], measuring=measuring))
    assert result.verdict is (
        Verdict.PASS if after + uncertainty <= 500_000_000 else
        Verdict.FAIL if after - uncertainty > 500_000_000 else Verdict.INCONCLUSIVE)


def test_a_restless_drive_is_no_pass():
    assert evaluate(record(driving(-600, 3000), SAFE)).verdict is Verdict.FAIL
