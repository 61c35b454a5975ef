"""Tests of the installed package. Those that need pandas, Polars, pyarrow or a notebook are skipped without."""

import collections
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import tracekit as tk

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"
HALO, RING = (SAMPLES / "archives" / n for n in ("halo2d-8", "ring-4"))


def needs(*modules: str):
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    return unittest.skipIf(missing, f"without {', '.join(missing)}")


def command(*arguments: object) -> str:
    return subprocess.run([tk._command.find(), *map(str, arguments)], check=True, capture_output=True, text=True).stdout


class Basics(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.analysis = tk.open(HALO).analyze()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.analysis.close()

    def test_command(self) -> None:
        """The command of the wheel is the one that runs."""
        scripts = pathlib.Path(sys.executable).parent
        self.assertEqual(pathlib.Path(tk._command.find()).parent, scripts)

    def test_wheel(self) -> None:
        """The wheel has the licenses of all that is in it, and the command says the version of the wheel."""
        files = importlib.metadata.files("tracekit")
        self.assertEqual({f.name for f in files if f.parent.name == "licenses"}, {"LICENSE", "NOTICE"})
        self.assertEqual(command("--version").split()[-1], importlib.metadata.version("tracekit"))

    def test_who_makes_others_wait(self) -> None:
        rows = self.analysis.late_ranks.to_dicts()
        self.assertEqual(rows[0], {"rank": 6, "delays_ns": 66222235, "waits": 31, "waits_caused_ns": 62773489, "ranks_waiting": 7})

    def test_tables_are_those_of_the_command(self) -> None:
        said = command("sql", "--format", "csv", HALO, "select name from sqlite_schema order by name").split()
        self.assertEqual(self.analysis.tables, said[1:])
        self.assertTrue(set(said[1:]) <= set(dir(self.analysis)))

    def test_sql(self) -> None:
        query = "select rank, wait_ns from rank_summary"
        table = self.analysis.sql(query)
        self.assertEqual(table.columns, ["rank", "wait_ns"])
        self.assertEqual([list(r.values()) for r in table], json.loads(command("sql", "--json", HALO, query))["rows"])
        with self.assertRaisesRegex(tk.TracekitError, "^no such column: nowhere: there are location, call, rank, "):
            self.analysis.sql("select nowhere from calls")
        self.assertEqual(self.analysis.sql("select 1 as a").to_dicts(), [{"a": 1}])

    def test_document(self) -> None:
        self.assertEqual(self.analysis.document, json.loads(command("analyze", "--json", HALO)))
        self.assertEqual(self.analysis.document.diagnosis[1].region, "relax")
        part = tk.open(HALO).analyze(ranks="0-3", from_="50%")
        self.assertEqual(part.document, json.loads(command("analyze", "--json", "--ranks=0-3", "--from=50%", HALO)))
        part.close()

    def test_commands(self) -> None:
        ring = tk.open(RING, jobs=1)
        self.assertEqual(ring.info().trace.processes, 4)
        self.assertEqual(round(ring.whatif(scale=["work=0.125@2"]).predicted_ns / 1e6), 339)
        self.assertEqual(ring.explain().chain[0], json.loads(command("explain", "--json", RING))["chain"][0])
        self.assertEqual(ring.explain("1@20%"), json.loads(command("explain", "--json", RING, "1@20%")))
        self.assertEqual(tk.compare(ring, RING), json.loads(command("compare", "--json", RING, RING)))
        self.assertIn("WHAT TO FIX", tk.run("analyze", RING))

    def test_baseline(self) -> None:
        """A comparison with a baseline is that with its runs."""
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder, "kept.json")
            document = tk.baseline(kept, tk.open(RING))
            self.assertEqual(document, json.loads(kept.read_text()))
            self.assertEqual(document, tk.baseline(kept))
            got, want = tk.compare(RING, baseline=kept), tk.compare(RING, RING)
            self.assertEqual((got.baseline, got.changes), (str(kept), want.changes))
            with self.assertRaisesRegex(tk.TracekitError, "twice|already|counts once"):
                tk.baseline(kept, RING)

    def test_errors(self) -> None:
        with self.assertRaises(tk.NotATraceError) as caught:
            tk.open("missing").analyze()
        self.assertEqual((str(caught.exception), caught.exception.exit_code), ("missing: no such file or directory", 3))
        with self.assertRaises(tk.UsageError) as caught:
            tk.open(RING).whatif(no_such_flag=1)
        self.assertEqual(str(caught.exception), "unknown flag: --no-such-flag")
        with self.assertRaises(tk.GateError) as caught:
            tk.open(RING).analyze(fail_if="trace.events>1").document
        self.assertIn("trace.events", str(caught.exception))
        self.assertEqual(caught.exception.document["trace"]["processes"], 4)
        with self.assertRaisesRegex(AttributeError, "did you mean late_ranks"):
            self.analysis.late_rank
        with self.assertRaisesRegex(AttributeError, r"a table has no head; to_pandas\(\)"):
            self.analysis.calls.head()
        with self.assertRaisesRegex(AttributeError, r"a trace has no late_ranks; analyze\(\)"):
            tk.open(RING).late_ranks

    def test_pictures(self) -> None:
        picture = tk.open(RING).spacetime(width=400, height=200)
        self.assertTrue(picture._repr_png_().startswith(b"\x89PNG"))
        self.assertIn("<svg", tk.open(RING).spacetime(format="svg")._repr_svg_())
        page = self.analysis.report()
        self.assertIn('<iframe srcdoc="&lt;!', page._repr_html_())
        self.assertIn("relax", self.analysis._repr_html_())
        self.assertIn("<td>85,102,239</td>", self.analysis.late_ranks._repr_html_())

    def test_files_go(self) -> None:
        analysis = tk.open(RING).analyze()
        calls = analysis.calls
        analysis.calls.columns
        folder = analysis._session._files[0]
        table = analysis.sql("select * from calls")
        self.assertTrue(os.listdir(folder))
        del table
        self.assertEqual(os.listdir(folder), [])
        analysis.close()
        self.assertFalse(os.path.exists(folder))
        with self.assertRaisesRegex(tk.TracekitError, "^the analysis is closed$"):
            analysis.sql("select 1")
        self.assertEqual(repr(calls), "tracekit.Table('select * from \"calls\"')")

    def test_command_dies(self) -> None:
        analysis = tk.open(RING).analyze()
        analysis.calls.columns
        folder = analysis._session._files[0]
        analysis._session._process.process.kill()
        for _ in range(2):
            with self.assertRaises(tk.TracekitError):
                analysis.sql("select 1")
        analysis.close()
        self.assertFalse(os.path.exists(folder))

    def test_files_of_one_trace(self) -> None:
        """All files of a trace are analyzed."""
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for i in range(2):
                paths.append(pathlib.Path(folder, f"{i}.json"))
                event = {"ph": "X", "name": "work", "pid": i, "tid": 1, "ts": 1, "dur": 5}
                paths[i].write_text(json.dumps({"traceEvents": [event]}))
            with tk.open(*paths).analyze() as analysis:
                self.assertEqual(analysis.sql("select count(*) as n from visits").to_dicts(), [{"n": 2}])
                self.assertEqual(analysis.document, json.loads(command("analyze", "--json", *paths)))

    def test_shown(self) -> None:
        """Rows are aligned. A comment at the end of a query hides nothing, and infinite numbers are numbers."""
        self.assertEqual(repr(self.analysis.sql("select 7 as rank, 'relax' as region, null as n union select 10, 'b', 5")),
                         "rank  region     n\n------------------\n   7  relax   None\n  10  b          5")
        self.assertIn("\nThe first 20 rows.", repr(self.analysis.calls))
        for said in repr(self.analysis.kernels), self.analysis.kernels._repr_html_():
            self.assertIn("kernels is empty: the trace records no device.", said)
        self.assertEqual(repr(self.analysis), f"tracekit.open({str(HALO)!r}).analyze()")
        self.assertEqual(repr(self.analysis.sql("select 1 as a where false")), "a\n-")
        self.assertIn("<td>1</td>", self.analysis.sql("select 1 -- one")._repr_html_())
        self.assertEqual(self.analysis.sql("select 9e999 as a, -9e999 as b").to_dicts(), [{"a": float("inf"), "b": float("-inf")}])


class Frames(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.analysis = tk.open(HALO).analyze()
        cls.rows = cls.analysis.calls.to_dicts()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.analysis.close()

    @needs("pandas", "pyarrow")
    def test_pandas(self) -> None:
        frame = self.analysis.calls.to_pandas()
        self.assertEqual(list(frame.columns), self.analysis.calls.columns)
        self.assertEqual(str(frame.overhead_ns.dtype), "Int64")  # with missing ones
        self.assertEqual(str(frame.time_ns.dtype), "int64")
        for name, column in self.analysis.calls.to_arrow().to_pandas().items():  # by pyarrow alone
            if column.dtype == "category":
                self.assertTrue(column.equals(frame[name]), name)
        got = frame.astype(object).where(frame.notna(), None).to_dict("records")
        self.assertEqual(got, self.rows)
        frame.loc[0, "time_ns"] = -1  # a frame may be changed, which changes neither the answer nor another frame
        frame["start_ns"] += 1
        self.assertEqual(self.analysis.calls.to_pandas().time_ns[0], self.rows[0]["time_ns"])
        self.assertEqual((frame.time_ns[0], frame.start_ns[0]), (-1, self.rows[0]["start_ns"] + 1))
        table = self.analysis.sql("select rank, time_ns from calls")
        one, other = table.to_pandas(), table.to_pandas()
        one.loc[0, "rank"] = 77
        self.assertEqual(other["rank"][0], self.rows[0]["rank"])
        self.assertEqual(list(self.analysis.sql("select rank, rank from calls where rank > 99").to_pandas().columns), ["rank", "rank"])

    @needs("polars")
    def test_polars(self) -> None:
        frame = self.analysis.calls.to_polars()
        self.assertEqual(frame.to_dicts(), self.rows)
        with unittest.mock.patch.dict(sys.modules, {"pyarrow": None}):  # without it
            other = self.analysis.calls.to_polars()
        self.assertTrue(frame.equals(other) and frame.schema == other.schema)

    @needs("pyarrow")
    def test_arrow(self) -> None:
        self.assertEqual(self.analysis.calls.to_arrow().to_pylist(), self.rows)
        empty = self.analysis.sql("select rank, operation from calls where rank > 99").to_arrow()
        self.assertEqual((empty.num_rows, empty.column_names), (0, ["rank", "operation"]))

    @needs("pyarrow", "polars")
    def test_stream(self) -> None:
        """Whatever takes Arrow's stream takes a table."""
        import polars

        self.assertEqual(polars.DataFrame(self.analysis.wait_states).to_dicts(), self.analysis.wait_states.to_dicts())

    @unittest.skipIf(importlib.util.find_spec("pandas"), "with pandas")
    def test_without(self) -> None:
        with self.assertRaisesRegex(ImportError, r"pip install 'tracekit\[pandas\]'"):
            self.analysis.calls.to_pandas()


class Documentation(unittest.TestCase):
    @needs("pandas", "polars", "pyarrow")
    def test_pages(self) -> None:
        """The Python of the documentation runs."""
        before = os.getcwd()
        os.chdir(SAMPLES.parent)
        try:
            text = (SAMPLES.parent / "docs/howto/python.md").read_text()
            names: dict[str, object] = {}
            for block in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S):
                exec(block, names)
            names["halo"].close()
        finally:
            os.chdir(before)

    def test_tutorial(self) -> None:
        """The line of the tutorial names the rank that makes others wait. It needs nothing but the package."""
        line = re.search(r"`(import tracekit as tk; .*?)`", (SAMPLES.parent / "docs/tutorial.md").read_text())
        said = subprocess.run([sys.executable, "-c", line[1]], cwd=SAMPLES.parent, check=True, capture_output=True, text=True).stdout
        columns, _, first, *_ = said.splitlines()
        place = dict(zip(columns.split(), first.split()))
        self.assertEqual((place["region"], place["most_rank"]), ("work", "2"))


class Replacements(unittest.TestCase):
    def test_what_replaces_calls_of_others(self) -> None:
        """Each line that replaces a call of Pipit or HTA answers, on an MPI program or on a training job."""
        with tempfile.TemporaryDirectory() as folder:
            job = os.path.join(folder, "job")
            command("generate", "training", "--profiles", "--dp", "2", "--pp", "1", "--iterations", "5", "-o", job)
            traces = [tk.open(HALO), tk.open(job)]
            analyses = [t.analyze() for t in traces]
            text = (SAMPLES.parent / "docs/reference/python.md").read_text().split("## From Pipit")[1]
            lines = re.findall(r"`((?:a\.|a = |tk\.|trace\.(?=stragglers))[^`]*)`", text.replace("a = tk", "tk"))
            self.assertGreater(len(lines), 20)
            for line in lines:
                failed = []
                for trace, a in zip(traces, analyses):
                    try:
                        answer = eval(line, {"tk": tk, "a": a, "trace": trace, "path": trace.paths[0], "before": trace, "after": trace})
                        if isinstance(answer, tk.Table):
                            answer.to_dicts()
                    except (AttributeError, tk.TracekitError) as error:
                        failed.append(str(error))
                self.assertLess(len(failed), 2, f"{line}: {failed}")
            for a in analyses:
                a.close()


class Pipit(unittest.TestCase):
    @needs("otf2")
    def test_figures_of_pipit(self) -> None:
        """The lines that replace calls of Pipit give its figures, by its definitions, of the events that OTF2's own library reads."""
        import otf2

        path = SAMPLES / "archives" / "ring-4-plain" / "traces.otf2"
        outer, own = collections.Counter(), collections.Counter()  # ticks in a region of a rank
        sent, sizes = collections.Counter(), collections.Counter()
        with otf2.reader.open(str(path)) as archive:
            second = archive.definitions.clock_properties.timer_resolution
            stacks = collections.defaultdict(list)
            for location, event in archive.events:
                rank, stack = location.group._ref, stacks[location]
                if isinstance(event, otf2.events.Enter):
                    stack.append((event.region.name, event.time))
                elif isinstance(event, otf2.events.Leave):
                    name, begin = stack.pop()
                    outer[name, rank] += event.time - begin
                    own[name, rank] += event.time - begin
                    if stack:
                        own[stack[-1][0], rank] -= event.time - begin
                elif isinstance(event, (otf2.events.MpiSend, otf2.events.MpiIsend)):
                    sent[rank, event.receiver] += event.msg_length
                    sizes[event.msg_length] += 1
        ranks = sorted({rank for _, rank in own})
        of = {name: [ns(own[name, r], second) for r in ranks if (name, r) in own] for name, _ in own}
        waits = ("MPI_Wait", "MPI_Waitall", "MPI_Recv")
        want = {
            "flat_profile": {name: sum(v) / len(v) for name, v in of.items()},
            "load_imbalance": {name: max(v) / (sum(v) / len(v)) for name, v in of.items()},
            "idle_time": {r: sum(ns(outer[name, r], second) for name in waits) for r in ranks},
            "comm_by_process": {r: sum(b for (f, _), b in sent.items() if f == r) for r in ranks},
        }
        text = (SAMPLES.parent / "docs/reference/python.md").read_text()
        with tk.open(path, clock="offsets").analyze() as a:
            for call, figures in want.items():
                line = re.search(rf"\| `trace\.{call}\(.*?\| `(.*?)`", text)[1]
                got = {k: v for k, v in (row.values() for row in eval(line, {"a": a}).to_dicts()) if v is not None}
                self.assertEqual(got.keys(), figures.keys(), call)
                for key, figure in figures.items():
                    self.assertAlmostEqual(got[key], figure, delta=max(2, figure * 1e-6), msg=f"{call} {key}")
            self.assertEqual({(r["from"], r["to"]): r["bytes"] for r in a.comm_matrix}, dict(sent))
            self.assertEqual({r["size_bytes"]: r["messages"] for r in a.message_sizes}, dict(sizes))


def ns(ticks: int, second: int) -> float:
    return ticks * 1e9 / second


class Notebook(unittest.TestCase):
    @needs("nbclient", "ipykernel", "pandas", "pyarrow")
    def test_notebook(self) -> None:
        import nbformat
        from nbclient import NotebookClient

        cells = [
            f"import tracekit as tk\nimport tracekit._progress\ntracekit._progress.PATIENCE = -1\ntrace = tk.open({str(HALO)!r})\nanalysis = trace.analyze()",
            "analysis",
            "analysis.late_ranks",
            "analysis.late_ranks.to_pandas()",
            "analysis.report()",
            "trace.spacetime(width=400, height=200)",
            "p = tracekit._progress.Progress()\np.show({'progress': 'reading', 'done': 5, 'total': 10, 'ended': False})",
        ]
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        NotebookClient(book, timeout=300).execute()
        shown = [{k: v for o in c.outputs if "data" in o for k, v in o.data.items()} for c in book.cells]
        for cell, kind, part in [(1, "text/html", "relax"), (2, "text/html", "85,102,239"), (3, "text/html", "waits_caused_ns"), (4, "text/html", "<iframe"), (5, "image/png", "iVBOR"), (6, "text/html", "<progress value")]:
            self.assertIn(part, shown[cell].get(kind, ""), f"cell {cell}")


if __name__ == "__main__":
    unittest.main()
