package pattern

// Pack and Unpack turn the bytes of a description into its text and back, for the fuzzer.
func Pack(b []byte) string { return pack(b) }

// Unpack is the inverse of Pack.
func Unpack(text string) ([]byte, error) { return unpack(text) }

// LawOf and LawShares are for tests of laws.
func LawOf(times []int64) Law { return lawOf(times) }

// LawShares are the shares of the quantiles of a law.
var LawShares = lawShares
