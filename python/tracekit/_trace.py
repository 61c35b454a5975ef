"""Traces, what is computed of them, and what a notebook shows."""

from __future__ import annotations

import builtins
import json
import os

from ._command import flags, run
from ._progress import TYPE_CHECKING
from ._session import Session
from ._table import Table

if TYPE_CHECKING:
    from typing import Any, Optional, Sequence

    from ._command import Flag, Path

    Base = dict[str, Any]
else:
    Base = dict


class Document(Base):
    """A JSON document of the command; its keys are attributes, too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the document has no {name}; it has {', '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]


def _document(text: str) -> Document:
    document: Document = json.loads(text, object_hook=Document)
    return document


def _of(value: Any) -> Any:
    if isinstance(value, dict):
        return Document({k: _of(v) for k, v in value.items()})
    if isinstance(value, list):
        return [_of(v) for v in value]
    return value


class Page:
    """A page of HTML, which a notebook shows in a frame."""

    def __init__(self, text: str) -> None:
        self.html = text

    def save(self, path: Path) -> None:
        """Writes the page."""
        with builtins.open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        import html

        return f'<iframe srcdoc="{html.escape(self.html)}" style="width:100%;height:48em;border:0"></iframe>'


class Picture:
    """A picture, which a notebook shows."""

    def __init__(self, content: bytes, format: str) -> None:
        self.content = content
        self.format = format

    def save(self, path: Path) -> None:
        """Writes the picture."""
        with builtins.open(path, "wb") as file:
            file.write(self.content)

    def _repr_png_(self) -> Optional[bytes]:
        return self.content if self.format == "png" else None

    def _repr_svg_(self) -> Optional[str]:
        return self.content.decode() if self.format == "svg" else None


def _written(suffix: str, arguments: Sequence[str], paths: Sequence[str]) -> bytes:
    """Runs a command that writes a file, and returns what is in it."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="tracekit-") as folder:
        path = os.path.join(folder, "out." + suffix)
        run(*arguments, "-o", path, "--", *paths)
        with builtins.open(path, "rb") as file:
            return file.read()


class Trace:
    """A trace, of one file or of several that belong together. Keyword arguments of its methods are flags of the command."""

    def __init__(self, paths: Sequence[str], options: dict[str, Flag]) -> None:
        self.paths = list(paths)
        self._options = flags(options)

    def _run(self, command: str, given: dict[str, Flag], *more: str) -> Document:
        return _document(run(command, "--json", *self._options, *flags(given), "--", *self.paths, *more))

    def info(self, **given: Flag) -> Document:
        """Returns what the trace contains: `tracekit info`."""
        return self._run("info", given)

    def analyze(self, **given: Flag) -> Analysis:
        """Analyzes the trace: `tracekit analyze`. It stays open until the result is closed or forgotten."""
        return Analysis(Session(self.paths, self._options), self, flags(given))

    def whatif(self, **given: Flag) -> Document:
        """Predicts the run after a change, or lists what saves most: `tracekit whatif`."""
        return self._run("whatif", given)

    def explain(self, wait: Optional[str] = None, **given: Flag) -> Document:
        """Follows a wait, or the longest, to its origin: `tracekit explain`."""
        return self._run("explain", given, *([] if wait is None else [wait]))

    def stragglers(self, **given: Flag) -> Document:
        """Returns what slow workers of a training job cost: `tracekit stragglers`."""
        return self._run("stragglers", given)

    def spacetime(self, format: str = "png", **given: Flag) -> Picture:
        """Draws the space-time diagram: `tracekit spacetime`."""
        content = _written(format, ["spacetime", *self._options, *flags(given)], self.paths)
        return Picture(content, format)

    def report(self, **given: Flag) -> Page:
        """Makes the page: `tracekit report`."""
        return Page(_written("html", ["report", *self._options, *flags(given)], self.paths).decode())

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"a trace has no {name}; analyze() returns what has tables and sql()")

    def __repr__(self) -> str:
        return f"tracekit.open({', '.join(map(repr, self.paths))})"


class Analysis:
    """The analysis of a trace. Its tables and views are attributes: analysis.late_ranks."""

    def __init__(self, session: Session, trace: Trace, given: list[str]) -> None:
        self._session = session
        self._given = given
        self._tables: Optional[list[str]] = None
        self._document: Optional[Document] = None
        self.trace = trace

    @property
    def tables(self) -> list[str]:
        """The names of tables and views."""
        if self._tables is None:
            answer = self._session.ask(query="select name from sqlite_schema order by name")
            self._tables = [row[0] for row in answer["rows"]]
        return self._tables

    @property
    def document(self) -> Document:
        """The document of `tracekit analyze --json`."""
        if self._document is None:
            self._document = _of(self._session.ask(analysis=self._given))
        return self._document

    def sql(self, query: str) -> Table:
        """Answers a query in SQL: `tracekit sql`."""
        table = Table(self._session, query)
        table._file()
        return table

    def report(self, **given: Flag) -> Page:
        """Makes the page: `tracekit report`."""
        return self.trace.report(**given)

    def close(self) -> None:
        """Ends the command that keeps the analysis."""
        self._session.close()

    def __enter__(self) -> Analysis:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self.tables:
            return Table(self._session, f'select * from "{name}"')
        import difflib

        close = difflib.get_close_matches(name, self.tables, n=1)
        hint = f"; did you mean {close[0]}" if close else ""
        raise AttributeError(f"the analysis has no table {name}{hint}; it has {', '.join(self.tables)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables]

    def __repr__(self) -> str:
        return f"{self.trace!r}.analyze()"

    def _repr_html_(self) -> str:
        import html

        causes = sorted(self.document.get("diagnosis") or [], key=lambda c: c.kind == "startup")  # last, as the first screen has them
        rows = "".join(
            f"<li><b>{html.escape(c.headline)}</b><br>{html.escape(' '.join([c.text, c.change, c['try'] and 'Try: ' + c['try']]))}</li>"
            for c in causes
        )
        return f"<p>{html.escape(repr(self.trace))}</p><ol>{rows}</ol>"


def open(*paths: Path, **options: Flag) -> Trace:
    """Names a trace: an archive, a file of any known format, or the files of one trace. Options are flags that all commands share, such
    as jobs, memory, clock. The trace is read by what is asked of it."""
    return Trace([os.fspath(p) for p in paths], options)


def _several(command: str, traces: Sequence[Trace | Path], given: dict[str, Flag]) -> Document:
    paths = [p for t in traces for p in (t.paths if isinstance(t, Trace) else [os.fspath(t)])]
    return _document(run(command, "--json", *flags(given), "--", *paths))


def compare(*traces: Trace | Path, **given: Flag) -> Document:
    """Returns what changed between runs, and whether it is noise: `tracekit compare`. With baseline=file, all traces are runs after the
    change."""
    return _several("compare", traces, given)


def baseline(file: Path, *traces: Trace | Path, **given: Flag) -> Document:
    """Keeps figures of runs in a file and returns what it has: `tracekit baseline`."""
    return _several("baseline", [file, *traces], given)


def scaling(*traces: Trace | Path, **given: Flag) -> Document:
    """Returns how a program scales, from runs of several sizes: `tracekit scaling`."""
    return _several("scaling", traces, given)


def hang(*dumps: Path, **given: Flag) -> Document:
    """Returns which rank a stuck PyTorch job waits for: `tracekit hang`."""
    return _several("hang", dumps, given)
