"""Tests of what builds the wheel, in a source checkout."""

import base64
import hashlib
import importlib.util
import os
import pathlib
import re
import tempfile
import unittest
import unittest.mock
import zipfile

spec = importlib.util.spec_from_file_location("backend", pathlib.Path(__file__).resolve().parents[1] / "backend.py")
backend = importlib.util.module_from_spec(spec)
spec.loader.exec_module(backend)


class Backend(unittest.TestCase):
    def test_tags(self) -> None:
        for platform, tag in {
            ("linux", "amd64"): "manylinux_2_17_x86_64.musllinux_1_1_x86_64",
            ("linux", "arm64"): "manylinux_2_17_aarch64.musllinux_1_1_aarch64",
            ("darwin", "arm64"): "macosx_12_0_arm64",
            ("darwin", "amd64"): "macosx_12_0_x86_64",
            ("windows", "amd64"): "win_amd64",
        }.items():
            self.assertEqual(backend.platform_tag(*platform), tag)
        with self.assertRaises(SystemExit):
            backend.platform_tag("plan9", "mips")

    def test_metadata(self) -> None:
        text = backend.metadata("1.2.0")
        for line in ("Name: tracekit", "Version: 1.2.0", "License-File: NOTICE", "License-Expression: Apache-2.0", "Requires-Python: >=3.9", "Classifier: Typing :: Typed",
                     'Requires-Dist: pyarrow; extra == "pandas"', 'Requires-Dist: polars; extra == "polars"'):
            self.assertIn(line + "\n", text)
        self.assertNotIn("Requires-Dist: pyarrow\n", text)

    @unittest.skipIf(os.name == "nt", "the stand-in of Go is a shell script")
    def test_wheels(self) -> None:
        """A wheel of any platform has its tag, the package and the command, each with its sum. Go is asked to build a static command for it."""
        with tempfile.TemporaryDirectory() as folder:
            go = pathlib.Path(folder, "go")
            go.write_text('#!/bin/sh\nif [ "$1" = env ]; then eval echo "\\$$2"; exit; fi\n'
                          'while [ "$1" != -o ]; do shift; done\necho "$GOOS $GOARCH $CGO_ENABLED" >"$2"\n')
            go.chmod(0o755)
            for platform, tag in {"linux/arm64": "manylinux_2_17_aarch64.musllinux_1_1_aarch64", "darwin/arm64": "macosx_12_0_arm64",
                                  "darwin/amd64": "macosx_12_0_x86_64", "windows/amd64": "win_amd64", "windows/arm64": "win_arm64"}.items():
                goos, goarch = platform.split("/")
                environment = {"PATH": folder + os.pathsep + os.environ["PATH"], "GOOS": goos, "GOARCH": goarch, "TRACEKIT_VERSION": "1.2.0"}
                with unittest.mock.patch.dict(os.environ, environment):
                    os.environ.pop("CGO_ENABLED", None)
                    name = backend.build_wheel(folder)
                self.assertEqual(name, f"tracekit-1.2.0-py3-none-{tag}.whl")
                with zipfile.ZipFile(pathlib.Path(folder, name)) as wheel:
                    command = "tracekit-1.2.0.data/scripts/tracekit" + (".exe" if goos == "windows" else "")
                    self.assertEqual(wheel.read(command).decode(), f"{goos} {goarch} 0\n")
                    self.assertEqual(wheel.getinfo(command).external_attr >> 16, 0o100755)
                    about = wheel.read("tracekit-1.2.0.dist-info/WHEEL").decode()
                    self.assertEqual(re.findall("^Tag: (.*)$", about, re.M), ["py3-none-" + t for t in tag.split(".")])
                    self.assertTrue({"tracekit/__init__.py", "tracekit/py.typed", "tracekit-1.2.0.dist-info/licenses/NOTICE"} <= set(wheel.namelist()))
                    record = [line.rsplit(",", 2) for line in wheel.read("tracekit-1.2.0.dist-info/RECORD").decode().splitlines()]
                    self.assertEqual([r[0] for r in record], wheel.namelist())
                    for path, digest, size in record[:-1]:
                        content = wheel.read(path)
                        sum256 = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                        self.assertEqual((digest, size), ("sha256=" + sum256, str(len(content))))

    def test_version(self) -> None:
        self.assertRegex(backend.version(), re.compile(r"^\d+(\.\d+)*((\.post|\.dev)\d+)?(\+g[0-9a-f]+)?$"))


if __name__ == "__main__":
    unittest.main()
