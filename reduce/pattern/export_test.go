package pattern

// Pack and Unpack turn the bytes of a description into its text and back, for the fuzzer.
func Pack(b []byte) string { return pack(b) }

// Unpack is the inverse of Pack.
func Unpack(text string) ([]byte, error) { return unpack(text) }
