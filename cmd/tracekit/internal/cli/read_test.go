package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestUnreadProfile states that a profile, which lists process groups as a dump of a flight recorder does, is not taken for one where
// reading it fails for another reason.
func TestUnreadProfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rank0.json")
	text := `{"schemaVersion":1,"distributedInfo":{"rank":0,"world_size":1,"pg_config":[]},"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&ReadFlags{Jobs: 1}).Open(ctx, path); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
