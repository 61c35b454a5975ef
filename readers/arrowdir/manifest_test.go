package arrowdir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/trace"
)

// TestDamagedManifest: what is wrong with a manifest is said with its place and a remedy.
func TestDamagedManifest(t *testing.T) {
	for _, c := range []struct {
		text   string
		offset int64
		want   string
	}{
		{``, 0, "the file is empty"},
		{`{"schema":"tracekit.tables/2",`, 30, "the file is cut off"},
		{`{"schema";"tracekit.tables/2"}`, 9, "not JSON"},
		{`{"schema":7}`, 11, "(schema): a number is not allowed here"},
		{`{"events":[1,-5]}`, 15, "(events): a number -5 is not allowed here"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, manifestName), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open(context.Background(), dir)
		var at *trace.SyntaxError
		if !errors.As(err, &at) || at.Offset != c.offset || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "write the tables again") {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}
