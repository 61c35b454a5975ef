// Package xplane reads one of the formats of package readers: XLA's profiles (*.xplane.pb), as JAX,
// TensorFlow and PyTorch/XLA write them, one file a host. The files of a directory are one run.
//
// A file is a message XSpace of planes, a plane has lines, a line has events; names stand in tables of their plane, which
// come behind the lines. So each plane is gone through twice, in a file that is mapped into memory. Numbers of fields are those
// of the public definition (tsl/profiler/protobuf/xplane.proto).
//
//	/host:CPU            process of the host; its lines are threads
//	device_ordinal and hlo_op
//	                     on a thread: what it executes as a device, "CPU N"; Rendezvous in it says what it communicates, and with
//	                     whom. Devices are ranks, if they do and there is one file
//	/device:GPU:N, /device:TPU:N
//	                     device N of that process
//	Stream #N(Kernel)    stream N; what copies, sets and computes on one stream is one location
//	XLA Ops              the same, where a plane has no streams; "Async XLA Ops" likewise
//	while, conditional, call
//	                     operations that consist of others of that line: left out, counted as redundant_record
//	copy-start, copy-done, …
//	                     copies
//	XLA Modules, Steps, Framework …
//	                     repeat the work: left out, counted as redundant_record
//	other planes         left out, counted as unknown_record
//	event                slice, by the name that the plane's table has for people
//	$file.py:line f      function f of Python, with file and line
//	step_num             the event is the step of training "ProfilerStep#N", as PyTorch calls it
//	correlation_id       the attribute correlation of calls of the runtime and of what they launch
//	_pt and _p, _ct and _c
//	                     the ends of a flow: of what produces, of what consumes
//	hlo_op               the attribute hlo_op; a collective, if it is named as one
//	size in memcpy_details, bytes_accessed
//	                     the attribute bytes
//	number of occurrences
//	                     sums without times: left out, counted as unknown_record
//
// Times are picoseconds since the time of their line, and are rounded down to nanoseconds. The lines
// count from 1970, or from the begin of the profile, which the plane "Task Environment" tells.
package xplane
