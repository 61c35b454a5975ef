package whatif

// Within has changes of time act on what passes within a window of corrected ticks alone: on calls that are entered then, and on what
// follows them until the next ones.
func (m *Model) Within(from, to int64) { m.from, m.to = from, to }
