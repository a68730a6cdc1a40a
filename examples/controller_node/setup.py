# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An ordinary ament_python package: nothing in it knows of safety_scenarios but its test."""

from setuptools import setup

NAME = 'scan_stop'

setup(
    name=NAME,
    version='1.0.0',
    packages=[NAME],
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
    ],
    license='Apache-2.0',
    entry_points={'console_scripts': [f'{NAME} = {NAME}.{NAME}:main']},
)
