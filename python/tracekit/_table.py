"""Tables: answers of the command that pandas, Polars and Arrow take."""

from __future__ import annotations

import os
import weakref

from ._command import TracekitError
from ._progress import TYPE_CHECKING

if TYPE_CHECKING:
    import mmap
    from typing import Any, Iterator, Optional

    import pandas
    import polars
    import pyarrow

    from ._session import Session

SHOWN = 20  # rows that are printed


def _needs(extra: str, error: ImportError) -> ImportError:
    return ImportError(f"{error}; install it with: pip install 'tracekit[{extra}]'")


class Table:
    """The rows of a query. Its Arrow file is asked for once, when a frame or the columns are first wanted."""

    def __init__(self, session: Session, query: str) -> None:
        self._session = session
        self.query = query
        self._path: Optional[str] = None
        self._columns: list[str] = []

    def _file(self) -> str:
        """Returns the file of Arrow IPC that has the rows."""
        if self._path is None:
            path = self._session.file()
            self._columns = self._session.ask(query=self.query, out=path)["columns"]
            self._path = path
            weakref.finalize(self, _remove, path)
        return self._path

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        self._file()
        return self._columns

    def to_arrow(self) -> pyarrow.Table:
        """Returns the rows as a table of pyarrow; names are dictionaries."""
        try:
            import pyarrow
        except ImportError as error:
            raise _needs("arrow", error) from None
        with pyarrow.memory_map(self._file()) as source:
            return pyarrow.ipc.open_file(source).read_all()

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the rows as a frame of pandas: names as categories, integers that may be missing as Int64. Integers and numbers are not
        copied but mapped from the file, which stays as it is when the frame is changed."""
        import mmap

        try:
            import pandas
            import pyarrow
        except ImportError as error:
            raise _needs("pandas", error) from None
        with open(self._file(), "rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        table = pyarrow.ipc.open_file(pyarrow.py_buffer(content)).read_all()
        frame = pandas.DataFrame({i: _values(c, content) for i, c in enumerate(table.columns)}, range(table.num_rows), copy=False)
        frame.columns = pandas.Index(table.column_names)
        return frame

    def to_polars(self) -> polars.DataFrame:
        """Returns the rows as a frame of Polars; names are categories. With pyarrow they are mapped from the file, without they are copied."""
        try:
            import polars
        except ImportError as error:
            raise _needs("polars", error) from None
        try:
            rows = self.to_arrow()
        except ImportError:
            return polars.read_ipc(self._file())
        frame = polars.from_arrow(rows, rechunk=False)
        assert isinstance(frame, polars.DataFrame)
        return frame

    def to_dicts(self) -> list[dict[str, Any]]:
        """Returns the rows as dictionaries. It needs no other package."""
        answer = self._session.ask(query=self.query)
        return [dict(zip(answer["columns"], row)) for row in answer["rows"]]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"a table has no {name}; to_pandas(), to_polars(), to_arrow() and to_dicts() return its rows")

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_dicts())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _first(self) -> tuple[list[str], list[list[Any]], list[str]]:
        """Returns the columns and the first rows, and lines that say if there are more and why tables are empty."""
        answer = self._session.ask(query=f"select * from ({self.query.rstrip().rstrip(';')}\n) limit {SHOWN + 1}")
        more = [f"The first {SHOWN} rows."] if len(answer["rows"]) > SHOWN else []
        return answer["columns"], answer["rows"][:SHOWN], more + answer.get("notes", [])

    def __repr__(self) -> str:
        try:
            columns, rows, more = self._first()
        except TracekitError:  # such as that the analysis is closed
            return f"tracekit.Table({self.query!r})"
        texts = [columns, *([str(v) for v in row] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*texts)]
        named = [any(isinstance(v, str) for v in column) for column in zip(*rows)] or [True] * len(columns)
        lines = ["  ".join(t.ljust(w) if n else t.rjust(w) for t, w, n in zip(line, widths, named)).rstrip() for line in texts]
        return "\n".join([lines[0], "-" * (sum(widths) + 2 * len(widths) - 2), *lines[1:], *more])

    def _repr_html_(self) -> str:
        import html

        columns, rows, more = self._first()
        head = "".join(f"<th>{html.escape(c)}</th>" for c in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{'' if v is None else html.escape(f'{v:,}' if isinstance(v, int) else str(v))}</td>" for v in row) + "</tr>"
            for row in rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" + "".join(f"<p>{html.escape(line)}</p>" for line in more)


def _values(column: pyarrow.ChunkedArray, content: mmap.mmap) -> Any:
    """Returns what a frame has of a column of a mapped file."""
    import pandas
    import pyarrow

    named = pyarrow.types.is_dictionary(column.type)
    plain = column.type.index_type if named else column.type
    if column.num_chunks != 1 or len(column) == 0 or column.null_count and not pyarrow.types.is_integer(plain):
        return column.to_pandas(types_mapper={pyarrow.int64(): pandas.Int64Dtype()}.get if column.null_count else None)
    import numpy

    chunk = column.chunk(0)
    valid, values = (chunk.indices if named else chunk).buffers()
    mapped = pyarrow.py_buffer(content).address
    numbers = numpy.frombuffer(content, numpy.dtype(plain.to_pandas_dtype()), len(column), values.address - mapped)
    missing = None
    if column.null_count:
        bits = numpy.frombuffer(content, numpy.uint8, (len(column) + 7) // 8, valid.address - mapped)
        missing = numpy.unpackbits(bits, count=len(column), bitorder="little") == 0
    if named:
        codes = numbers if missing is None else numpy.where(missing, plain.to_pandas_dtype()(-1), numbers)
        return pandas.Categorical.from_codes(codes, pandas.Index(chunk.dictionary.to_pandas()))
    return numbers if missing is None else pandas.arrays.IntegerArray(numbers, missing)


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except OSError:  # mapped, on Windows: it goes with its folder
        pass
