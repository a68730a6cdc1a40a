# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A controller's parameters: typed by its own model, named in results, and never a secret."""

from collections.abc import Mapping
import enum
from typing import Any, ClassVar, Literal

from cases import for_each
from pydantic import Field, SecretStr
import pytest
from safety_scenarios import registry
from safety_scenarios.controllers.rule_based import RuleBased
from safety_scenarios.errors import SettingsError
from safety_scenarios.scenario.controller import ControllerPlugin, ControllerSpec
from safety_scenarios.scenario.noun import Noun
from safety_scenarios.scenario.settings import ControllerSettings
from safety_scenarios.trial.parameters import (
    known_parameters,
    read_parameters,
    set_parameters,
    to_text,
)
from unit.linked import begun


class Colour(enum.Enum):
    RED = 'red'


class Gains(Noun):
    p: float = 1.0
    password: str = ''


class Rich(ControllerPlugin):
    """Has a parameter of every kind."""

    model: str = ''
    count: int = Field(default=1, ge=0, le=9)
    ratio: float = 0.5
    flag: bool = False
    names: tuple[str, ...] = ()
    weights: tuple[float, ...] = (1.0,)
    mode: Literal['a', 'b'] = 'a'
    colour: Colour = Colour.RED
    limit: float | None = None
    extra: Mapping[str, float] = {}
    gains: Gains = Gains()
    api_key: str = ''
    badge: SecretStr = SecretStr('s3cret')

    old_names: ClassVar[Mapping[str, str]] = {'server.model': 'model'}

    _count: int = 0


class Needs(ControllerPlugin):
    weights: str


@for_each(('text', 'name', 'value'), [
    ('model=4.1', 'model', '4.1'), ('model=true', 'model', 'true'), ('model=', 'model', ''),
    ('model=a=b c', 'model', 'a=b c'), ('server.model=x', 'model', 'x'),
    ('count=3', 'count', 3), ('ratio=1', 'ratio', 1.0), ('ratio=2.5e-1', 'ratio', 0.25),
    ('flag=true', 'flag', True), ('names=["a", "b"]', 'names', ('a', 'b')),
    ('weights=[1, 2.5]', 'weights', (1.0, 2.5)), ('mode=b', 'mode', 'b'),
    ('colour=red', 'colour', Colour.RED), ('limit=2', 'limit', 2.0),
    ('limit=null', 'limit', None), ('extra={"a": 1}', 'extra', {'a': 1.0}),
    ('gains.p=3', 'gains', Gains(p=3.0)), (' count =3', 'count', 3)])
def test_text_is_read_as_the_model_of_the_controller_wants_it(text, name, value):
    assert read_parameters([text], Rich) == {name: value}


@for_each(('texts', 'reason'), [
    (['cuont=3'], r'^controller\.cuont: got an unknown parameter, expected one of colour, count, '
                  r"extra, flag, gains\.p, .*Did you mean 'count'\?$"),
    (['count'], r'^controller\.count: got no value, expected controller\.KEY=VALUE$'),
    (['count=10'], r'^controller\.count: got 10, expected at most 9$'),
    (['count=1.5'], r'^controller\.count: got 1\.5, expected a whole number$'),
    (['count=many'], r"^controller\.count: got 'many', expected a whole number$"),
    (['ratio=NaN'], r'^controller\.ratio: got nan, expected a finite number$'),
    (['flag=1'], r'^controller\.flag: got 1, expected true or false$'),
    (['mode=c'], r"^controller\.mode: got 'c', expected one of a, b\.$"),
    (['names=a'], r"^controller\.names: got 'a', expected a list$"),
    (['gains=1'], r'^controller\.gains: got an unknown parameter'),
    (['count=1', 'count=2'], r"^controller\.count: got '1' and '2', expected one value"),
    (['model=a', 'server.model=b'], r"^controller\.server\.model: got 'a' and 'b', expected one"),
])
def test_what_does_not_fit_is_named_with_what_would(texts, reason):
    with pytest.raises(SettingsError, match=reason):
        read_parameters(texts, Rich)


def test_the_same_value_twice_is_one():
    assert read_parameters(['model=a', 'server.model=a'], Rich) == {'model': 'a'}


def test_a_controller_without_parameters_says_so():
    with pytest.raises(SettingsError, match='expected none: this controller has no parameters'):
        read_parameters(['x=1'], registry.resolve('controllers', 'always_stop'))


def test_a_parameter_that_must_be_set_is_asked_for():
    with pytest.raises(SettingsError, match=r'^controller\.weights: got nothing, expected a value'
                                            r'\. Set it as controller\.weights=VALUE$'):
        read_parameters([], Needs)
    assert set_parameters(Needs(weights='w.pt')) == {'weights': 'w.pt'}


@for_each('name', ['api_key', 'badge', 'gains.password', 'API_KEY', 'auth_token'])
def test_a_secret_is_no_parameter_whether_the_controller_has_it_or_not(name):
    with pytest.raises(SettingsError, match='got a secret.*environment variable') as refused:
        read_parameters([f'{name}=hunter2'], Rich)
    assert 'hunter2' not in str(refused.value)


def test_what_is_recorded_differs_from_the_defaults_and_holds_no_secret():
    assert set_parameters(Rich()) == {}
    made = Rich(count=1, ratio=0.5, names=('a',), colour=Colour.RED, gains=Gains(
        p=2.0, password='hunter2'), api_key='hunter2', badge=SecretStr('hunter2'))
    assert set_parameters(made) == {'names': ['a'], 'gains.p': 2.0}


@for_each('made', [
    Rich(model='x y', count=3, weights=(2.0,), flag=True, limit=1.0, extra={'a': 1.0}, mode='b'),
    Rich(gains=Gains(p=0.1)), RuleBased(stop_distance_m=1.25)])
def test_what_is_recorded_reads_as_the_same_parameters(made: ControllerPlugin):
    recorded = set_parameters(made)
    texts = [to_text(name, value) for name, value in recorded.items()]
    again = type(made)(**read_parameters(texts, type(made)))
    assert set_parameters(again) == recorded != {}


def test_a_controller_is_its_name_and_what_was_set():
    plain = ControllerSpec(name='rule_based')
    assert (plain.label, plain.is_plain) == ('rule_based', True)
    near = ControllerSpec(name='rule_based', parameters={'stop_distance_m': 1.0})
    assert (near.label, near.is_plain) == ('rule_based(stop_distance_m=1.0)', False)
    assert ControllerSpec(name='llm', parameters={'model': 'a/b', 'cruise': 1.0}).label == \
        'llm(model=a/b, cruise=1.0)'
    named = ControllerSpec(name='external', label='mine v2')
    assert (named.label, named.is_plain) == ('mine v2', False)


def test_long_labels_are_cut_and_stay_apart():
    one, two = (ControllerSpec(name='llm', parameters={'prompt': 'x' * 500 + end}).label
                for end in 'ab')
    assert len(one) == len(two) == 100 and one != two and one.startswith('llm(prompt=xxx')


def test_a_parameter_cannot_take_the_place_of_what_every_controller_has():
    with pytest.warns(UserWarning, match='shadows'), \
            pytest.raises(TypeError, match=r'Eager\.period_ns: got a parameter, expected a prop'):
        type('Eager', (ControllerPlugin,), {
            '__annotations__': {'period_ns': int}, 'period_ns': 7, '__module__': __name__})


def test_a_controller_that_only_has_parameters_has_a_default_for_all_else():
    plugin = begun(Rich, ControllerSettings(period_ms=33.5))
    assert (plugin.period_ns, plugin.answer_delay_ns, plugin.takes_real_time) == (
        33_500_000, 0, False)
    assert plugin.decide(None) is None and plugin.answer(()) is None
    assert len(plugin.inputs) == 8 and plugin.close() is None


def test_the_context_is_not_there_before_it_is_told():
    with pytest.raises(RuntimeError, match='Rich: got no context'):
        Rich().context  # noqa: B018


@for_each('name', registry.BUILT_IN['controllers'])
def test_the_state_of_two_controllers_is_not_shared(name):
    kind: Any = registry.resolve('controllers', name)
    one, two = kind(), kind()
    for attribute in kind.__private_attributes__:
        mine = (one.__pydantic_private__ or {}).get(attribute)
        if isinstance(mine, (list, dict, set)) or hasattr(mine, 'append'):
            assert mine is not two.__pydantic_private__[attribute], attribute


def test_parameters_are_known_by_dotted_names_without_secrets():
    assert 'gains.p' in known_parameters(Rich)
    assert not {'api_key', 'badge', 'gains.password'} & set(known_parameters(Rich))


class Server(Noun):
    api_key: str = ''
    host: str = ''


class Nested(ControllerPlugin):
    server: Server | None = None
    servers: tuple[Server, ...] = ()
    headers: Mapping[str, str] = {}


@for_each('text', [
    'server={"api_key": "hunter2"}', 'headers={"Authorization": "hunter2"}',
    'servers=[{"host": "a"}, {"api_key": "hunter2"}]', 'headers={"a": "http://me:hunter2@b"}'])
def test_a_secret_inside_a_value_is_refused_without_being_shown(text):
    with pytest.raises(SettingsError, match='got a secret') as refused:
        read_parameters([text], Nested)
    assert 'hunter2' not in str(refused.value)


def test_a_secret_inside_an_object_is_in_none_of_its_parameters():
    made = Nested(server=Server(api_key='hunter2', host='http://me:hunter2@b'),
                  servers=(Server(api_key='hunter2', host='c'),), headers={'token': 'hunter2'})
    assert set_parameters(made) == {'server': {'host': 'http://b'}, 'servers': [{'host': 'c'}],
                                    'headers': {}}
