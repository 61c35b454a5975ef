# SPDX-License-Identifier: Apache-2.0 OR MIT

from spack_repo.builtin.build_systems.go import GoPackage

from spack.package import *


class Tracekit(GoPackage):
    """Analysis of traces of MPI and multi-GPU programs: where the time goes, which
    source line wastes it, why, and what mending it would gain."""

    homepage = "@SITE@"
    url = "@DOWNLOADS@/v@VERSION@/tracekit-@VERSION@.tar.gz"

    license("Apache-2.0")

    version("@VERSION@", sha256="@SHA256@")

    depends_on("go@1.26:", type="build")

    build_directory = "cmd/tracekit"

    @property
    def build_args(self):
        args = super().build_args
        args.extend(["-mod=vendor", "-trimpath"])
        args.extend(["-ldflags", f"-s -w -X main.release={self.version}"])
        return args

    @run_after("install")
    def manual(self):
        Executable(self.prefix.bin.tracekit)("man", self.prefix.share.man.man1)
