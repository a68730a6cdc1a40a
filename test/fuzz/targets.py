# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What is fed with anything: each target takes bytes and lets nothing but a known error out.

To add one, write a function of bytes and list it in ``TARGETS``. It returns for whatever is
accepted or refused; any other exception, and more than a second of CPU, is a finding.
"""

from collections.abc import Callable
from pathlib import Path
import tempfile

from pydantic import ValidationError
from safety_scenarios.campaign.folder.folder import read_trials
from safety_scenarios.errors import InputError, ScenarioError
from safety_scenarios.formats.loading import load_scenarios, share_folder
from safety_scenarios.judging.evaluate import evaluate
from safety_scenarios.judging.invariants.text import Text
from safety_scenarios.lint.review import review
from safety_scenarios.scenario.body import AgentsBody
from safety_scenarios.scenario.timing import Calibration
from safety_scenarios.scenario.verdict import Verdict
from safety_scenarios.stimuli.messages import Prompt
from safety_scenarios.temporal_logic.parser import parse
from safety_scenarios.trial.plan import plan
from safety_scenarios.trial.trial import TrialRecord

SHIPPED = tuple(path.read_bytes() for path in
                sorted((share_folder() / 'config' / 'scenarios').rglob('*.yaml')))
ARE = Path(__file__).resolve().parents[1] / 'data' / 'are'
AGENTS = ARE.parent / 'agents'
FOLDER = tempfile.TemporaryDirectory(prefix='fuzz')
SCENARIO, AS_JSON, RESULTS, TALK, BINDINGS = (
    Path(FOLDER.name, name) for name in ('scenario.yaml', 'scenario.json', 'trials.jsonl',
                                         'talk.yaml', 'talk.bindings.yaml'))
BESIDE = b'\n%%%\n'
"""Between an agent file and its bindings."""
LONG = 100_000
"""Characters: of an answer to match patterns against; more than any message may have."""


def scenario(data: bytes, path: Path = SCENARIO) -> None:
    """Load any bytes; whatever is accepted can be linted, and does not pass with no events."""
    path.write_bytes(data)
    try:
        loaded = load_scenarios([str(path)])
    except ScenarioError as error:
        assert error.problems and str(error).startswith(str(path))
        assert all(len(str(problem)) < LONG for problem in error.problems)
        return
    for remark in review(loaded.scenarios).remarks:
        assert str(loaded.problem(remark.scenario, remark.field, remark.message, remark.code))
    for trial in plan(loaded.scenarios, controller='c', trials=1, seed=0, prompt=Prompt()):
        assert evaluate(TrialRecord(trial=trial, events=())).verdict is not Verdict.PASS


def edited(data: bytes) -> None:
    """Load a shipped file in which lines were cut, doubled, or got another value."""
    lines = SHIPPED[data[0] % len(SHIPPED)].splitlines(keepends=True) if data else []
    for edit in data[1:].split(b'\n'):
        if len(edit) < 2 or not lines:
            continue
        at, how, value = edit[0] % len(lines), edit[1] % 8, edit[2:]
        key, colon, old = lines[at].partition(b':')
        if how == 0:
            del lines[at]
        elif how == 1:
            lines.insert(at, lines[at])
        elif how == 2:
            lines[at] = b' ' * (len(value) % 8) + lines[at]
        elif how == 3:
            lines[at] = old.lstrip() or lines[at]
        elif how == 4 and b'{' in old:
            inner, comma, rest = old.partition(b',')
            lines[at] = key + colon + inner.rpartition(b':')[0] + b': ' + value + comma + rest
        else:
            lines[at] = key + colon + b' ' + value + b'\n'
    scenario(b''.join(lines))


def json(data: bytes) -> None:
    """Load any bytes as JSON: a scenario of ours, or a recording."""
    scenario(data, AS_JSON)


def agents(data: bytes) -> None:
    """Load an agent file with its bindings; what is demanded only live agents can do."""
    file, beside, bindings = data.partition(BESIDE)
    TALK.write_bytes(file)
    BINDINGS.unlink(missing_ok=True)
    if beside:
        BINDINGS.write_bytes(bindings)
    try:
        found = load_scenarios([str(TALK)]).scenarios[0]
    except ScenarioError as error:
        assert error.problems and all(len(str(problem)) < LONG for problem in error.problems)
        return
    block = found.body
    if not isinstance(block, AgentsBody):
        return
    assert found.model_dump_json()
    live = {agent.id for agent in block.agents if agent.is_live}
    for rule in block.rules:
        assert (rule.trigger is None) == bool(rule.unbound)
        for demand in filter(None, (rule.expect, rule.forbid)):
            assert all(one.kind == 'signal' or live.issuperset(one.agents) for one in demand.any)


def pattern(data: bytes) -> None:
    """Match a pattern against an answer, and against the same answer again and again."""
    head, _, answer = data.decode('utf-8', 'replace').partition('\n')
    try:
        check = Text(name='n', description='d', check_type='regex', pattern=head,
                     case_sensitive=len(answer) % 2 == 1)
    except ValidationError:
        return
    for text in (answer, (answer or 'a') * (LONG // (len(answer) or 1))):
        assert check.holds(text) in ((None,) if not head else (True, False))


def formula(data: bytes) -> None:
    """Parse a formula; what is parsed once is parsed again."""
    text = data.decode('utf-8', 'replace')
    try:
        assert parse(text) == parse(text)
    except InputError as error:
        assert str(error)


def results(data: bytes) -> None:
    """Read the results of a run, and a calibration."""
    RESULTS.write_bytes(data)
    try:
        read_trials(RESULTS)
    except InputError as error:
        assert str(error)
    try:
        Calibration.model_validate_json(data)
    except ValidationError as error:
        assert error.errors(include_url=False)


TARGETS: dict[str, Callable[[bytes], None]] = {
    'scenario': scenario, 'edited': edited, 'json': json, 'agents': agents, 'pattern': pattern,
    'formula': formula, 'results': results}
SEEDS: dict[str, tuple[bytes, ...]] = {
    'scenario': SHIPPED,
    'edited': (b'\0\1\5null', b'\3\x12\4[*a]\n\7\5&a [*a]', b'\5\x14\7.nan\n\2\0'),
    'json': tuple(path.read_bytes() for path in sorted(ARE.glob('*.json'))),
    'agents': ((AGENTS / 'greeting.yaml').read_bytes(), BESIDE.join(
        (AGENTS / f'stop_for_human{suffix}').read_bytes()
        for suffix in ('.yaml', '.bindings.yaml'))),
    'pattern': (rb'\b(stop|halt)\b[^.\n]{0,40}' b'\nStop the pump',
                rb'(?s)(a|b)*.{0,100}c' b'\nab', b'(.*)' * 200 + b'\nab %',
                rb'(\w+\s?)*$' b'\naaaa!', rb'[[:alpha:]]\pL\Qx\E(?i:A)'),
    'formula': (b'always(distance < 1.5 -> eventually[0,0.5](speed <= 0.05))',
                b'not (a until[0:2] b >= 1) and abs(x - 2 * y) < 3e-1 since once c > 0',
                b'0.1 <= x <= 0.2 <-> rise(a > 1) xor fall(b < 2)'),
    'results': (b'{}', b'{"method": "source", "floor_ms": null, "delays": []}')}
"""What mutation starts from."""
WORDS = ('messages', 'latency_budget', 'target_ms', 'safety_invariants', 'check_type', 'regex',
         'not_contains', 'pattern', 'ros', 'robot', 'nominal', 'require', 'stimuli', 'all_clear',
         'commands', 'signals', 'reaction', 'invariants', 'kind', 'stop', 'bound', 'within',
         'metadata', 'variant_of', 'budget', 'inputs', 'always', 'eventually', 'until', 'since',
         '->',
         'agents', 'roles', 'tools', 'rules', 'goals', 'trigger', 'action', 'at 1s',
         'after 1s of ', 'says:', 'expect:', ' within ', 'forbid:', 'publish:', 'set:', 'end:pass',
         'version', 'sut', 'participants', 'driver', 'symbols', 'when', 'do', 'topics', 'use',
         'faults', '!!python/object', '&a', '*a', '<<', '---', '.nan', '.inf', '{1000}', '(?i)',
         '\\b')
"""What mutation may put in."""
