package text

import (
	"strings"
	"testing"
)

func TestPlainText(t *testing.T) {
	for in, want := range map[string]string{
		"":                    "",
		"MPI_Send":            "MPI_Send",
		"größer … 大 ≈\u00a0é": "größer … 大 ≈\u00a0é",
		"a\x1b[2Jb":           `a\u001b[2Jb`,
		"a\tb\nc\rd":          `a\u0009b\u000ac\u000dd`,
		"\u009b\u202e":        `\u009b\u202e`,
		"\x9b":                `\x9b`,
		"\ufffd\ufffe":        "\ufffd" + `\ufffe`,
		"\U000e0001":          `\udb40\udc01`,
		`\u001b`:              `\u001b`,
	} {
		if got := Plain(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
		if again := Plain(Plain(in)); again != want {
			t.Errorf("%q: made plain twice it is %s", in, again)
		}
	}
}

// TestPlainPieces: a document is escaped piece by piece, and no character falls between two.
func TestPlainPieces(t *testing.T) {
	text := strings.Repeat("größer 大 \u202e\x9b\n", 30_000)
	var b strings.Builder
	for shift := range 4 {
		b.Reset()
		in := strings.Repeat("x", shift) + text
		if n, err := (Writer{W: &b}).Write([]byte(in)); n != len(in) || err != nil || b.String() != escape(in, true) {
			t.Errorf("%d bytes, %v", n, err)
		}
	}
}
