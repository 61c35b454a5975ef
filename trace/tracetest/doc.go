// Package tracetest is the text form of traces: for tests and golden files, and for people
// who look at them. It holds all of Info, of the definitions and of the events, but neither
// the findings nor the cut of the events into batches. Beside it stands what tests of several
// packages begin with: cases of testdata, further real traces, measuring what is alive.
//
// # Grammar
//
// A line is a definition, or if it is indented a list of events of the location above.
// Words are separated by blanks; # starts a comment; a text with other characters than
// letters, digits and _.:/- is quoted as in Go. Keys that are left out have the value 0,
// or "none" if they refer to something, or the one shown here; ref=…, the file's own
// identifier, is the number.
//
//	info format="…" version="…" creator="…" machine="…" description="…" path="…" traceid=0 bytes=0
//	property "key" value="…"
//	clock resolution=1000000000 offset=0 length=0 realtime=18446744073709551615
//	string 0 "text"                            # only to fix the order of the strings
//	node 0 NAME class=… parent=…               # of the system tree
//	process 0 NAME kind=1 node=… creator=…     # a location group
//	location 0 NAME rank=0                     # in short: makes the process, and MPI_COMM_WORLD
//	location 0 NAME process=0 kind=1 events=0 offsets=TIME:OFFSET:DEVIATION,…
//	region 0 NAME canonical=… description=… role=1 paradigm=4 flags=0 file=… line=10 end=20
//	group 0 NAME kind=4 paradigm=4 flags=0 members=0,1,none
//	comm 0 NAME group=0 remote=… parent=… flags=0 inter=1
//	comm 0 NAME ranks=0,2                      # in short: makes its group
//	comm 0 NAME ranks=0,1 others=2,3           # an intercommunicator
//	comm 0 NAME self                           # every rank alone with itself
//	site 0 file="a.c" line=12                  # a source location
//	context 0 region=0 site=0 parent=…         # a calling context
//	member 0 NAME description=… type=0 mode=0 value=4 base=0 exponent=0 unit=…
//	metric 0 members=0,1 occurrence=0 kind=0 class=… recorder=… scope=0 scoperef=0
//	attribute 0 NAME description=… type=4
//	opaque 0 format=… kind=0 bigendian=0 payload=HEX
//
// The number after the keyword may be left out; definitions of a kind are numbered in the
// order of their lines. Strings are written as text; $7 is the string with that number,
// by their first use in the list above if there are no string lines.
// Enumerations are OTF2's numbers. If there are ranks, but no groups or communicators other
// than short ones, MPI_COMM_WORLD is made: group 0 with the locations, group 1 with the
// ranks, communicator 0.
//
// Events are separated by ";". Times are integers. Regions and communicators are named by
// number or by name, communicators also without MPI_COMM_; a region that is not defined is
// made, with paradigm and role of an MPI function if the name is one.
//
//	TIME Enter REGION [context=0 unwind=0]     # also Leave, CallingContextEnter, …Leave
//	TIME Enter REGION @FILE:LINE               # in short: makes the calling context; its
//	                                           # Leave becomes a CallingContextLeave
//	TIME MpiSend to=1 tag=7 bytes=8            # also MpiIsend; from=… for receives;
//	                                           # comm=WORLD (else 0), req=… for requests
//	TIME MpiIsendComplete req=1                # also MpiIrecvRequest, MpiRequestTest, …Cancelled
//	TIME MpiCollectiveBegin
//	TIME MpiCollectiveEnd Allreduce comm=WORLD root=0 sent=8 received=8
//	TIME NonBlockingCollectiveRequest req=1
//	TIME NonBlockingCollectiveComplete Allreduce req=1 …
//	TIME Metric METRIC TYPE:VALUE …            # TYPE as in OTF2; double:1.5, uint64:7
//	TIME OTHER ARGUMENT …                      # any other kind, numbers only
//
// A root is a rank, none, self or thisgroup. Every event may end in attributes
// attr=ID:TYPE:VALUE.
package tracetest
