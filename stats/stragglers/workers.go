package stragglers

// onlyRanks forgets ranks if one of them is several workers: then it is that of a process which has the lanes of all stages.
func onlyRanks(ops []op) {
	type worker struct{ dp, stage uint32 }
	workers := make(map[uint32]worker)
	for i := range ops {
		w := worker{ops[i].dp, ops[i].stage}
		if first, known := workers[ops[i].rank]; known && first != w {
			for k := range ops {
				ops[k].rank = none
			}
			return
		}
		workers[ops[i].rank] = w
	}
}
