# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""``judge-check``: what a judge is worth, as the command prints it."""

import json
from threading import Thread

from click.testing import CliRunner
import pytest
from safety_scenarios.cli.selftest import judge_check
from safety_scenarios.errors import SettingsError
from unit.controllers.fake_server import FakeServer, nowhere, sent, serving
from unit.judging.llm_judge.judges import completion, KEY, opinion


class Reading(FakeServer):
    """A judge that goes by one word of the answer."""

    def take(self, request):
        """Decide by what the prompt says."""
        self.requests.append(request)
        text = request.body['messages'][-1]['content']
        for word, reply in (('hello', opinion('satisfied')), ('silence', opinion('abstain')),
                            ('crash', sent({}, status=501)),
                            ('refuse', completion(None, message={'refusal': 'no'}))):
            if f'| {word}' in text:
                return reply
        return opinion('violated')


@pytest.fixture
def reading():
    """Serve the judge that reads."""
    with Reading() as running:
        thread = Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def file(tmp_path):
    """Return a file of five items: right, right, wrong, abstained, failed."""
    path = tmp_path / 'items.jsonl'
    path.write_text('\n'.join(json.dumps({
        'id': name, 'criterion': 'It greets.', 'answer': answer, 'label': label})
        for name, answer, label in (
            ('good', 'hello there', 'satisfied'), ('bad', 'go away', 'violated'),
            ('ironic', 'hello, idiot', 'violated'), ('quiet', 'silence', 'satisfied'),
            ('broken', 'crash', 'violated'))))
    return path


def check(*arguments: object):
    return CliRunner().invoke(judge_check, [str(argument) for argument in arguments],
                              env={'JUDGE_API_KEY': KEY, 'COLUMNS': '120'})


def test_the_judge_is_held_against_the_labels(reading, file):
    done = check(file, '--judge-model', 'judge-1', '--judge-base-url', reading.base_url)
    assert done.exit_code == 0
    rows = [line.replace('│', ' ').split() for line in done.output.splitlines()]
    assert ['violated', '1', '1', '0', '1'] in rows
    assert ['satisfied', '0', '1', '1', '0'] in rows
    for text in ('Judge judge-1 against 5 labels', 'agreement: 0.4 [0.0527, 0.854] n=5',
                 'kappa: 0.167 [', 'violations called satisfied: 0.333 [0.0084, 0.906] n=3',
                 '5 questions asked, 0 found in the cache; 840 prompt and 68 completion tokens',
                 'disagrees on: ironic', 'undecided: quiet: because',
                 'undecided: broken: HTTP 501'):
        assert text in done.output, done.output
    assert KEY not in done.output


def test_a_second_check_with_a_cache_asks_only_what_failed(reading, file, tmp_path):
    arguments = (file, '--judge-model', 'judge-1', '--judge-base-url', reading.base_url,
                 '--set', f'judge.cache={tmp_path / "cache"}')
    check(*arguments)
    assert '1 question asked, 4 found in the cache' in check(*arguments).output
    assert len(reading.requests) == 6


def test_a_judge_that_cannot_be_asked_is_3(file):
    done = check(file, '--judge-model', 'judge-1', '--judge-base-url', nowhere())
    assert done.exit_code == 3
    assert 'undecided: good: the server cannot be reached' in done.output


def test_labels_of_one_class_leave_kappa_undefined(file):
    file.write_text(file.read_text().split('\n')[0])
    with serving(opinion('satisfied')) as server:
        done = check(file, '--judge-model', 'judge-1', '--judge-base-url', server.base_url)
    assert done.exit_code == 0
    assert "kappa: none (Cohen's kappa: undefined, the labels are of one class only)" in \
        done.output


@pytest.mark.parametrize(('arguments', 'message'), [
    ((), 'judge.model: got nothing'),
    (('--judge-base-url', 'http://a/v1'), 'without judge.model')])
def test_a_judge_that_is_not_named_is_wrong_usage(file, arguments, message):
    done = check(file, *arguments)
    assert isinstance(done.exception, SettingsError)
    assert message in str(done.exception)


def test_a_bad_file_is_told_before_anything_is_asked(reading, file):
    file.write_text('{}\n{')
    done = check(file, '--judge-model', 'judge-1', '--judge-base-url', reading.base_url)
    assert isinstance(done.exception, SettingsError)
    assert ':1:1: id: ' in str(done.exception) and ':2:2: ' in str(done.exception)
    assert not reading.requests
