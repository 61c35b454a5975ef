package query

// A View is a question that is often asked.
type View struct {
	Name    string
	About   string
	Tables  []string // it is there where these are
	SQL     string
	Example string // a query
}

// Views returns the library of views.
func Views() []View {
	return []View{
		{"wait_states", "Waits by wait state.", []string{"waits"},
			`SELECT wait_state, count(*) AS count, sum(time_ns) AS time_ns, max(time_ns) AS longest_ns
FROM waits GROUP BY wait_state ORDER BY time_ns DESC`,
			`SELECT wait_state, time_ns FROM wait_states`},
		{"late_ranks", "Ranks that others wait for after startup: as origin (delays_ns, see delays), and directly (waits_caused_ns).",
			[]string{"waits", "delays_by_rank"},
			`SELECT rank, CASE WHEN EXISTS (SELECT 1 FROM delays_by_rank) THEN ifnull(delays_ns, 0) END AS delays_ns, ifnull(waits, 0) AS waits, ifnull(waits_caused_ns, 0) AS waits_caused_ns,
  ifnull(ranks_waiting, 0) AS ranks_waiting
FROM (SELECT rank, sum(time_ns - startup_ns) AS delays_ns FROM delays_by_rank WHERE time_ns > startup_ns GROUP BY rank)
FULL JOIN (SELECT caused_by_rank AS rank, count(*) AS waits, sum(time_ns) AS waits_caused_ns, count(DISTINCT rank) AS ranks_waiting
  FROM waits WHERE caused_by_rank IS NOT NULL AND wait_state <> 'startup' GROUP BY caused_by_rank) USING (rank)
ORDER BY delays_ns DESC, waits_caused_ns DESC`,
			`SELECT rank, delays_ns FROM late_ranks LIMIT 3`},
		{"late_places", "Places that others wait for after startup.", []string{"waits"},
			`SELECT caused_by_region AS region, caused_by_operation AS operation, caused_by_file AS file, caused_by_line AS line,
  count(*) AS waits, sum(time_ns) AS waits_caused_ns
FROM waits WHERE wait_state <> 'startup' GROUP BY 1, 2, 3, 4 ORDER BY waits_caused_ns DESC`,
			`SELECT operation, region, waits_caused_ns FROM late_places LIMIT 3`},
		{"rank_summary", "Calls of each rank: time, waits, bytes.", []string{"calls"},
			`SELECT rank, count(*) AS calls, sum(time_ns) AS time_ns, sum(wait_ns) AS wait_ns,
  sum(bytes_sent) AS bytes_sent, sum(bytes_received) AS bytes_received
FROM calls GROUP BY rank`,
			`SELECT rank, wait_ns FROM rank_summary ORDER BY wait_ns LIMIT 3`},
		{"comm_matrix", "Messages from rank to rank, with mean latency.", []string{"messages"},
			`SELECT "from", "to", count(*) AS messages, sum(bytes) AS bytes, avg(latency_ns) AS latency_ns
FROM messages WHERE state = 'matched' GROUP BY "from", "to"`,
			`SELECT "from", "to", bytes FROM comm_matrix ORDER BY bytes DESC LIMIT 3`},
		{"message_sizes", "Messages of at most size_bytes, and more than half of that.", []string{"messages"},
			`SELECT CASE WHEN bytes < 1 THEN 0 ELSE 1 << CAST(ceil(log2(bytes)) AS INTEGER) END AS size_bytes,
  count(*) AS messages, sum(bytes) AS bytes
FROM messages GROUP BY size_bytes`,
			`SELECT * FROM message_sizes`},
		{"collective_skew", "Collectives: how far apart ranks arrive, and the time from the last one on.", []string{"collectives"},
			`SELECT collective, operation, communicator, start_ns, last_ns - start_ns AS skew_ns, end_ns - last_ns AS transfer_ns
FROM collectives`,
			`SELECT operation, sum(skew_ns) FROM collective_skew GROUP BY operation`},
		{"last_arrivals", "Which rank arrives last in a collective.", []string{"collectives", "members"},
			`SELECT c.collective, c.operation, m.rank, m.start_ns, m.start_ns - c.start_ns AS after_first_ns
FROM collectives c JOIN members m ON m.collective = c.collective WHERE m.start_ns = c.last_ns`,
			`SELECT rank, count(*) FROM last_arrivals GROUP BY rank ORDER BY 2 DESC LIMIT 3`},
		{"region_by_rank", "Visits and times of regions on each rank.", []string{"visits"},
			`SELECT region, rank, count(*) AS visits, sum(time_ns) AS time_ns, sum(self_ns) AS self_ns
FROM visits GROUP BY region, rank`,
			`SELECT region, max(self_ns) - min(self_ns) AS spread_ns FROM region_by_rank GROUP BY region ORDER BY 2 DESC LIMIT 3`},
		{"kernel_summary", "Kernels and copies, all devices together.", []string{"visits"},
			`SELECT region AS kernel, kernel_class AS class, count(*) AS count, sum(time_ns) AS time_ns,
  avg(time_ns) AS mean_ns, max(time_ns) AS longest_ns
FROM visits WHERE kernel_class IS NOT NULL GROUP BY region, kernel_class ORDER BY time_ns DESC`,
			`SELECT kernel, time_ns FROM kernel_summary LIMIT 3`},
		{"overlap", "Communication and copies that computing hides.", []string{"devices"},
			`SELECT rank, device, communication_ns, communication_ns - exposed_communication_ns AS communication_hidden_ns,
  memory_ns, memory_ns - exposed_memory_ns AS memory_hidden_ns
FROM devices`,
			`SELECT * FROM overlap`},
		{"bubbles", "Gaps between work on a stream.", []string{"visits", "locations"},
			`SELECT location, rank, end_before AS start_ns, start_ns - end_before AS time_ns, region AS next
FROM (SELECT v.location, v.rank, v.region, v.start_ns, max(v.start_ns + v.time_ns) OVER
    (PARTITION BY v.location ORDER BY v.start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS end_before
  FROM locations l JOIN visits v ON v.location = l.location WHERE l.kind = 'gpu' AND v.depth = 0)
WHERE start_ns > end_before`,
			`SELECT location, sum(time_ns) FROM bubbles GROUP BY location`},
	}
}
