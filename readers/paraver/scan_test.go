package paraver

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestNumbers compares the scanner with the standard library.
func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	texts := []string{"", "-", "0", "-0", "7", "-16862", "12345678", "123456789", "00000000000000000000007",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
		"18446744073709551615", "18446744073709551616", "99999999999999999999"}
	for range 2000 {
		text := strconv.FormatUint(rng.Uint64()>>rng.IntN(64), 10)
		if rng.IntN(4) == 0 {
			text = "-" + text
		}
		texts = append(texts, text)
	}
	for _, text := range texts {
		want, err := strconv.ParseInt(text, 10, 64)
		if u, uerr := strconv.ParseUint(text, 10, 64); uerr == nil && err != nil {
			want, err = int64(u), nil
		}
		for _, rest := range []string{":", "\n", "x2345678\n", ":23456789\n"} {
			for name, read := range map[string]func(*scanner) (int64, bool){"number": (*scanner).number, "long": (*scanner).long} {
				s := scanner{data: []byte(text + rest)}
				got, ok := read(&s)
				if ok != (err == nil) || ok && (got != want || s.pos != len(text)) {
					t.Errorf("%s of %q is %d, %v at %d; want %d", name, text+rest, got, ok, s.pos, want)
				}
			}
		}
	}
}
