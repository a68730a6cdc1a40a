# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What test processes share is built once, however many ask at once and however one ends."""

from pathlib import Path
import subprocess
import sys
import textwrap

from once import built_once
import pytest

BUILDER = textwrap.dedent("""
    from pathlib import Path
    import sys
    import time
    from once import built_once

    folder, number, others = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    asking = folder.parent / 'asking'

    def build(place):
        while len(list(asking.iterdir())) < others:
            time.sleep(0.01)
        place.mkdir()
        (place / 'first.txt').write_text(number)
        time.sleep(0.2)
        (place / 'second.txt').write_text(number)
        with (folder.parent / 'builds.txt').open('a') as file:
            file.write(number)

    (asking / number).touch()
    built_once(folder, 'this', build)
    assert (folder / 'first.txt').read_text() == (folder / 'second.txt').read_text()
""")


def fill(content: str):
    def build(place: Path) -> None:
        place.mkdir()
        (place / 'content.txt').write_text(content)
    return build


def test_of_several_processes_that_ask_at_once_one_builds_and_all_find_it_whole(tmp_path):
    (tmp_path / 'asking').mkdir()
    tests = Path(__file__).parents[1]
    started = [subprocess.Popen([sys.executable, '-c', BUILDER, tmp_path / 'shared', str(number),
                                 '4'], cwd=tests) for number in range(4)]
    assert [process.wait(60) for process in started] == [0, 0, 0, 0]
    assert len((tmp_path / 'builds.txt').read_text()) == 1


def test_what_is_there_is_not_built_again_and_something_else_is(tmp_path):
    folder = tmp_path / 'shared'
    built_once(folder, 'one', fill('one'))
    built_once(folder, 'one', fill('never'))
    assert (folder / 'content.txt').read_text() == 'one'
    (folder / 'left.txt').touch()
    built_once(folder, 'two', fill('two'))
    assert (folder / 'content.txt').read_text() == 'two'
    assert not (folder / 'left.txt').exists()


def test_a_build_that_failed_or_was_killed_is_repaired(tmp_path):
    folder = tmp_path / 'shared'

    def fails(place: Path) -> None:
        fill('half')(place)
        raise OSError('no space left')
    with pytest.raises(OSError, match='no space left'):
        built_once(folder, 'one', fails)
    built_once(folder, 'one', fill('whole'))
    assert (folder / 'content.txt').read_text() == 'whole'
    killed = ('import os, signal; from once import built_once; from pathlib import Path\n'
              'def build(place):\n'
              '    place.mkdir()\n'
              '    (place / "content.txt").write_text("half")\n'
              '    os.kill(os.getpid(), signal.SIGKILL)\n'
              f'built_once(Path({str(folder)!r}), "two", build)')
    ended = subprocess.run([sys.executable, '-c', killed], cwd=Path(__file__).parents[1],
                           timeout=60, check=False)
    assert ended.returncode == -9 and (folder / 'content.txt').read_text() == 'half'
    built_once(folder, 'two', fill('whole again'))
    assert (folder / 'content.txt').read_text() == 'whole again'
