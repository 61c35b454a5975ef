package formulae

import "testing"

// TestRecode states that a time of a file before version 8 stays what it was, within what its code of that time told.
func TestRecode(t *testing.T) {
	for bit := range uint64(60) {
		d := uint64(1)<<bit + 1<<bit/3
		code, e := d, uint64(0)
		for ; d>>e >= 1<<formerCodeBits; e++ {
		}
		if e > 0 {
			code = e<<(formerCodeBits-1) + d>>e
		}
		times := Times{Outliers: []Outlier{{Code: code}}}
		if err := times.Recode(); err != nil {
			t.Fatal(err)
		}
		if got := OutlierTime(times.Outliers[0].Code); max(got, d)-min(got, d) > d>>(formerCodeBits-1) {
			t.Errorf("%d comes back as %d", d, got)
		}
	}
	if (&Times{Outliers: []Outlier{{Code: largestOutlier(formerCodeBits) + 1}}}).Recode() == nil {
		t.Error("a code of no time is read")
	}
}
