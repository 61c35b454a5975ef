package nsight

import (
	"fmt"
	"strings"
	"testing"

	"tracekit/readers/internal/recording"
	"tracekit/readers/internal/recording/recordingtest"
	"tracekit/trace"
)

// few is an export with little in it: a process that knows GPU 1 of the host as its device 0, and one kernel on it.
const few = `
	CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
	INSERT INTO StringIds VALUES (1, 'step');
	CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, "end" INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT,
		shortName INT);
	INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 200, 0, 1, 7, 5, 500 << 24, 1);
	CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT);
	INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (1, 0, 500);`

func openFew(t *testing.T, more string) *recording.Source {
	return opener.Open(t, recording.Options{}, recordingtest.Database(t, "a.sqlite", few+more))
}

// TestHiddenDevices states that counters of a GPU stand at the device that it is to a process, which may know it by another number.
func TestHiddenDevices(t *testing.T) {
	src := openFew(t, `
		CREATE TABLE GPU_METRICS (timestamp INT, typeId INT, metricId INT, value INT);
		INSERT INTO GPU_METRICS VALUES (100, 72057594037927936, 0, 10), (100, 72057594037927937, 0, 11);`)
	d := src.Defs()
	places := make(map[uint64]string)
	for l := range d.Locations {
		for b, err := range src.Events(t.Context(), trace.LocationID(l)) {
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range b.Metric.Value {
				places[v] = d.String(d.LocationGroups[d.Locations[l].Group].Name)
			}
		}
	}
	if got, want := fmt.Sprint(places), "map[10:process 0: GPU 0 11:process 500: GPU 0]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestUnreadTables states that tables of events that are not read are found whatever their names, and that a range without a text has a
// name.
func TestUnreadTables(t *testing.T) {
	src := openFew(t, `
		CREATE TABLE NVTX_EVENTS (start INT, "end" INT, eventType INT, text TEXT, globalTid INT);
		INSERT INTO NVTX_EVENTS VALUES (50, 300, 59, NULL, 500 << 24 | 500);
		CREATE TABLE CUBLAS_EVENTS (start INT, "end" INT);
		INSERT INTO CUBLAS_EVENTS VALUES (60, 70), (70, 80);
		CREATE TABLE NEW_SAMPLES (timestamp INT);
		INSERT INTO NEW_SAMPLES VALUES (60);
		CREATE TABLE OPENGL_API (start INT);
		CREATE TABLE ENUM_KINDS (id INT);
		INSERT INTO ENUM_KINDS VALUES (60);
		CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INT);
		INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (60);`)
	found := src.Findings()
	if len(found) != 1 || found[0].Code != trace.CodeUnknownRecord || found[0].Count != 2 ||
		!strings.HasSuffix(found[0].Text, ": CUBLAS_EVENTS, NEW_SAMPLES") {
		t.Errorf("findings %+v", found)
	}
	d := src.Defs()
	for _, r := range d.Regions {
		if d.String(r.Name) == "" {
			t.Error("a region has no name")
		}
	}
}
