"""Tests of what builds the wheel, in a source checkout."""

import importlib.util
import pathlib
import re
import unittest

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

    def test_version(self) -> None:
        self.assertRegex(backend.version(), re.compile(r"^\d+(\.\d+)*((\.post|\.dev)\d+)?(\+g[0-9a-f]+)?$"))


if __name__ == "__main__":
    unittest.main()
