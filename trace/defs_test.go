package trace

import "testing"

// TestRegionLabel states which names people see.
func TestRegionLabel(t *testing.T) {
	names := []string{"main", "_ZN6Domain16AllocateNodePersEi", "_Zbroken", "std::sort<int*>"}
	want := []string{"main", "Domain::AllocateNodePers(int)", "_Zbroken", "std::sort<int*>"}
	d := &Defs{Strings: names}
	for i := range names {
		d.Regions = append(d.Regions, Region{Name: StringID(i)})
	}
	for i, w := range want {
		if got := d.RegionLabel(RegionID(i)); got != w {
			t.Errorf("%s: got %q, want %q", names[i], got, w)
		}
	}
	if got := d.RegionLabel(None); got != "" {
		t.Errorf("no region: got %q", got)
	}
}
