"""Builds the wheel of a platform: the package, and the command built by Go. It needs Python's own library and Go alone.

GOOS and GOARCH choose the platform, TRACEKIT_VERSION the version (default: by git describe), which the command says too. Same sources, same
bytes. The binary is static, unless CGO_ENABLED says else.
"""

from __future__ import annotations

import base64
import configparser
import hashlib
import os
import pathlib
import re
import subprocess
import tempfile
import zipfile
from typing import Any, Optional

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent

LICENSES = ("LICENSE", "NOTICE")  # of the package, and of all that the command contains
ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64", "ppc64le": "ppc64le", "s390x": "s390x", "riscv64": "riscv64"}


def platform_tag(goos: str, goarch: str) -> str:
    """Returns the tag of wheels for a platform. A static binary runs with any C library, and needs what Go needs."""
    machine = ARCHITECTURES.get(goarch, goarch)
    if goos == "linux":
        oldest = "manylinux_2_31" if goarch == "riscv64" else "manylinux_2_17"
        return f"{oldest}_{machine}.musllinux_1_1_{machine}"
    if goos == "darwin":
        return "macosx_12_0_" + {"amd64": "x86_64", "arm64": "arm64"}[goarch]
    if goos == "windows":
        return "win_" + {"amd64": "amd64", "arm64": "arm64"}[goarch]
    raise SystemExit(f"there is no tag of wheels for {goos}/{goarch}")


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def version() -> str:
    """Returns the version by PEP 440: of a tag, or of the commits since the last one."""
    if given := os.environ.get("TRACEKIT_VERSION"):
        return given.removeprefix("v")
    try:
        described = output("git", "describe", "--tags", "--long", "--match", "v[0-9]*")
    except (OSError, subprocess.CalledProcessError):
        described = ""
    if match := re.fullmatch(r"v([0-9.]+)-([0-9]+)-g([0-9a-f]+)", described):
        tag, since, commit = match.groups()
        return tag if since == "0" else f"{tag}.post{since}+g{commit}"
    try:
        return "0.0.dev" + output("git", "rev-list", "--count", "HEAD") + "+g" + output("git", "rev-parse", "--short=12", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return "0.0.dev0"


def metadata(release: str) -> str:
    # The few tables of pyproject.toml, which Python 3.9 cannot read otherwise: plain strings and lists of strings.
    text = (HERE / "pyproject.toml").read_text()
    text = re.sub(r"\[\n((?:    .*\n)+)\]", lambda m: "[" + " ".join(m.group(1).split("\n")) + "]", text)
    project = configparser.ConfigParser()
    project.optionxform = str  # type: ignore[assignment,method-assign]
    project.read_string(text)

    def strings(value: str) -> list[str]:
        return re.findall(r'"([^"]*)"', value)

    about = project["project"]
    lines = ["Metadata-Version: 2.4", "Name: tracekit", "Version: " + release, "Summary: " + strings(about["description"])[0],
             "License-Expression: " + strings(about["license"])[0], *("License-File: " + n for n in LICENSES),
             "Requires-Python: " + strings(about["requires-python"])[0], "Description-Content-Type: text/markdown"]
    lines += ["Classifier: " + c for c in strings(about["classifiers"])]
    for extra, needs in project["project.optional-dependencies"].items():
        lines.append("Provides-Extra: " + extra)
        lines += [f'Requires-Dist: {n}; extra == "{extra}"' for n in strings(needs)]
    return "\n".join(lines) + "\n\n" + (HERE / "README.md").read_text()


def get_requires_for_build_wheel(config_settings: Optional[dict[str, Any]] = None) -> list[str]:
    return []


def build_wheel(wheel_directory: str, config_settings: Optional[dict[str, Any]] = None, metadata_directory: Optional[str] = None) -> str:
    goos, goarch = output("go", "env", "GOOS"), output("go", "env", "GOARCH")
    tag = platform_tag(goos, goarch)
    release = version()
    name = "tracekit-" + release
    command = "tracekit.exe" if goos == "windows" else "tracekit"
    files: list[tuple[str, bytes, int]] = []
    for path in sorted((HERE / "tracekit").iterdir()):
        if path.suffix == ".py" or path.name == "py.typed":
            files.append((f"tracekit/{path.name}", path.read_bytes(), 0o644))
    with tempfile.TemporaryDirectory() as scratch:
        built = pathlib.Path(scratch, command)
        subprocess.run(["go", "build", "-trimpath", f"-ldflags=-s -w -X main.release={release}", "-o", str(built), "./cmd/tracekit"],
                       cwd=ROOT, check=True, env={"CGO_ENABLED": "0", **os.environ})
        files.append((f"{name}.data/scripts/{command}", built.read_bytes(), 0o755))
    wheel = "Wheel-Version: 1.0\nGenerator: tracekit\nRoot-Is-Purelib: false\n"
    wheel += "".join(f"Tag: py3-none-{t}\n" for t in tag.split("."))
    files += [(f"{name}.dist-info/licenses/{n}", (ROOT / n).read_bytes(), 0o644) for n in LICENSES]
    files += [(f"{name}.dist-info/METADATA", metadata(release).encode(), 0o644),
              (f"{name}.dist-info/WHEEL", wheel.encode(), 0o644)]
    record = ""
    file_name = f"{name}-py3-none-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory, file_name), "w", zipfile.ZIP_DEFLATED) as archive:
        for path_in, content, mode in files:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += f"{path_in},sha256={digest},{len(content)}\n"
            put(archive, path_in, content, mode)
        path_in = f"{name}.dist-info/RECORD"
        put(archive, path_in, (record + path_in + ",,\n").encode(), 0o644)
    return file_name


def put(archive: zipfile.ZipFile, name: str, content: bytes, mode: int) -> None:
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


if __name__ == "__main__":
    import sys

    print(pathlib.Path(sys.argv[1], build_wheel(sys.argv[1])))
