# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
The interfaces of simulators that PyPI does not have, as far as our adapters use them.

``ros_gz_interfaces``, ``tf2_msgs`` and ``simulation_interfaces`` come with apt; the generators
that make them from their fields come with the wheels. Here they are made once for all processes
of a test, each package as one extension module: C, its type support for Fast DDS, and Python.
"""

from collections.abc import Mapping
import json
import os
from pathlib import Path
import subprocess
import sys
import sysconfig

from once import built_once

FOLDER = Path(__file__).resolve().parents[1] / 'build' / 'interfaces'
PACKAGES: Mapping[str, Mapping[str, str]] = {
    'tf2_msgs': {'msg/TFMessage': 'geometry_msgs/TransformStamped[] transforms'},
    'ros_gz_interfaces': {
        'msg/Entity': 'uint64 id\nstring name\nuint8 type',
        'msg/EntityFactory': 'string name\nbool allow_renaming false\nstring sdf\n'
                             'string sdf_filename\nstring clone_name\n'
                             'geometry_msgs/Pose pose\nstring relative_to "world"',
        'msg/WorldReset': 'bool all false\nbool time_only false\nbool model_only false',
        'msg/WorldControl': 'bool pause\nbool step\nuint32 multi_step 0\n'
                            'ros_gz_interfaces/WorldReset reset\nuint32 seed\n'
                            'builtin_interfaces/Time run_to_sim_time',
        'msg/JointWrench': 'std_msgs/Header header\nstd_msgs/String body_1_name\n'
                           'std_msgs/UInt32 body_1_id\nstd_msgs/String body_2_name\n'
                           'std_msgs/UInt32 body_2_id\ngeometry_msgs/Wrench body_1_wrench\n'
                           'geometry_msgs/Wrench body_2_wrench',
        'msg/Contact': 'ros_gz_interfaces/Entity collision1\n'
                       'ros_gz_interfaces/Entity collision2\n'
                       'geometry_msgs/Vector3[] positions\ngeometry_msgs/Vector3[] normals\n'
                       'float64[] depths\nros_gz_interfaces/JointWrench[] wrenches',
        'msg/Contacts': 'std_msgs/Header header\nros_gz_interfaces/Contact[] contacts',
        'srv/ControlWorld': 'ros_gz_interfaces/WorldControl world_control\n---\nbool success',
        'srv/DeleteEntity': 'ros_gz_interfaces/Entity entity\n---\nbool success',
        'srv/SetEntityPose': 'ros_gz_interfaces/Entity entity\ngeometry_msgs/Pose pose\n---\n'
                             'bool success',
        'srv/SpawnEntity': 'ros_gz_interfaces/EntityFactory entity_factory\n---\nbool success'},
    'simulation_interfaces': {
        'msg/Result': 'uint8 RESULT_FEATURE_UNSUPPORTED=0\nuint8 RESULT_OK=1\n'
                      'uint8 RESULT_NOT_FOUND=2\nuint8 RESULT_INCORRECT_STATE=3\n'
                      'uint8 RESULT_OPERATION_FAILED=4\nuint8 result\nstring error_message',
        'msg/Resource': 'string uri\nstring resource_string',
        'msg/EntityState': 'std_msgs/Header header\ngeometry_msgs/Pose pose\n'
                           'geometry_msgs/Twist twist\ngeometry_msgs/Accel acceleration',
        'msg/SimulationState': 'uint8 STATE_STOPPED=0\nuint8 STATE_PLAYING=1\n'
                               'uint8 STATE_PAUSED=2\nuint8 STATE_QUITTING=3\nuint8 state',
        'msg/SimulatorFeatures': 'uint16[] features\nstring[] spawn_formats\nstring custom_info',
        'srv/SpawnEntity': 'string name\nbool allow_renaming\n'
                           'simulation_interfaces/Resource entity_resource\n'
                           'string entity_namespace\ngeometry_msgs/PoseStamped initial_pose\n'
                           '---\nsimulation_interfaces/Result result\nstring entity_name',
        'srv/DeleteEntity': 'string entity\n---\nsimulation_interfaces/Result result',
        'srv/GetEntityState': 'string entity\n---\nsimulation_interfaces/Result result\n'
                              'simulation_interfaces/EntityState state',
        'srv/SetEntityState': 'string entity\nsimulation_interfaces/EntityState state\n'
                              'bool set_pose\nbool set_twist\nbool set_acceleration\n---\n'
                              'simulation_interfaces/Result result',
        'srv/ResetSimulation': 'uint8 scope\n---\nsimulation_interfaces/Result result',
        'srv/StepSimulation': 'uint64 steps 1\n---\nsimulation_interfaces/Result result',
        'srv/SetSimulationState': 'simulation_interfaces/SimulationState state\n---\n'
                                  'simulation_interfaces/Result result',
        'srv/GetSimulationState': '---\nsimulation_interfaces/SimulationState state\n'
                                  'simulation_interfaces/Result result',
        'srv/GetSimulatorFeatures': '---\nsimulation_interfaces/SimulatorFeatures features'}}
"""Package to its interfaces, as their public definitions have the fields."""
NEEDED = ('builtin_interfaces', 'std_msgs', 'geometry_msgs', 'service_msgs')
_KINDS = ('rosidl_generator_c', 'rosidl_typesupport_fastrtps_c',
          'rosidl_typesupport_introspection_c', 'rosidl_typesupport_c')
_DEAF = ['-O0', '-w', '-fPIC', '-DNDEBUG', '-DROS_PACKAGE_NAME="test"']


_CHOICE = """
#include <string.h>
#include "rosidl_runtime_c/message_type_support_struct.h"
#include "rosidl_runtime_c/service_type_support_struct.h"
#include "rosidl_typesupport_interface/macros.h"
#define NAME(SUPPORT, UPPER, P, F, T) \\
  ROSIDL_TYPESUPPORT_INTERFACE__ ## UPPER ## _SYMBOL_NAME(SUPPORT, P, F, T)
#define CHOOSE(LOWER, UPPER, P, F, T) \\
  typedef const rosidl_ ## LOWER ## _type_support_t * F ## _ ## T ## _handle; \\
  F ## _ ## T ## _handle NAME(rosidl_typesupport_fastrtps_c, UPPER, P, F, T)(void); \\
  F ## _ ## T ## _handle NAME(rosidl_typesupport_introspection_c, UPPER, P, F, T)(void); \\
  static F ## _ ## T ## _handle F ## _ ## T ## _choose( \\
    F ## _ ## T ## _handle handle, const char * asked) { \\
    if (!strcmp(asked, "rosidl_typesupport_fastrtps_c")) { \\
      return NAME(rosidl_typesupport_fastrtps_c, UPPER, P, F, T)(); \\
    } \\
    if (!strcmp(asked, "rosidl_typesupport_introspection_c")) { \\
      return NAME(rosidl_typesupport_introspection_c, UPPER, P, F, T)(); \\
    } \\
    return strcmp(asked, handle->typesupport_identifier) ? 0 : handle; \\
  } \\
  F ## _ ## T ## _handle NAME(rosidl_typesupport_c, UPPER, P, F, T)(void) { \\
    static rosidl_ ## LOWER ## _type_support_t handle; \\
    handle = *NAME(rosidl_typesupport_fastrtps_c, UPPER, P, F, T)(); \\
    handle.typesupport_identifier = "rosidl_typesupport_c"; \\
    handle.data = 0; \\
    handle.func = F ## _ ## T ## _choose; \\
    return &handle; \\
  }
"""


def interfaces_folder() -> Path:
    """
    Build the packages unless they are there already; return what to put into PYTHONPATH.

    :raises subprocess.SubprocessError: a generator or a compiler fails
    """
    wanted = json.dumps([PACKAGES, sys.version, Path(__file__).read_text(encoding='utf-8')])
    built_once(FOLDER, wanted, _build)
    return FOLDER


def _build(folder: Path) -> None:
    folder.mkdir(parents=True)
    subprocess.run([sys.executable, __file__, str(folder)], check=True, timeout=600)


def _generate(folder: Path, package: str) -> None:
    """Make IDL, hashes, C and Python of a package, and compile them into one module."""
    from rosidl_adapter import convert_to_idl
    from rosidl_generator_c import generate_c
    from rosidl_generator_py import generate_py
    from rosidl_generator_type_description import generate_type_hash
    from rosidl_typesupport_fastrtps_c import generate_typesupport_fastrtps_c
    from rosidl_typesupport_introspection_c import generate_c as generate_introspection
    share = Path(sys.prefix) / 'share'
    work, place = folder / 'work' / package, folder / package
    tuples, described = [], []
    for name, text in PACKAGES[package].items():
        file = Path(f'{name}.{name[:3]}')
        (work / 'from' / file).parent.mkdir(parents=True, exist_ok=True)
        (work / 'from' / file).write_text(text + '\n', encoding='utf-8')
        convert_to_idl(work / 'from', package, file, work / 'idl')
        tuples.append(f'{work / "idl"}:{name}.idl')
        described.append(f'{name}.idl:{work / "hashes" / name}.json')

    def arguments(kind: str, output: Path, **more: object) -> str:
        output.mkdir(parents=True, exist_ok=True)
        path = work / f'{kind}.json'
        path.write_text(json.dumps({
            'package_name': package, 'output_dir': str(output), 'idl_tuples': tuples,
            'template_dir': str(share / kind / 'resource'), 'target_dependencies': [],
            'ros_interface_dependencies': [], 'ros_interface_files': [],
            'type_description_tuples': described, **more}), encoding='utf-8')
        return str(path)

    generate_type_hash(arguments('rosidl_generator_type_description', work / 'hashes',
                                 include_paths=[f'{one}:{share / one}' for one in NEEDED]))
    c = work / 'c' / package
    generate_c(arguments('rosidl_generator_c', c, ros_interface_files=[
        str(work / 'from' / f'{name}.{name[:3]}') for name in PACKAGES[package]]))
    generate_typesupport_fastrtps_c(arguments('rosidl_typesupport_fastrtps_c', c))
    generate_introspection(arguments('rosidl_typesupport_introspection_c',
                                     work / 'introspection' / package))
    _choose(c, package)
    generate_py(arguments('rosidl_generator_py', place), ['rosidl_typesupport_c'])
    _visibility(c, package, share)
    _compile(work, place, package, c)


def _choose(c: Path, package: str) -> None:
    """Write what finds the type support that a middleware asks for: of two, both in here."""
    text = [_CHOICE]
    for name in PACKAGES[package]:
        folder, _, kind = name.partition('/')
        messages = [kind] if folder == 'msg' else [
            f'{kind}_{part}' for part in ('Request', 'Response', 'Event')]
        text += [f'CHOOSE(message, MESSAGE, {package}, {folder}, {one})' for one in messages]
        if folder == 'srv':
            text.append(f'CHOOSE(service, SERVICE, {package}, {folder}, {kind})')
    (c / 'choose.c').write_text('\n'.join([*text, '']), encoding='utf-8')


def _visibility(c: Path, package: str, share: Path) -> None:
    for kind in _KINDS[:3]:
        name = f'{kind}__visibility_control.h'
        text = (share / kind / 'resource' / f'{name}.in').read_text(encoding='utf-8')
        text = text.replace('@PROJECT_NAME@', package).replace(
            '@PROJECT_NAME_UPPER@', package.upper())
        (c / 'msg').mkdir(parents=True, exist_ok=True)
        (c / 'msg' / name).write_text(text, encoding='utf-8')


def _compile(work: Path, place: Path, package: str, c: Path) -> None:
    import numpy
    prefix = Path(sys.prefix)
    includes = [f'-I{work / "c"}', f'-I{work / "introspection"}', f'-I{place}',
                f'-I{numpy.get_include()}',
                f'-I{sysconfig.get_paths()["include"]}', f'-I{prefix / "include"}',
                *(f'-I{one}' for one in sorted((prefix / 'include').iterdir()) if one.is_dir())]
    whole = work / 'whole.cpp'
    whole.write_text('\n'.join(f'#include "{one}"' for one in sorted(c.rglob('*.cpp'))),
                     encoding='utf-8')
    sources = [*sorted(c.rglob('*.c')), *sorted(place.rglob('*_s.c')),
               place / f'_{package}_s.ep.rosidl_typesupport_c.c']
    _run(['gcc', *_DEAF, *includes, '-c', *map(str, sources)], work)
    other = work / 'other'
    other.mkdir()
    _run(['gcc', *_DEAF, *includes, '-c', *map(str, sorted((work / 'introspection').rglob(
        '*.c')))], other)
    _run(['g++', '-std=c++17', *_DEAF, *includes, '-c', str(whole)], work)
    libraries = [f'-l{one}__{kind}' for one in NEEDED for kind in (*_KINDS, 'rosidl_generator_py')
                 if (prefix / 'lib' / f'lib{one}__{kind}.so').exists()]
    others = [path for name in ('fastcdr',) for folder in (prefix / 'lib', *_bundled(prefix))
              for path in sorted(folder.glob(f'lib{name}*.so*'))][:1]
    _run(['g++', '-shared', '-o', str(place / f'{package}_s__rosidl_typesupport_c.so'),
          *map(str, [*sorted(work.glob('*.o')), *sorted(other.glob('*.o'))]),
          f'-L{prefix / "lib"}', *libraries, '-lrosidl_runtime_c', '-lrosidl_typesupport_c',
          '-lrosidl_typesupport_fastrtps_c', '-lrosidl_typesupport_fastrtps_cpp',
          '-lrosidl_typesupport_introspection_c', *map(str, others)], work)


def _bundled(prefix: Path) -> list[Path]:
    return sorted((prefix / 'lib').glob('python*/site-packages/ros_*.libs'))


def _run(command: list[str], place: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != 'LD_PRELOAD'}
    done = subprocess.run(command, cwd=place, env=environment, text=True, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr[-3000:]


if __name__ == '__main__':
    for known in PACKAGES:
        _generate(Path(sys.argv[1]), known)
