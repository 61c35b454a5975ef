"""Keeps traces and their analyses open in one run of `tracekit sql --requests`."""

from __future__ import annotations

import json
import os
import threading
import weakref

from ._command import GateError, Process, TracekitError, error_of
from ._progress import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, Sequence


class Session:
    def __init__(self, paths: Sequence[str], options: Sequence[str]) -> None:
        self._process = Process(["sql", "--requests", "--one-trace", *options, "--", *paths], stdin=True)
        self._lock = threading.Lock()
        self._files: list[str] = []  # the folder of the files, once there is one
        self._made = 0
        self._end = weakref.finalize(self, _close, self._process, self._files)
        self._reply()  # that the traces are read

    def _reply(self) -> dict[str, Any]:
        stdout = self._process.process.stdout
        assert stdout is not None
        try:
            line = stdout.readline()
        except BaseException:  # the answer would be taken for the next one's
            self._process.stop()
            raise
        if not line:
            raise self._process.error(self._process.end())
        reply: dict[str, Any] = json.loads(line)
        if reply["exit_code"]:
            error = error_of(reply["error"], reply["exit_code"])
            if isinstance(error, GateError):
                error.document = reply.get("answer")
            raise error
        return reply

    def ask(self, **request: Any) -> dict[str, Any]:
        """Sends a request and returns the document that answers it."""
        stdin = self._process.process.stdin
        assert stdin is not None
        with self._lock:
            self._check()
            try:
                stdin.write(json.dumps(request).encode() + b"\n")
                stdin.flush()
            except BrokenPipeError:
                raise self._process.error(self._process.end()) from None
            answer: dict[str, Any] = self._reply()["answer"]
            return answer

    def file(self) -> str:
        """Returns the path of a file for an answer."""
        with self._lock:
            self._check()
            if not self._files:
                import tempfile

                self._files.append(tempfile.mkdtemp(prefix="tracekit-"))
            self._made += 1
            return os.path.join(self._files[0], f"{self._made}.arrow")

    def _check(self) -> None:
        if not self._end.alive:
            raise TracekitError("the analysis is closed")

    def close(self) -> None:
        """Ends the command and removes its files."""
        self._end()


def _close(process: Process, files: list[str]) -> None:
    for stream in (process.process.stdin, process.process.stdout):
        if stream is not None:
            try:
                stream.close()
            except BrokenPipeError:
                pass
    process.end()
    for folder in files:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
