# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The blocks of a page, and what the tests do with them.

A block is fenced, with a language. Comments right above it say how it is tested:

``<!-- not run: reason -->``
    it needs what no test may have, such as a robot or a network
``<!-- replace: OLD => NEW -->``
    in the test only
``<!-- as written -->``
    ``--trials N`` stays as it is; else ten or more trials are two in the test
``<!-- exit: N -->``
    exit code of each of its commands; a single command says it by ``# exit code N`` behind it
``<!-- in the test: exit N -->``
    the exit code with what was replaced, where that is another one
``<!-- output -->``
    of a ``text`` block: each of its lines is in the output of the block before; ``...`` leaves out

A ``python`` or ``yaml`` block whose first line is ``# file: NAME`` is written to that file.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
import re
import shlex
import subprocess

from safety_scenarios.cli.main import main

ROOT = Path(__file__).parents[1]
SHELLS = ('bash', 'sh', 'console', 'shell')
_FENCE = re.compile(r'^```(\w*)\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_MARK = re.compile(r'<!--\s*(not run|replace|as written|exit|in the test|output)'
                   r'(?::\s*(.*?))?\s*-->')
_EXIT = re.compile(r'#.*?\bexit code (\d)')


@dataclass
class Block:
    """A fenced block, and the comments right above it."""

    language: str
    text: str
    line: int
    marks: list[tuple[str, str]] = field(default_factory=list)

    def mark(self, name: str) -> str | None:
        """Return what a comment says, None without it."""
        return next((value or '' for found, value in self.marks if found == name), None)

    @property
    def file(self) -> str | None:
        """Return the name of the file that it is to be written to."""
        found = re.match(r'# file: (\S+)', self.text)
        return found[1] if found else None


@dataclass(frozen=True)
class Line:
    """One command of a block."""

    command: str
    """As it is written, without its comment and prompt."""
    tested: str
    """As the test runs it."""
    code: int
    """The exit code that it ends with in the test."""


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    found = []
    for match in _FENCE.finditer(text):
        above = text[:match.start()].rstrip('\n').splitlines()
        marks: list[tuple[str, str]] = []
        while above and (mark := _MARK.fullmatch(above[-1].strip())):
            marks.insert(0, (mark[1], mark[2]))
            above.pop()
        found.append(Block(match[1], match[2], text[:match.start()].count('\n') + 1, marks))
    return found


def indented(text: str) -> Iterator[str]:
    """Yield the lines of indented blocks, which are commands where they begin as one."""
    for part in _FENCE.sub('', text).splitlines():
        if re.match(r' {4}\S', part):
            yield bare(part)


def bare(line: str) -> str:
    """Return a command without its comment and prompt."""
    return re.sub(r'(^|\s+)#(\s.*)?$', '', line.strip()).removeprefix('$ ')


def lines(block: Block) -> Iterator[Line]:
    """Yield the commands of a shell's block; of a console only what is behind a prompt."""
    text = block.text.replace('\\\n', ' ')
    for written in text.splitlines():
        command = ' '.join(bare(written).split()) if '"' not in written and "'" not in written \
            else bare(written)
        if not command or (block.language == 'console' and not written.startswith('$ ')):
            continue
        tested = command
        if block.mark('as written') is None:
            tested = re.sub(r'--trials \d{2,}', '--trials 2', tested)
        for name, value in block.marks:
            if name == 'replace':
                old, arrow, new = value.partition('=>')
                assert arrow, f'line {block.line}: expected OLD => NEW'
                tested = tested.replace(old.strip(), new.strip())
        said = _EXIT.search(written)
        code = int(said[1]) if said else int(block.mark('exit') or 0)
        other = re.fullmatch(r'exit (\d)', block.mark('in the test') or '')
        yield Line(command, tested, int(other[1]) if other else code)


def is_ours(command: str) -> bool:
    """Return whether it is one command of this package, and nothing that a shell must read."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return words[:1] == ['safety-scenarios'] and not {'|', '>', '&&', '&', ';'} & set(words)


def run_shell(block: Block, page: str, capfd) -> tuple[str, int]:
    """Run each command of a block; return what they wrote, and how many they were."""
    written, count = '', 0
    for line in lines(block):
        count += 1
        if is_ours(line.tested):
            code = main(shlex.split(line.tested)[1:])
        else:
            code = subprocess.run(['bash', '-c', line.tested], check=False, timeout=300,
                                  stdin=subprocess.DEVNULL).returncode
        output = ''.join(capfd.readouterr())
        assert code == line.code, (
            f'{page}:{block.line}: {line.tested}\nexit code {code}, expected {line.code}\n'
            f'{output[-3000:]}')
        written += output
    return written, count


def expect_shown(block: Block, written: str, where: str) -> None:
    """Hold the lines of a block against what the commands above it wrote."""
    shown = [' '.join(one.split()) for one in block.text.splitlines() if one != '...']
    missing = [one for one in shown if one not in ' '.join(written.split())]
    assert not missing, f'{where}: not in the output: {missing}\n{written[-3000:]}'
