# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What the process of a controller cannot see: folders of campaigns, and the harness in /proc.

Plan, seed and the record of the running trial are in the folder of the campaign. The process
moves into a mount namespace of its own (man 7 mount_namespaces), where an empty file system lies
over each of these places. It then gives up the capabilities that would undo that, or reach the
memory of the harness. All of this comes before any code of the controller, and before a second
thread.
"""

from collections.abc import Sequence
import ctypes
import os

_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000
_PRIVATE = 1 << 14 | 1 << 18
"""MS_REC and MS_PRIVATE: what is mounted here is mounted nowhere else."""
_EMPTY = 1 | 2 | 4 | 8
"""MS_RDONLY, MS_NOSUID, MS_NODEV and MS_NOEXEC."""
_READ_BOUND, _DROP_BOUND = 23, 24
"""Operations of prctl on the capabilities that a new program may have."""
_VERSION_3 = 0x20080522
_GIVEN_UP = 2, 16, 17, 19, 21, 27, 38, 39, 40
"""
CAP_DAC_READ_SEARCH (opens files by their handles), CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_SYS_PTRACE,
CAP_SYS_ADMIN (mounts), CAP_MKNOD, CAP_PERFMON, CAP_BPF and CAP_CHECKPOINT_RESTORE.
"""

BEGIN = """
import sys
places, sys.path[:] = [*sys.path], [place for place in sys.path if place]
import ctypes, json, os, runpy
sys.path[:] = places
"""
"""Python code that a new interpreter begins with, so that no module of the controller's folder
takes the place of one that is needed here."""
BEGIN_MODULE = BEGIN + """
line = b''
while not line.endswith(b'\\n'):
    part = os.read(0, 1)
    if not part:
        sys.exit('the controller: its parent has ended')
    line += part
folders, is_demanded = json.loads(line)
from safety_scenarios.trial.links.hidden_places import hide, REFUSED
why = hide(folders)
if why and is_demanded:
    sys.exit(REFUSED.format(why))
del sys.argv[0]
runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)
"""
"""Python code that reads what to hide from standard input, and runs the module that is named."""
REFUSED = ('the controller: the files of the campaign could be hidden from it when the campaign '
           'was planned, but not where it runs ({}). Run it where they can be, or with '
           'isolate=false')


def hide(folders: Sequence[str]) -> str:
    """
    Hide the folders of campaigns and the processes of the harness from this process for good.

    :param folders: of which one that is not there is a reason to return
    :return: why the controller could read the files of the campaign; empty: it cannot
    """
    try:
        return _hide([os.path.realpath(folder) for folder in folders])
    except AttributeError:
        return 'this system has no mount namespaces'
    except OSError as error:
        return f'{error.filename or "the kernel"}: {error.strerror}'


def _hide(folders: Sequence[str]) -> str:
    places = [f'/proc/{task}' for pid in _ancestors() for task in _tasks(pid)]
    seen = []
    for folder in folders:
        if f'{os.getcwd()}/'.startswith(f'{folder.rstrip("/")}/'):
            seen.append(f'its working directory lies in their folder {folder}')
        elif not os.path.isdir(folder):
            seen.append(f'there is no folder {folder} yet, and only what exists can be hidden')
        else:
            _let_go_of(folder)
            places.append(folder)
    _separate()
    for place in places:
        try:
            _call('mount', b'tmpfs', os.fsencode(place), b'tmpfs', _EMPTY, b'size=4k,mode=555')
        except FileNotFoundError:  # a thread that has ended since
            continue
    _give_up()
    return '; '.join(seen)


def _ancestors() -> list[int]:
    """Return the processes that this one comes from, but for the first one of the system."""
    found = [os.getppid()]
    while found[-1] > 1:
        with open(f'/proc/{found[-1]}/stat', encoding='utf-8', errors='replace') as file:
            found.append(int(file.read().rpartition(')')[2].split()[1]))
    return [pid for place, pid in enumerate(found) if pid > 1 or (pid == 1 and place == 0)]


def _tasks(pid: int) -> list[str]:
    """Return the ids under which /proc shows a process; those of its threads it does not list."""
    try:
        return os.listdir(f'/proc/{pid}/task')
    except FileNotFoundError:  # it has ended
        return []


def _let_go_of(folder: str) -> None:
    """Let every open file in a folder be /dev/null, as in a copy of the harness."""
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for name in os.listdir('/proc/self/fd'):
        try:
            path = os.readlink(f'/proc/self/fd/{name}')
        except OSError:  # it was that of the listing
            continue
        if f'{path}/'.startswith(f'{folder}/'):
            os.dup2(nothing, int(name))
    os.close(nothing)


def _separate() -> None:
    """
    Move into a mount namespace of its own, which shows nothing of itself to the one before.

    :raises OSError: the kernel refuses
    """
    try:
        _call('unshare', _NEW_MOUNTS)
    except PermissionError:
        _try_new_user()
        _begin_new_user()
        _call('unshare', _NEW_MOUNTS)
    _call('mount', None, b'/', None, _PRIVATE, None)


def _try_new_user() -> None:
    """
    Try it in a copy of this process: one in which it fails half-way belongs to no user any more.

    :raises OSError: the kernel refuses
    """
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            _begin_new_user()
            code = 0
        except OSError as error:
            code = error.errno or 1
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        raise OSError(code, os.strerror(code), 'a user namespace')


def _begin_new_user() -> None:
    """Move into a user namespace, in which the same user may mount."""
    user, group = os.geteuid(), os.getegid()
    _call('unshare', _NEW_USER)
    for name, text in (('setgroups', 'deny'), ('uid_map', f'{user} {user} 1'),
                       ('gid_map', f'{group} {group} 1')):
        with open(f'/proc/self/{name}', 'w', encoding='ascii') as file:
            file.write(text)


def _give_up() -> None:
    """
    Give up the capabilities that would undo it, for new programs too.

    :raises OSError: the kernel refuses
    """
    library = ctypes.CDLL(None)
    head, sets = (ctypes.c_uint32 * 2)(_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    _call('capget', head, sets)
    for one in _GIVEN_UP:
        if library.prctl(_READ_BOUND, one, 0, 0, 0) == 1:
            _call('prctl', _DROP_BOUND, one, 0, 0, 0)
        for kind in range(3):  # effective, permitted, inheritable
            sets[one // 32 * 3 + kind] &= ~(1 << one % 32) & 0xffffffff
    _call('capset', head, sets)


def _call(name: str, *arguments: object) -> None:
    """
    Call a function of the C library.

    :raises AttributeError: there is none of that name
    :raises OSError: it fails
    """
    converted = [ctypes.c_ulong(one) if isinstance(one, int) else one for one in arguments]
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*converted):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
