# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""A package without code: its scenarios, and the two files by which they are found."""

from glob import glob

from setuptools import setup

NAME = 'warehouse_scenarios'
INDEX = 'share/ament_index/resource_index'

setup(
    name=NAME,
    version='1.0.0',
    packages=[],
    data_files=[
        (f'{INDEX}/packages', [f'resource/{NAME}']),
        (f'{INDEX}/safety_scenarios_pack', [f'resource/safety_scenarios_pack/{NAME}']),
        (f'share/{NAME}', ['package.xml']),
        (f'share/{NAME}/scenarios/warehouse', glob('scenarios/warehouse/*.yaml')),
    ],
    license='Apache-2.0',
)
