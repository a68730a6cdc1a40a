# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""
What a trial is called on topics and services: a token, by which nobody learns which trial it is.

A trial's id names the scenario, the seed and the number of the trial.
"""

from collections.abc import Collection
from functools import lru_cache
from hashlib import blake2b
import json
import secrets
from typing import Any

_KEY = secrets.token_bytes(32)
_SIZE = 8


@lru_cache(maxsize=100_000)
def token_of(trial_id: str) -> str:
    """Return what a trial is called on the wire; empty for none."""
    return blake2b(trial_id.encode(), key=_KEY, digest_size=_SIZE).hexdigest() if trial_id else ''


def trial_id_of(token: str | None, current: str, trials: Collection[str]) -> str | None:
    """
    Return the id of the trial that a token stands for; any other text as it is.

    :param current: id of the trial that runs, which is looked at first
    :param trials: ids of all trials that may be meant
    """
    if token and token == token_of(current):
        return current
    return next((one for one in trials if token_of(one) == token), token)


def with_token(prompt: Any) -> Any:
    """Return the text of a prompt's envelope with the token of its trial; another as it is."""
    try:
        envelope = json.loads(prompt)
        return json.dumps({**envelope, 'trial_id': token_of(envelope['trial_id'])},
                          ensure_ascii=False)
    except (ValueError, KeyError, TypeError):
        return prompt
