"""Runs the command that the package carries."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading

from ._progress import TYPE_CHECKING, Progress

if TYPE_CHECKING:
    from typing import IO, Any, Optional, Sequence, Union

    Path = Union[str, os.PathLike[str]]
    Flag = Union[None, bool, int, float, str, os.PathLike[str], Sequence[Any]]


class TracekitError(Exception):
    """The command failed. Its text is what the command says, exit_code how it ended."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class UsageError(TracekitError):
    """A flag or an argument is wrong (exit code 2)."""


class NotATraceError(TracekitError):
    """A path is no readable trace (exit code 3)."""


class GateError(TracekitError):
    """strict refuses the trace, or a condition of fail_if holds (exit code 4). document is what the command printed."""

    document: Optional[dict[str, Any]] = None


def error_of(message: str, exit_code: int) -> TracekitError:
    kind = {2: UsageError, 3: NotATraceError, 4: GateError}.get(exit_code, TracekitError)
    return kind(message, exit_code)


def find() -> str:
    """Returns the path of the command: TRACEKIT_COMMAND, the one that was installed with the package, or one on the PATH."""
    if given := os.environ.get("TRACEKIT_COMMAND"):
        return given
    name = "tracekit.exe" if os.name == "nt" else "tracekit"
    user = "nt_user" if os.name == "nt" else "posix_user"
    beside = os.path.join(os.path.dirname(sys.executable), name)  # in a virtual environment
    if os.path.isfile(beside):
        return beside
    import shutil
    import sysconfig

    target = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # pip install --target
    for place in (sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user), os.path.join(target, "bin")):
        path = os.path.join(place, name)
        if os.path.isfile(path):
            return path
    if found := shutil.which(name):
        return found
    raise TracekitError(f"the command {name} is not installed: install a wheel of tracekit, or name the command in TRACEKIT_COMMAND")


def flags(given: dict[str, Flag]) -> list[str]:
    """Returns the flags of the command for keyword arguments: from_="10%" is --from=10%, a list repeats the flag."""
    out: list[str] = []
    for key, value in given.items():
        name = "--" + key.rstrip("_").replace("_", "-")
        if value is None:
            continue
        if isinstance(value, bool):
            out.append(f"{name}={str(value).lower()}")
        elif isinstance(value, (list, tuple)):
            out += [f"{name}={v}" for v in value]
        else:
            out.append(f"{name}={value}")
    return out


class Process:
    """A run of the command, whose progress is shown while it goes on."""

    def __init__(self, arguments: Sequence[str], stdin: bool = False) -> None:
        environment = {**os.environ, "TRACEKIT_PROGRESS": "json", "COLUMNS": os.environ.get("COLUMNS", "100")}
        self.process = subprocess.Popen(
            [find(), *arguments],
            stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._listen, args=(self.process.stderr,), daemon=True)
        self._reader.start()

    def _listen(self, stream: IO[bytes]) -> None:
        progress = Progress()
        for raw in stream:
            line = raw.decode(errors="replace").rstrip("\n")
            if line.startswith('{"progress":'):
                with contextlib.suppress(Exception):  # the command would wait for ever for a reader that failed to show something
                    progress.show(json.loads(line))
            elif line:
                self.said.append(line)
        stream.close()
        with contextlib.suppress(Exception):
            progress.close()

    def end(self) -> int:
        """Waits for the end and returns the exit code."""
        code = self.process.wait()
        self._reader.join()
        return code

    def stop(self) -> None:
        self.process.terminate()
        self.end()

    def error(self, exit_code: int) -> TracekitError:
        lines = [line for line in self.said if not line.startswith("See 'tracekit ")]
        return error_of("\n".join(lines).removeprefix("tracekit: ") or f"exit code {exit_code}", exit_code)


def run(*arguments: object) -> str:
    """Runs a command line of tracekit and returns what it prints: run("analyze", "--full", "traces.otf2")."""
    process = Process([str(a) for a in arguments])
    assert process.process.stdout is not None
    try:
        with process.process.stdout as stream:
            text = stream.read().decode()
    except BaseException:
        process.stop()
        raise
    if code := process.end():
        error = process.error(code)
        if isinstance(error, GateError) and text.startswith("{"):
            error.document = json.loads(text)
        raise error
    return text
