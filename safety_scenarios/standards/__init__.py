"""
Published formulas as pure functions in SI units.

Evidence about the controller under test, never a claim of conformity with a standard.
"""
