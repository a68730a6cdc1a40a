# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Contact limits from a file: SI inside, every problem with file, line and field."""

import datetime
from pathlib import Path

from cases import for_each
import pytest
from safety_scenarios.errors import InputError
from safety_scenarios.formats.loading import share_folder
from safety_scenarios.formats.robot_file import PflLimits, read_pfl_limits

SHIPPED = share_folder() / 'config' / 'limits' / 'pfl_regions.yaml'
HEAD = """\
provenance:
  source: our own measurement
  confidence: measured
  date: 2026-01-31
  warning: check it
regions:
"""
CHEST = """\
  chest:
    force_n: 140
    pressure_n_cm2: 120
    transient_multiplier: 2
    stiffness_n_mm: 25
    mass_kg: 40
    energy_j: 1.6
"""
GOOD = HEAD + CHEST


def read(folder: Path, text: str | bytes) -> PflLimits:
    path = folder / 'limits.yaml'
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_pfl_limits(path)


def test_units_become_si(tmp_path):
    chest = read(tmp_path, GOOD).regions['chest']
    assert (chest.name, chest.force, chest.pressure, chest.multiplier, chest.stiffness,
            chest.mass, chest.energy) == ('chest', 140.0, 1.2e6, 2.0, 25e3, 40.0, 1.6)


def test_what_the_limits_rest_on_is_kept(tmp_path):
    provenance = read(tmp_path, GOOD).provenance
    assert (provenance.source, provenance.confidence, provenance.date, provenance.warning) == (
        'our own measurement', 'measured', datetime.date(2026, 1, 31), 'check it')


def test_null_is_no_multiple_and_no_published_energy(tmp_path):
    text = GOOD.replace('multiplier: 2', 'multiplier: null').replace('1.6', 'null')
    chest = read(tmp_path, text).regions['chest']
    assert (chest.multiplier, chest.energy) == (None, None)


def test_the_shipped_limits_say_that_they_must_be_checked():
    shipped = read_pfl_limits(SHIPPED)
    assert len(shipped.regions) == 12
    assert shipped.provenance.confidence != 'licensed_copy'
    assert 'licensed' in shipped.provenance.warning


def test_no_shipped_head_is_granted_a_multiple():
    regions = read_pfl_limits(SHIPPED).regions
    assert [name for name, region in regions.items() if region.multiplier is None] == [
        'skull_forehead', 'face']


@for_each(('old', 'new', 'line'), [
    ('force_n: 140', 'force_n: 0', '8:14: regions.chest.force_n: got 0, expected a number > 0'),
    ('force_n: 140', 'force_n: -140', '8:14: regions.chest.force_n: got -140, expected'),
    ('force_n: 140', 'force_n: .nan', '8:14: regions.chest.force_n: got nan, expected'),
    ('force_n: 140', 'force_n: .inf', '8:14: regions.chest.force_n: got inf, expected'),
    ('force_n: 140', 'force_n: "140"', "8:14: regions.chest.force_n: got '140', expected a numb"),
    ('force_n: 140', 'force_n: 1e-300', "8:14: regions.chest.force_n: got '1e-300', expected a"),
    ('force_n: 140', 'force_n: 1.0e-300', '8:5: regions.chest: force: got 1e-300, expected'),
    ('    force_n: 140\n', '', 'regions.chest.force_n: missing'),
    ('    energy_j: 1.6\n', '', 'regions.chest.energy_j: missing'),
    ('    transient_multiplier: 2\n', '', 'regions.chest.transient_multiplier: missing'),
    ('multiplier: 2', 'multiplier: 0.5', '10:27: regions.chest.transient_multiplier: got 0.5, e'),
    ('j: 1.6', 'j: 1.6\n    mass: 3', '14:5: regions.chest.mass: unknown key, expected one of'),
    ('mass_kg: 40', 'mass_kg: 40\n    mass_kg: 41', '13:5: regions.chest.mass_kg: got the key tw'),
    ('measured', 'certain', "3:15: provenance.confidence: got 'certain', expected 'licensed_cop"),
    ('2026-01-31', 'yesterday', "4:9: provenance.date: got 'yesterday'"),
    ('  warning: check it\n', '', 'provenance.warning: missing'),
    ('warning: check it', 'warning: ""', '5:12: provenance.warning: got 0 characters, expected'),
    (CHEST, '  {}\n', '7:3: regions: got 0 entries, expected at least 1'),
    (CHEST, '  chest: 1\n', '7:10: regions.chest: got 1, expected a mapping'),
    (GOOD, '[1]', '1:1: got a list of 1, expected a mapping with provenance and regions'),
    (GOOD, 'a: !!python/name:os.system x', '1:4: a: got the tag'),
    (GOOD, '', '1:1: got an empty file'), (GOOD, '{', 'not readable as YAML')])
def test_a_mistake_is_told_with_its_place(tmp_path, old, new, line):
    assert old in GOOD
    with pytest.raises(InputError) as error:
        read(tmp_path, GOOD.replace(old, new))
    told = str(error.value)
    assert told.startswith(str(tmp_path / 'limits.yaml'))
    assert line in told
    assert '\n' not in told


def test_all_mistakes_are_told_at_once(tmp_path):
    with pytest.raises(InputError) as error:
        read(tmp_path, GOOD.replace('140', '0').replace('40', 'x').replace('measured', 'sure'))
    assert len(str(error.value).splitlines()) == 3


def test_bytes_that_are_no_text_are_refused(tmp_path):
    with pytest.raises(InputError, match='0xff'):
        read(tmp_path, b'\xff')


def test_a_file_that_is_not_there_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match='cannot be read: No such file'):
        read_pfl_limits(tmp_path / 'nowhere.yaml')
