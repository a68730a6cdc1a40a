# SPDX-FileCopyrightText: 2026 The safety_scenarios authors
# SPDX-License-Identifier: Apache-2.0

"""An event loop in a thread of its own, in which any request can be cancelled at any moment."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
import threading
from typing import Any, TypeVar

_T = TypeVar('_T')
_HANG_UP_S = 5.0
"""Closing connections takes milliseconds; nothing waits for longer than this."""


class EventLoop:
    """Runs coroutines until it is closed."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._begun: list[Future[Any]] = []
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._loop.is_closed()

    def begin(self, work: Coroutine[Any, Any, _T]) -> 'Future[_T]':
        """Begin to run a coroutine; cancelling the future cancels it."""
        begun = asyncio.run_coroutine_threadsafe(work, self._loop)
        self._begun.append(begun)
        begun.add_done_callback(self._begun.remove)
        return begun

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Cancel all that runs, run one last coroutine, and end the thread."""
        if self.is_closed:
            last.close()
            return
        try:
            for begun in tuple(self._begun):
                begun.cancel()
            self.begin(self._end(last)).result(timeout=_HANG_UP_S)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=_HANG_UP_S)
            if not self._thread.is_alive():
                self._loop.close()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _end(self, last: Coroutine[Any, Any, None]) -> None:
        # Tasks inside of what was cancelled end with it. anyio warns if they are cancelled alone.
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*tasks, return_exceptions=True)
        await last
        await self._loop.shutdown_asyncgens()
