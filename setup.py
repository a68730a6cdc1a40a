# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""ament_python package; version and maintainer are in package.xml and nowhere else."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
import sys
from xml.etree import ElementTree

from setuptools import Distribution, find_packages, setup
from setuptools.command.develop import develop

NAME = 'safety_scenarios'
HERE = Path(__file__).parent
SOURCE = Path(__file__).resolve().parent
"""Where colcon links to from its build folder."""
PACKAGE = ElementTree.parse(HERE / 'package.xml')
MAINTAINER = PACKAGE.find('maintainer')
NODES = ('controller_node', 'evaluator_node', 'joint_drive_node', 'monitor_node', 'policy_node',
         'relay_node', 'simulator_node')
"""What ``ros2 run`` starts; each is a module of the same name."""
IS_WHEEL = bool({'bdist_wheel', 'editable_wheel'} & set(sys.argv))
"""Whether pip builds, which installs what is needed itself, and does not bundle it."""

CIPHER = 'cryptography>=41'
SIM = ['mujoco>=3.3']
FILM = ['matplotlib>=3.8', 'imageio-ffmpeg>=0.5']
PLOT = ['matplotlib>=3.8']
REPORT = ['jinja2>=3.1', 'plotly>=5.18']
SEARCH = ['optuna>=4.0', 'cma>=4.0']
TABLE = ['pyarrow>=15']
SERVERS = ['msgpack>=1.0', 'pyzmq>=25', 'websockets>=13']
LEROBOT = ['grpcio>=1.60']
POLICY = ['onnxruntime>=1.18']
TRAIN = ['onnx>=1.15', 'threadpoolctl>=3', *POLICY, *SIM]
TEST = [CIPHER, 'pytest>=7', 'pytest-rerunfailures', 'pytest-xdist>=3', 'hypothesis', 'jsonschema',
        'scipy>=1.12', 'scikit-learn>=1.2', 'openai>=1.55.3', 'mcap>=1.6', 'rosbags>=0.11',
        'mcap-ros2-support>=0.6', *FILM, *LEROBOT, *PLOT, *REPORT, *SEARCH, *SERVERS, *TABLE,
        *TRAIN, 'inspect-robots>=0.60', 'playwright',
        'axe-playwright-python', 'junitparser>=3.1',
        'rtamt==0.4.10; python_version < "3.13"', 'ruff', 'mypy', 'types-PyYAML', 'pandas', 'uv',
        'reuse', 'colcon-core', 'colcon-ros', 'colcon-test-result', 'colcon-python-setup-py']


def wheels(distribution):
    """Return what a ROS distribution has, as packages on PyPI."""
    return [f'ros-{distribution}-{name}' for name in (
        'rclpy', 'rmw-fastrtps-cpp', 'common-interfaces')] + ['ros-ament-index-python', CIPHER]


def data_files():
    """Return the files below share/, and for pip also those that ``ros2 run`` looks for."""
    share = f'share/{NAME}'
    found = [('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
             (share, ['package.xml', 'resource/package.dsv']),
             (f'{share}/environment', ['resource/environment/bundle.dsv'])]
    for folder in ('launch', 'config'):
        for path in sorted((HERE / folder).rglob('*')):
            if path.is_dir() or path.suffix == '.pyc':
                continue
            relative = path.relative_to(HERE)
            found.append((f'{share}/{relative.parent}', [str(relative)]))
    found.append((f'lib/{NAME}', [f'resource/ros2run/{node}' for node in NODES])
                 if IS_WHEEL else ('bin', ['resource/bin/safety-scenarios']))
    return found


def loaded(path):
    """Return a module of this repository by its file: the package is not installed yet."""
    spec = spec_from_file_location(Path(path).stem, SOURCE / path)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


NEEDS = loaded(f'{NAME}/dependencies.py')


def bundle(prefix, is_packaged=False):
    """
    Put what this interpreter lacks into a folder below the prefix.

    :param is_packaged: the result is put into a Debian package, where nobody would see a warning
    """
    folder, missing = NEEDS.bundle(Path(prefix)), NEEDS.missing()
    if missing or folder.is_dir():
        for need, why in loaded('resource/bundle/fill.py').fill(folder, missing).items():
            lacking = (f'{sys.executable} lacks {need}, which could not be bundled: {why}. What '
                       'needs it will not run. Build again with a network and python3-pip, or '
                       'see doc/reference/packaging.md\n')
            if is_packaged:
                raise SystemExit(f'{NAME}: error: {lacking}')
            sys.stderr.write(f'{NAME}: warning: {lacking}')
    return [str(path) for path in sorted(folder.rglob('*')) if path.is_file()]


class InstallData(Distribution().get_command_class('install_data')):
    """The step of ``setup.py install``, as colcon and debhelper call it, that fills ``share/``."""

    def run(self):
        """Install as ever, then fill the bundle, whose files count as installed too."""
        super().run()
        if not IS_WHEEL:
            self.outfiles += bundle(self.install_dir, is_packaged=bool(self.root))


class Develop(develop):
    """The step of ``colcon build --symlink-install``, for which the prefix is the workspace's."""

    def run(self):
        """Fill the bundle, then develop as ever."""
        if not getattr(self, 'uninstall', False) and not IS_WHEEL:
            bundle(sys.prefix)
        super().run()


class Package(Distribution):
    """An editable install asks ``has_data`` before it installs data files."""

    def has_data(self):
        return self.has_data_files()


setup(
    distclass=Package,
    cmdclass={'install_data': InstallData, 'develop': Develop},
    name=NAME,
    version=PACKAGE.findtext('version'),
    packages=find_packages(include=[NAME, f'{NAME}.*']),
    package_data={NAME: ['py.typed', 'reports/page/*.j2', 'reports/page/*.css',
                         'reports/page/*.js']},
    data_files=data_files(),
    python_requires='>=3.10',
    install_requires=['click>=8.0', str(NEEDS.RE2), 'numpy', str(NEEDS.PYDANTIC), 'PyYAML',
                      'rich'],
    extras_require={'jazzy': wheels('jazzy'), 'kilted': wheels('kilted'),
                    'llm': ['openai>=1.55.3'], 'sim': SIM, 'film': FILM,
                    'mcap': ['mcap>=1.5', 'rosbags>=0.11'],
                    'plot': PLOT, 'policy': POLICY, 'report': REPORT,
                    'docs': ['furo>=2024.8', 'myst-parser>=3', 'sphinx>=7'],
                    'ray': ['ray[default]>=2.40', 'fsspec>=2024.2'],
                    'rerun': ['rerun-sdk>=0.41; python_version >= "3.11"'],
                    'lerobot': LEROBOT, 'search': SEARCH, 'servers': SERVERS,
                    'inspect': ['inspect_ai>=0.3.285', 'openai>=1.55.3'],
                    'inspect-robots': ['inspect-robots>=0.60'],
                    'torch': ['torch>=2.0'],
                    'table': TABLE, 'train': TRAIN,
                    'are': ['meta-agents-research-environments==1.2.0'], 'test': TEST},
    zip_safe=True,
    maintainer=MAINTAINER.text,
    maintainer_email=MAINTAINER.get('email'),
    description='Safety scenarios for model-driven robot controllers: reaction time and '
                'invariants, measured over ROS 2.',
    long_description=(SOURCE / 'README.md').read_text(encoding='utf-8'),
    long_description_content_type='text/markdown',
    license='Apache-2.0',
    entry_points={'console_scripts': [
        f'safety-scenarios = {NAME}.cli.main:main',
        *(f'{node} = {NAME}.cli.nodes:{node}' for node in NODES),
        f'safety-scenarios-are-run = {NAME}.are.app.robot_app:run',
        f'safety-scenarios-are-benchmark = {NAME}.are.app.robot_app:benchmark'],
        'pytest11': [f'{NAME} = {NAME}.pytest_plugin'],
        'ros2cli.command': [f'scenarios = {NAME}.ros.scenarios_command:ScenariosCommand'],
        'inspect_ai': [f'{NAME} = {NAME}.inspect_tasks'],
        'are.simulation.scenarios': [f'{NAME} = {NAME}.are.app.robot_app:register']},
)
