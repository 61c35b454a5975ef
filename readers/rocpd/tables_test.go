package rocpd

import (
	"strings"
	"testing"

	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/recording/recordingtest"
	"tracekit/trace"
)

// TestUnreadTables states that events of other tools, and those of a process whose texts are missing, are found.
func TestUnreadTables(t *testing.T) {
	src := opener.Open(t, recording.Options{}, recordingtest.Database(t, "a.db", `
		CREATE TABLE rocpd_metadata_a (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
		CREATE TABLE rocpd_string_a (id INTEGER PRIMARY KEY, string TEXT);
		CREATE TABLE rocpd_region_a (id INTEGER PRIMARY KEY, start INT, "end" INT);
		INSERT INTO rocpd_region_a VALUES (1, 10, 20);
		CREATE TABLE rocpd_metadata_b (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
		CREATE TABLE rocpd_region_b (id INTEGER PRIMARY KEY, start INT, "end" INT);
		INSERT INTO rocpd_region_b VALUES (1, 10, 20);
		CREATE TABLE rocpd_api (id INTEGER PRIMARY KEY, start INT);
		INSERT INTO rocpd_api VALUES (1, 10);
		CREATE TABLE rocpd_monitor (id INTEGER PRIMARY KEY, start INT);`))
	for _, f := range src.Findings() {
		if f.Code == trace.CodeUnknownRecord && f.Count == 2 && strings.HasSuffix(f.Text, ": rocpd_api, rocpd_region_b") {
			return
		}
	}
	t.Errorf("findings %+v", src.Findings())
}
