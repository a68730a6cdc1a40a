# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Plain data as text, messages as CDR, and what a copy has lost: nothing may change on the way."""

from datetime import date, datetime
import math

from cases import for_each
from hypothesis import given
from hypothesis import strategies as st
import pytest
from safety_scenarios.errors import TraceError
from safety_scenarios.ros.link.convert import definition

pytest.importorskip('mcap', reason='the extra mcap is not installed')
from safety_scenarios.trial.mcap.cdr import UnfitError  # noqa: E402
from safety_scenarios.trial.mcap.reading import codec_of, interface  # noqa: E402
from safety_scenarios.trial.plan_data import from_text, Loss, to_text  # noqa: E402

TWIST, SCAN = 'geometry_msgs/msg/Twist', 'sensor_msgs/msg/LaserScan'
NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False), st.booleans())
TEXTS = st.text(st.characters(), max_size=5)  # half surrogate pairs included
PLAIN = st.recursive(
    st.one_of(st.none(), NUMBERS, TEXTS, st.binary(max_size=3), st.dates(),
              st.datetimes().map(lambda at: at.replace(fold=0))),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(TEXTS | st.integers() | st.just('$'), inner, max_size=3)), max_leaves=10)


def codec(name, texts=None):
    return interface(name, None if texts is None else texts.get).codec


@given(PLAIN)
def test_plain_data_comes_back_from_its_text_in_value_type_and_order(value):
    assert repr(from_text(to_text(value))) == repr(value)


@for_each('value', [
    math.nan, math.inf, -math.inf, -0.0, 5e-324, 0.1 + 0.2, 2**70, (), {}, ((),), [], [()], {1},
    {'$': 'nan'}, {'$': 1, 'items': 2}, {3: 'x', (1, 2): 'y'}, '\ud800', b'\0\xff', True, 1, 1.0,
    date(2026, 2, 28), datetime(2026, 2, 28, 12, 0, 0, 5)])
def test_what_json_does_not_know_comes_back_too(value):
    assert repr(from_text(to_text(value))) == repr(value)


def test_a_text_is_one_line_of_ascii_and_json_for_everybody():
    text = to_text({'speed': math.nan, 'said': 'grüße\n\ud800'})
    assert text.isascii() and '\n' not in text and 'NaN' not in text


@for_each('value', [object(), 1j, {'a': (1, {'b': object()})}])
def test_what_is_no_plain_data_is_refused_and_never_guessed(value):
    with pytest.raises(TraceError, match='expected plain data'):
        to_text(value)


@for_each('text', ['', '{', 'NaN x', '{"$":"wat","items":1}', '{"$":"nan2"}',
                   '{"$":"set","items":[{}]}', '{"$":["x"]}', '[' * 100_000])
def test_a_foreign_text_is_a_trace_error(text):
    with pytest.raises(TraceError, match='expected plain data as JSON'):
        from_text(text)


def test_a_twist_is_laid_out_as_dds_does():
    data = {'linear': {'x': 1.0, 'y': 0.0, 'z': 0.0}, 'angular': {'x': 0.0, 'y': 0.0, 'z': -2.0}}
    sent = codec(TWIST).encode(data)
    assert sent.hex() == '00010000' + '000000000000f03f' + '00' * 32 + '00000000000000c0'
    assert codec(TWIST).decode(sent) == data


def test_numbers_begin_at_multiples_of_their_size_counted_from_after_the_header():
    texts = {'p/msg/T': 'uint8 a\nfloat64 b\nuint8[] c\nint16 d\nstring e\nuint8 f\n'
                        'float64[] g\nbool h\n'}
    data = {'a': 1, 'b': 2.0, 'c': (3,), 'd': 4, 'e': 'x', 'f': 5, 'g': (), 'h': True}
    sent = codec('p/msg/T', texts).encode(data)
    assert sent[4:].hex(' ') == (
        '01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 40 01 00 00 00 03 00 04 00 '
        '02 00 00 00 78 00 05 00 00 00 00 00 01')
    assert codec('p/msg/T', texts).decode(sent) == data


@for_each('value', [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7e308])
def test_every_float64_survives(value):
    data = {'data': value}
    back = codec('std_msgs/msg/Float64').decode(codec('std_msgs/msg/Float64').encode(data))
    assert repr(back) == repr(data)


def test_a_nan_that_is_read_is_the_one_of_math():
    scan = codec(SCAN)
    back = scan.decode(scan.encode({'angle_min': float('nan'), 'ranges': (1.0, float('nan'))}))
    assert back['angle_min'] is math.nan and back['ranges'][1] is math.nan
    assert scan.decode(scan.encode({'ranges': (math.inf, -math.inf)}))['ranges'] \
        == (math.inf, -math.inf)


def test_what_is_left_out_takes_the_default_of_the_definition():
    pose = codec('geometry_msgs/msg/Pose')
    assert pose.decode(pose.encode({}))['orientation'] == {'x': 0.0, 'y': 0.0, 'z': 0.0, 'w': 1.0}
    texts = {'p/msg/T': 'int8 a -3  # why\nstring<=9 b "x y"\nfloat32[2] c [1, 2.5]\n'
                        'bool d true\nuint8 LIMIT=7\nint16[] e\nbyte f\n'}
    own = codec('p/msg/T', texts)
    assert own.decode(own.encode({})) == {
        'a': -3, 'b': 'x y', 'c': (1.0, 2.5), 'd': True, 'e': (), 'f': (0,)}


def test_a_message_without_fields_is_one_byte():
    empty = codec('std_msgs/msg/Empty')
    assert empty.encode({}) == b'\0\1\0\0\0'
    assert empty.decode(empty.encode({})) == {}
    texts = {'p/msg/T': 'std_msgs/Empty[2] a\nuint8 b\n'}
    own = codec('p/msg/T', texts)
    assert own.decode(own.encode({'b': 7})) == {'a': ({}, {}), 'b': 7}


@for_each(('name', 'data'), [
    (TWIST, {'linear': {'w': 1.0}}), (TWIST, {'linear': ()}), (TWIST, {'linear': {'x': 'fast'}}),
    (TWIST, {'linear': {'x': None}}), (SCAN, {'ranges': (1e39,)}), (SCAN, {'ranges': 'abc'}),
    (SCAN, {'ranges': ('a',)}), (SCAN, {'ranges': {0.5: 1}}),
    ('sensor_msgs/msg/JointState', {'name': 'abc'}), ('std_msgs/msg/UInt8', {'data': 256}),
    ('std_msgs/msg/UInt8', {'data': 1.5}), ('std_msgs/msg/String', {'data': 'half \ud800'}),
    ('std_msgs/msg/String', {'data': 3}), ('sensor_msgs/msg/Imu', {
        'orientation_covariance': (0.0,) * 8}), (TWIST, {3: 1}), (TWIST, ())])
def test_data_that_does_not_fit_its_type_is_refused(name, data):
    with pytest.raises(UnfitError, match=name):
        codec(name).encode(data)


def test_bytes_that_are_no_such_message_are_refused():
    scan = codec(SCAN)
    sent = scan.encode({'header': {'frame_id': 'laser'}, 'ranges': (1.0, 2.0)})
    for length in range(len(sent)):
        with pytest.raises(UnfitError):
            scan.decode(sent[:length])
    text = codec('std_msgs/msg/String')
    for wrong in (text.encode({'data': 'stop'})[:-2], b'\0\1\0\0\0\0\0\0\0'):
        with pytest.raises(UnfitError, match='a string ends at byte'):
            text.decode(wrong)
    with pytest.raises(UnfitError, match='CDR header 0000'):
        scan.decode(b'\0\0' + sent[2:])
    with pytest.raises(UnfitError, match='a sequence of'):
        codec('diagnostic_msgs/msg/DiagnosticArray').decode(
            codec('std_msgs/msg/Header').encode({}) + b'\0\0\0' + b'\xff' * 8)


@for_each(('name', 'more', 'is_taken'), [
    (TWIST, 3, True), (TWIST, 4, False), (TWIST, 16, False),
    ('sensor_msgs/msg/JointState', 8, True), ('sensor_msgs/msg/JointState', 40, False)])
def test_nothing_but_padding_may_follow_a_message(name, more, is_taken):
    """A TwistStamped is 16 bytes longer than a Twist; Fast DDS aligns what is not there."""
    sent = codec(name).encode({}) + b'x' * more
    if is_taken:
        assert codec(name).decode(sent) == codec(name).decode(sent[:-more])
    else:
        with pytest.raises(UnfitError, match='of another definition'):
            codec(name).decode(sent)


@given(st.dictionaries(st.sampled_from('xyz'), NUMBERS | st.just('x'), max_size=3))
def test_a_loss_restores_the_data_whatever_the_copy_made_of_it(vector):
    data = {'angular': vector}
    try:
        copy = codec(TWIST).decode(codec(TWIST).encode(data))
    except UnfitError:
        return
    loss = Loss.between(data, copy)
    loss = Loss(**from_text(to_text(vars(loss))))
    assert repr(loss.restore(copy)) == repr(data)


@for_each(('data', 'without', 'exact'), [
    ({}, ['linear', 'angular'], {}),
    ({'linear': {'x': 1.0, 'y': 0.0, 'z': 0.0}}, ['angular'], {}),
    ({'linear': {'x': 1}, 'angular': {}},
     ['linear.y', 'linear.z', 'angular.x', 'angular.y', 'angular.z'], {'linear.x': 1}),
    ({'angular': {}, 'linear': {}}, [], {'': {'angular': {}, 'linear': {}}}),
    ({'linear': {'y': 0.0, 'x': 0.0}}, ['angular'], {'linear': {'y': 0.0, 'x': 0.0}})])
def test_a_loss_names_what_was_left_out_and_what_has_changed(data, without, exact):
    loss = Loss.between(data, codec(TWIST).decode(codec(TWIST).encode(data)))
    assert (loss.without, loss.exact) == (without, exact)


@for_each(('given', 'kept'), [
    ((0.5, 1.0), True), ((0.1,), False), ((1, 0.5), False), ([0.5], False), ((True,), False),
    ((math.nan,), True), ((0.5, math.nan), True), ((), True), ([], False)])
def test_a_sequence_is_only_the_same_in_value_and_type(given, kept):
    scan = codec(SCAN)
    data = {'ranges': given}
    loss = Loss.between(data, scan.decode(scan.encode(data)))
    assert ('ranges' not in loss.exact) is kept


def test_a_schema_alone_is_enough_to_read():
    texts = {'p/msg/Out': 'Inner[] inner\ngeometry_msgs/Twist twist\nuint8 LIMIT=3\n',
             'p/msg/Inner': 'string name  # of a joint\r\nfloat32 value\r\n'}
    known = interface('p/msg/Out', texts.get)
    data = {'inner': ({'name': 'a', 'value': 0.5}, {'name': 'b', 'value': -1.0})}
    again = codec_of('p/msg/Out', known.schema)
    back = again.decode(known.codec.encode(data))
    assert back['inner'] == data['inner'] and back['twist']['angular']['z'] == 0.0


@for_each('text', ['wstring x\n', 'Missing x\n', 'other_msgs/Thing[] x\n', '= 3\n',
                   'int8 x [1\n'])
def test_a_type_that_cannot_be_understood_whole_is_not_known(text):
    assert interface('p/msg/T', {'p/msg/T': text}.get) is None
    assert interface('nobody_msgs/msg/T', None) is None


def test_an_unreadable_schema_is_a_trace_error():
    for schema in ('= 3', 'Missing x', 'T x'):
        with pytest.raises(TraceError, match='p/msg/T: its schema'):
            codec_of('p/msg/T', schema)


def test_definitions_are_found_below_the_prefixes_of_the_environment(tmp_path, monkeypatch):
    for prefix, text in (('a', 'uint8 first\n'), ('b', 'uint8 second\n')):
        folder = tmp_path / prefix / 'share' / 'my_msgs' / 'msg'
        folder.mkdir(parents=True)
        (folder / 'Mine.msg').write_text(text)
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{tmp_path}/none:{tmp_path}/a:{tmp_path}/b')
    assert definition('my_msgs/msg/Mine') == 'uint8 first\n'
    assert definition('my_msgs/msg/Other') is None
    monkeypatch.delenv('AMENT_PREFIX_PATH')
    assert definition('my_msgs/msg/Mine') is None
    monkeypatch.setattr('sys.prefix', f'{tmp_path}/b')
    assert definition('my_msgs/msg/Mine') == 'uint8 second\n'


@for_each('name', [
    '', 'Twist', '../msg/x', 'a/msg/../../b', 'a/srv/B', 'a/msg/B\n'])
def test_a_definition_is_only_looked_for_under_the_name_of_an_interface(name):
    assert definition(name) is None
