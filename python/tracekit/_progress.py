"""Shows how far the command is: as a bar in a notebook, as a line on a terminal, else not."""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False  # what type checkers know as typing.TYPE_CHECKING; importing typing takes a tenth of the time of this package
if TYPE_CHECKING:
    from typing import Any

PATIENCE = 0.5  # seconds before anything is shown


def in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


class Progress:
    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._handle: Any = None
        self._line = False

    def show(self, state: dict[str, Any]) -> None:
        """Shows a line of the command's progress."""
        if state["ended"] or time.monotonic() - self._begin < PATIENCE:
            return
        done, total, what = state["done"], state["total"], state["progress"]
        share = f" of {total:,}" if total else ""
        text = f"{what}: {done:,}{share} events"
        if in_notebook():
            import html

            bar = f'<progress value="{done}" max="{max(done, total)}"></progress> ' if total else ""
            self._display(f"<div>{bar}{html.escape(text)}</div>")
        elif sys.stderr is not None and sys.stderr.isatty():
            self._line = True
            sys.stderr.write(f"\r\033[K{text}")
            sys.stderr.flush()

    def _display(self, shown: str) -> None:
        import importlib

        ipython: Any = importlib.import_module("IPython.display")
        if self._handle is None:
            self._handle = ipython.display(ipython.HTML(shown), display_id=True)
        else:
            self._handle.update(ipython.HTML(shown))

    def close(self) -> None:
        """Removes what is shown."""
        if self._handle is not None:
            self._display("")
        if self._line:
            sys.stderr.write("\r\033[K")
