# Copyright 2026 The safety_scenarios authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""ament_python package; the version stands in package.xml and nowhere else."""

from pathlib import Path
import sys
from xml.etree import ElementTree

from setuptools import Distribution, find_packages, setup

NAME = 'safety_scenarios'
HERE = Path(__file__).parent
VERSION = ElementTree.parse(HERE / 'package.xml').findtext('version')
NODES = ('controller_node', 'evaluator_node', 'lifecycle_evaluator_node')
"""What ``ros2 run`` starts; each is a module of the same name."""

TEST = ['pytest>=7', 'pytest-xdist>=3', 'hypothesis', 'jsonschema', 'scipy>=1.12',
        'openai>=1.55.3', 'mcap>=1.6', 'rosbags>=0.11', 'mcap-ros2-support>=0.6',
        'rtamt==0.4.10; python_version < "3.13"', 'ruff', 'mypy', 'types-PyYAML', 'pandas',
        'colcon-core', 'colcon-ros', 'colcon-test-result', 'colcon-python-setup-py']


def wheels(distribution):
    """Return the PyPI wheels of one ROS distribution."""
    return [f'ros-{distribution}-{name}' for name in (
        'rclpy', 'rmw-fastrtps-cpp', 'common-interfaces')] + ['ros-ament-index-python']


def data_files():
    """Return the files below share/, and for pip also those that ``ros2 run`` looks for."""
    share = f'share/{NAME}'
    found = [('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
             (share, ['package.xml'])]
    for folder in ('launch', 'config'):
        for path in sorted((HERE / folder).rglob('*')):
            if path.is_dir() or path.suffix == '.pyc':
                continue
            relative = path.relative_to(HERE)
            found.append((f'{share}/{relative.parent}', [str(relative)]))
    if {'bdist_wheel', 'editable_wheel'} & set(sys.argv):
        found.append((f'lib/{NAME}', [f'resource/ros2run/{node}' for node in NODES]))
    return found


class Package(Distribution):
    """An editable install asks ``has_data`` before it installs data files."""

    def has_data(self):
        return self.has_data_files()


setup(
    distclass=Package,
    name=NAME,
    version=VERSION,
    packages=find_packages(include=[NAME, f'{NAME}.*']),
    package_data={NAME: ['py.typed']},
    data_files=data_files(),
    python_requires='>=3.10',
    install_requires=['click>=8.0', 'google-re2', 'numpy', 'pydantic>=2.6', 'PyYAML', 'rich'],
    extras_require={'jazzy': wheels('jazzy'), 'kilted': wheels('kilted'),
                    'llm': ['openai>=1.55.3'],
                    'mcap': ['mcap>=1.5', 'rosbags>=0.11'],
                    'are': ['meta-agents-research-environments==1.2.0'], 'test': TEST},
    zip_safe=True,
    maintainer='The safety_scenarios authors',
    maintainer_email='maintainers@safety-scenarios.invalid',
    description='Safety scenarios for model-driven robot controllers: reaction time and '
                'invariants, measured over ROS 2.',
    license='Apache-2.0',
    entry_points={'console_scripts': [
        f'safety-scenarios = {NAME}.cli.main:main',
        *(f'{node} = {NAME}.ros.{node}:main' for node in NODES),
        f'safety-scenarios-are-run = {NAME}.are.commands:run',
        f'safety-scenarios-are-benchmark = {NAME}.are.commands:benchmark'],
        'pytest11': [f'{NAME} = {NAME}.pytest_plugin'],
        'are.simulation.scenarios': [f'{NAME} = {NAME}.are.register:register']},
)
