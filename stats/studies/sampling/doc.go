// Package sampling says what message sampling would have seen of a run (DEFINITIONS 1.2;
// J. S. Vetter, "Dynamic Statistical Profiling of Communication Activity in Distributed
// Applications", SIGMETRICS 2002), how wrong that would have been, and what it would have cost:
// the whole truth is at hand.
//
// # Terminology
//
//   - The population is the matched point-to-point messages of the selected part. A rank decides
//     at each send, in the order of posting, whether to sample; what is sent and never received
//     takes its turn, but nothing is learned of it.
//   - Latency: from the start of the call that sends to the end of the call that completes the
//     receive.
//   - A category is the messages of one tuple (sender, receiver, send site, receive site, size).
//     A site is an operation at a source line; that of the receive is the call that completes it.
//
// # Estimates
//
// Random sampling has a known probability of inclusion, so that Horvitz–Thompson estimates are
// unbiased and come with intervals. Counters know how many messages a rank has sent: the
// intervals that they have drawn, and the rest. Each sample stands for an equal part of these.
// For timers there is no probability of inclusion. They are taken the same way, naively: what
// that is off is their bias.
//
// # How it is made
//
// One pass over the sends of all ranks, which advance together through windows of the run: the rows of their partners lie beside each other
// there; all configurations decide on each message. What a sender has sampled depends on its own stream of random numbers alone and is
// added up by sender: so neither goroutines nor the order of configurations change anything.
package sampling
