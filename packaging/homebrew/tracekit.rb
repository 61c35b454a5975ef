class Tracekit < Formula
  desc "Analysis of traces of MPI and multi-GPU programs"
  homepage "@SITE@"
  url "@DOWNLOADS@/v@VERSION@/tracekit-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "go" => :build

  def install
    ENV["CGO_ENABLED"] = "0"
    system "go", "build", *std_go_args(ldflags: "-s -w -X main.release=#{version}"), "./cmd/tracekit"
    system bin/"tracekit", "man", "man"
    man1.install Dir["man/*.1"]
    generate_completions_from_executable(bin/"tracekit", "completion")
    doc.install "NOTICE"
  end

  test do
    system bin/"tracekit", "generate", "halo", "--processes", "4", "--iterations", "5", "-o", "halo.otf2"
    assert_match "4 ranks", shell_output("#{bin}/tracekit analyze halo.otf2")
  end
end
