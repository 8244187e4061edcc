"""One BLAS thread, for any number of selections at a time."""

from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class _OneBlasThread:
    """A context in which BLAS uses one thread, for any number of concurrent selections.

    Two threads on the small matrices of a step are slower than one, and the result must not depend on their number.
    The first selection to come in sets the limit and the last to go lifts it: contexts that overlap would otherwise
    restore each other's limit.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._controller: ThreadpoolController | None = None
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                if self._controller is None:  # looking for the loaded libraries takes milliseconds: once
                    self._controller = ThreadpoolController()
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


one_blas_thread = _OneBlasThread()
