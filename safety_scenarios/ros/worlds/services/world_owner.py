# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""What has to be told of a world, and done with its time, by whoever owns both."""

from typing import Protocol

from safety_scenarios.worlds.persistent_world import PersistentWorld


class Host(Protocol):
    """Who owns the world and its time; all of it is called in the thread that does."""

    @property
    def trial_id(self) -> str:
        """Return which trial of an evaluator runs now; empty: none does."""

    @property
    def standing(self) -> PersistentWorld | None:
        """Return the world without a trial; None: it is not there."""

    @property
    def stamp_ns(self) -> int:
        """Return the time at which everything is where the world has it (ns)."""

    @property
    def is_paused(self) -> bool:
        """Whether time stands."""

    def catch_up(self) -> None:
        """Let the time pass that has passed."""

    def stand_up(self) -> PersistentWorld:
        """
        Have a new world without a trial, in place of whatever was there.

        :raises InputError: its scenario asks for what cannot be
        """

    def give_up_trial(self, text: str) -> None:
        """Let the trial of an evaluator end, and say why."""

    def play(self) -> None:
        """
        Let time pass.

        :raises InputError: it passes in lock-step alone
        """

    def pause(self) -> None:
        """Let no time pass."""

    def make_steps(self, count: int) -> None:
        """Let so many steps of the physics pass, as fast as can be."""

    def rewind(self) -> None:
        """Let it be the time at which this process began."""
