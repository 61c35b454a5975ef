package words

// Distance returns how many bytes are to be inserted, deleted or replaced to make one text of another: V. I. Levenshtein, Soviet Physics
// Doklady 10, 1966. It takes the product of their lengths.
func Distance(a, b string) int {
	row := make([]int, len(b)+1) // from what was read of a, to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0] // of the row before, in the column before
		row[0]++
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}
