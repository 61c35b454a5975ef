package diagram

import (
	"sync"

	"tracekit/plots"
	"tracekit/trace"
)

// A queue adds lanes to the diagram as they are finished, those of a row of pixels in order of
// locations: a lane waits only for those before it that other goroutines still fill, so that
// memory is that of the picture's rows, whatever the number of ranks.
type queue struct {
	timeline *plots.Timeline
	row      []int // of pixels, by location
	shared   bool  // a row has several locations

	mu    sync.Mutex
	due   [][]trace.LocationID // of each row, those that are not added yet
	ready []*plots.Lane        // by location
}

// newQueue returns a queue for locations with these bars; -1: the location has none.
func newQueue(timeline *plots.Timeline, bars []int) *queue {
	q := &queue{timeline: timeline, row: make([]int, len(bars)), due: make([][]trace.LocationID, timeline.Rows()),
		ready: make([]*plots.Lane, len(bars))}
	for l, bar := range bars {
		if bar >= 0 {
			row := timeline.RowOf(bar)
			q.row[l], q.due[row] = row, append(q.due[row], trace.LocationID(l))
			q.shared = q.shared || len(q.due[row]) > 1
		}
	}
	return q
}

// add takes the finished lane of a location.
func (q *queue) add(l trace.LocationID, lane *plots.Lane) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ready[l] = lane
	due := &q.due[q.row[l]]
	for len(*due) > 0 && q.ready[(*due)[0]] != nil {
		next := (*due)[0]
		if err := q.timeline.Add(q.ready[next]); err != nil {
			return err
		}
		q.ready[next], *due = nil, (*due)[1:]
	}
	return nil
}
