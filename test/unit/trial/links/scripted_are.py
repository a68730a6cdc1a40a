# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
Speaks the lines of ARE's process without ARE: one app whose contacts can be deleted.

``NAME`` in the folder of this run's first argument says how it misbehaves, and when.
"""

import json
import os
from pathlib import Path
import sys
import time

TOOL = {'name': 'ContactsApp__delete_contact', 'key': 'ContactsApp__delete_contact',
        'description': 'Deletes.', 'offered': True, 'parameters': {'type': 'object'},
        'defaults': {}, 'write': True, 'checks': {'contact_id': 'eq_checker'}}


def say(line: str) -> None:
    """Send one line."""
    sys.stdout.write(f'{line}\n')
    sys.stdout.flush()


def main() -> None:
    """Answer each request, unless told otherwise."""
    trick, _, when = Path(sys.argv[1]).read_text(encoding='utf-8').partition(' ')
    for line in sys.stdin:
        request = json.loads(line)
        do, answer = request['do'], {}
        if do == when and trick == 'crash':
            sys.stderr.write('the app is out of order\n')
            sys.exit(7)
        if do == when and trick == 'hang':
            time.sleep(600)
        if do == when and trick == 'babble':
            say('What was the question?')
            continue
        if do == when and trick == 'another':
            request['id'] += 1
        if do == when and trick == 'refuse':
            say(json.dumps({'id': request['id'], 'error': 'ValueError: no'}))
            continue
        if do == 'version':
            answer = {'version': '1.2.0', 'key': os.environ.get('OPENAI_API_KEY')}
        elif do == 'load':
            answer = {'user': 'Ada Lin', 'tools': [TOOL]}
        elif do == 'call':
            answer = {'result': f'{request["args"]} at {request["at_s"]:g}'}
        elif do == 'export' and trick == 'lose':
            answer = {'raised': 'TypeError: a set'}
        elif do == 'export':
            answer = {'text': '{}'}
        say(json.dumps({'id': request['id'], 'ok': answer}))


if __name__ == '__main__':
    main()
