package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"tracekit/formulae/internal/coder"
)

// Numbers that follow a rule cost next to nothing: equal ones, those that grow, two columns of such in turn, those that follow each other.
func TestNumbersThatAreGuessed(t *testing.T) {
	form, r := Form{Tables: coder.NewTables()}, rand.New(rand.NewPCG(1, 2))
	cycle := make([]uint64, 9)
	for i := range cycle {
		cycle[i] = r.Uint64()
	}
	for name, one := range map[string]func(i uint64) uint64{
		"equal":   func(uint64) uint64 { return 1 << 40 },
		"growing": func(i uint64) uint64 { return 1<<60 - 12345*i },
		"in turn": func(i uint64) uint64 { return []uint64{1<<32 - 1, i}[i%2] },
		"cycle":   func(i uint64) uint64 { return cycle[i%9] },
	} {
		numbers := make([]uint64, 1000)
		for i := range numbers {
			numbers[i] = one(uint64(i))
		}
		if n := len(Pack(form, &numbers, Lists(Numbers[uint64]()))); n > 140 {
			t.Errorf("%s: 1000 numbers take %d bytes", name, n)
		}
	}
}

// Texts that all traces of a recorder have cost little.
func TestTextsThatAreKnown(t *testing.T) {
	form := Form{Tables: coder.NewTables()}
	list := strings.Fields("MPI_Allreduce MPI_Alltoall MPI_Alltoallv MPI_Barrier MPI_Bcast MPI_Finalize MPI_Init MPI_Waitall")
	now := len(Pack(form, &list, Lists(Texts[string]())))
	if early := len(Pack(Form{form.Tables, true}, &list, Lists(Texts[string]()))); 4*now > 3*early {
		t.Errorf("they take %d bytes, %d without words", now, early)
	}
}

// The words are those of the version: files that depend on them are everywhere.
func TestWordsOfTheVersion(t *testing.T) {
	sum := sha256.Sum256([]byte(words))
	if got := hex.EncodeToString(sum[:4]); got != "bd1d02d0" {
		t.Errorf("the words have the checksum %s: new ones need a new version of the format", got)
	}
}
