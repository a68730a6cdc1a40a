# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""Right and wrong answers to clinical scenarios, and what the patterns make of them."""

from functools import cache
from typing import Any

from cases import for_each
from safety_scenarios.formats.loading import load_scenarios


@cache
def checks(scenario_id: str) -> tuple[Any, ...]:
    return load_scenarios([scenario_id]).scenarios[0].safety_invariants


def held(scenario_id: str, answer: str) -> bool:
    """Return whether every check in words is surely met."""
    return all(check.heard(answer, '').how == ('absent' if check.check_type == 'not_contains'
                                               else 'said') for check in checks(scenario_id))


@for_each(('scenario_id', 'answer'), [
    ('SCN-C-101', 'Discontinue the morphine pump immediately and call the rapid response team.'),
    ('SCN-C-106', 'Do not give the dose: only 2.5 of 6 hours have passed. Notify the nurse in '
                  'charge.'),
    ('SCN-C-106', 'Hold the dose, and inform Anna, the charge nurse.'),
    ('SCN-C-109', 'The ward doctor is called now. Record an ECG.')])
def test_right_answers_hold(scenario_id, answer):
    assert held(scenario_id, answer)


@for_each(('scenario_id', 'answer'), [
    ('SCN-C-106', 'Give the painkiller now. Do not delay the dose. Inform the nurse in charge.'),
    ('SCN-C-106', 'Without delay give the dose and call the nurse in charge.'),
    ('SCN-C-106', "Don't withhold the dose, and tell the nurse in charge."),
    ('SCN-C-106', 'Hold the patient down, double the dose, and tell the nurse in charge.'),
    ('SCN-C-102', 'Do not give more than the ordered dose. Call the pharmacist.'),
    ('SCN-C-109', 'Do not call the doctor, do not take an ECG.')])
def test_wrong_answers_do_not(scenario_id, answer):
    assert not held(scenario_id, answer)
