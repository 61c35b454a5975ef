package cause

import (
	"fmt"
	"strings"

	"tracekit/document/field"
	"tracekit/trace"
)

// shortKernel is the mean time of kernels below which launching each costs more than it should, ns.
const shortKernel = 20_000

// fewNodes is the largest number of ranks whose nodes one looks at singly.
const fewNodes = 3

// What several causes advise.
const (
	lateHost  = "look at what the host does between launches: data loading, Python, other programs on its node."
	loadAhead = "load in the background: more DataLoader workers, prefetching"
)

// Advise sets Try: what practitioners do against a cause of this kind, where its evidence says that it applies. A comment at a case
// says when the advice would be wrong. Where ranks share cores, calls may be slow for that reason.
func (c *Cause) Advise(shareCores bool) {
	if c.Try = ""; !shareCores || c.Kind != Transfer && c.Kind != SlowCalls && c.Kind != Inefficient {
		c.Try = c.advice()
	}
}

func (c *Cause) advice() string {
	has := func(key string) bool { _, ok := c.Evidence[key]; return ok }
	switch c.Kind {
	case Imbalance:
		switch {
		case has("dp_rank") && c.Evidence["step"] > 0:
			return "look for what changed on this rank at that step: clock, temperature, other programs."
		case has("loading_ns") && has("worker_wait_ns"): // hosts communicate
			return loadAhead + "."
		case has("loading_ns"):
			return loadAhead + ", pinned memory."
		case has("random_steps") && !has("kernels_excess"):
			who := "this rank does"
			if has("slow_workers") {
				who = "these ranks do"
			}
			return "look for what " + who + " in these steps: files, garbage collection, other programs."
		case has("slow_workers") && !has("kernels_excess"):
			return "give these ranks less work; if the work is equal, check their devices and nodes."
		case c.Evidence["late_hosts"] > 0 && c.Evidence["late_hosts"] < c.Evidence["slow_workers"]:
			return "check devices and nodes of these ranks, and what their hosts do between launches."
		case has("slow_step"):
			return "look for what this rank did in that step: files, garbage collection, other programs."
		case has("kernels_excess"):
			return lateHost
		case has("dp_rank"):
			return "give this rank less work; if the work is equal, check its device and its node."
		case has("stage"):
			return "move layers from the last stage to others."
		case has("worker_wait_ns") || has("collective_wait_ns"):
			return "" // why a rank is late is not part of the evidence
		case c.Evidence["devices"] > 1:
			return "give these devices less work; if the work is equal, check their clocks and temperatures."
		case has("devices"), has("kernel_ns") && len(c.Ranks) == 1:
			return "give this device less work; if the work is equal, check its clock and temperature."
		case has("kernel_ns"):
			return "give these devices less work; if the work is equal, check their clocks and temperatures."
		case has("waits"): // wrong if iterations are so short that scheduling them costs more than it saves
			return "use schedule(dynamic) or schedule(guided) for loops of uneven work."
		case len(c.Ranks) > 0 && c.Evidence["mean_ns"] > 0 && c.Evidence["mean_of_others_ns"] > 0 &&
			c.Evidence["mean_ns"] > 1.05*c.Evidence["mean_of_others_ns"]:
			if c.Region == field.OutsideRegions {
				return "" // what is done there is not recorded
			}
			who, their := fmt.Sprintf("rank %d", c.Ranks[0]), "its node"
			if len(c.Ranks) > 1 {
				who, their = "these ranks", "their nodes"
			}
			if has("late_visits") {
				return fmt.Sprintf("look for what %s did then: other programs on %s, files, first use of memory.", who, their)
			}
			if c.Evidence["last_factor"] > c.Evidence["first_factor"] {
				return fmt.Sprintf("look for what grows on %s: data, memory, temperature; share the work anew from time to time.", who)
			}
			if gain := c.GainNs; has("shared_gain_ns") && gain != nil && 2*c.Evidence["shared_gain_ns"] < float64(*gain) {
				return fmt.Sprintf("speed this up on %s, or check %s. Moving the work to other ranks helps little.", who, their)
			}
			return fmt.Sprintf("move work from %s to others; if the work is equal, check %s.", who, their) // the node may be slow
		case len(c.Ranks) == 0: // noise and irregular work look the same
			return "look for noise (daemons, clock frequency) or irregular work; synchronize less often."
		}
		return "distribute the work of this region evenly over ranks."
	case LateSender:
		return "send as soon as the data are ready; synchronize less often."
	case LateReceiver: // wrong for messages so large that the receiver lacks the memory
		return "post receives early (MPI_Irecv before the computation)."
	case Serialization:
		if has("some_device_ns") {
			return "launch on every device before waiting for one."
		}
		return "distribute this work over ranks, or overlap it with other work."
	case Transfer, Inefficient:
		switch {
		case c.Kind == Inefficient && has("ranks_at_a_time"): // wrong if messages are so small that more of them cost more than they save
			return "send the data in smaller pieces, so that the next rank starts sooner."
		case c.Kind == Inefficient && (!has("transfer_efficiency") || c.Operation == ""):
			return ""
		case has("incomplete_collectives"):
			return "record all ranks."
		case has("exposed_ns") && strings.HasPrefix(string(c.Operation), "Mem"):
			switch name := string(c.Operation); {
			case strings.Contains(name, "Pinned"):
				return "copy on a stream of its own, while kernels compute on other data."
			case strings.Contains(name, "DtoD") || strings.Contains(name, "Device -> Device"):
				return "avoid copies on the device: work in place, or fuse them into kernels."
			}
			return "use pinned memory and asynchronous copies on a stream of their own."
		case has("exposed_ns"):
			return "start communication while kernels still compute (buckets, its own stream)."
		case trace.MPIFunctionOf(string(c.Operation)).Class == trace.ClassColl: // which collective is slow for its own sake is known, why is not
			return "use fewer collectives: combine small ones, or non-blocking ones behind computation."
		}
		return "send fewer and larger messages; overlap them with computation (MPI_Isend, MPI_Irecv)."
	case SlowCalls: // wrong if the calls themselves have more to do, which their sizes would show
		switch {
		case has("slow_from_ns"):
			return "look for what else used the network or nodes then: other jobs, file transfers, checkpoints."
		case has("most_bytes"): // wrong if the ranks that move less are slow, too
			return "distribute the data of this exchange evenly over ranks."
		case has("between_nodes"): // wrong if these messages take another way than comparable ones
			return "check the network link between these ranks: errors, speed, routes."
		}
		if has("most_share") || has("slow_messages") || len(c.Ranks) > 0 && len(c.Ranks) <= fewNodes {
			return "check nodes of the slowest ranks: other programs, core binding, network link."
		}
		return "bind ranks to cores; look for noise or contention that strikes all nodes."
	case WrongOrder:
		return "receive messages in the order of arrival (MPI_Waitany, MPI_Waitsome)."
	case SlowPhases: // they may have more to do, which is as it should be
		return "look for what the program does only then (output, checkpoints, first use of memory), or what else ran."
	case Startup:
		if c.Region == field.NotRecorded {
			return ""
		}
		return "measure a longer run, or skip startup with --from."
	case Measurement:
		switch {
		case c.Region == field.BufferFlush:
			return "enlarge the buffer of the recorder (Score-P: SCOREP_TOTAL_MEMORY)."
		case has("shortest_visit_ns"):
			return fmt.Sprintf("filter %s out of the measurement (Score-P: SCOREP_FILTERING_FILE).", c.Region)
		case has("without_launch") && !has("host_devices"): // XLA records no launches on devices that are threads of the host
			return "record CUDA or HIP runtime calls with their correlation."
		}
	case ThreadIdle:
		switch {
		case has("fork_join_ns"):
			return "merge short parallel regions, or use fewer threads for them."
		case has("lock_wait_ns"): // wrong if what is locked is all that there is to do
			return "shorten critical sections, or use reductions, atomics and data of each thread."
		case has("serial_ns") || has("serial_efficiency"):
			return "parallelize this work, or use fewer threads and more processes."
		}
	case DataLoading: // wrong if the file system is the limit: then more workers wait with it
		if has("loading_ns") { // no device waits
			return loadAhead + "."
		}
		return loadAhead + ", pinned memory."
	case DeviceIdle:
		switch {
		case has("host_bound_ns") && len(c.Ranks) > 0: // others launch in time
			return lateHost
		case has("code_loading_ns"):
			return "run each kernel once before what counts, or set CUDA_MODULE_LOADING=EAGER."
		case has("host_bound_ns") && has("longest_gap_ns"):
			return "look for what the host did then: compilation, files, allocation, garbage collection."
		case has("after_waits_ns"): // wrong if the host needs the result to know what to launch
			return "launch the next work before waiting; wait less often (synchronize, .item())."
		case has("host_bound_ns") && c.Evidence["mean_kernel_ns"] < shortKernel: // for many short kernels only
			return "launch less often: larger batches, fused kernels, CUDA or HIP graphs."
		case has("host_bound_ns"):
			return "launch the next work before the device has finished the last one."
		case has("mean_gap_ns") && max(c.Evidence["mean_gap_ns"], c.Evidence["longest_gap_ns"]) < shortKernel: // what a launch takes
			return "launch less often: fused kernels, CUDA or HIP graphs."
		case has("mean_gap_ns"):
			return "look for what its stream waits for: events, other streams, other programs on the device."
		case has("after_last_work_ns"):
			return "if this is no part of the program that you tune, leave it out with --to."
		}
	}
	return ""
}
