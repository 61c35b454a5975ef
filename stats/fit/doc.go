// Package fit fits distributions to the durations of communication calls and
// says where necessary time ends and overhead begins. It is opinionated: a law
// that the χ² test rejects gives no verdict, and the result says so.
//
// The method is that of M. Kluge, A. Knüpfer, W. E. Nagel, "Statistical Methods
// for Automatic Performance Bottleneck Detection in MPI Based Programs", ICCS
// 2005. For one key (operation, processes, bytes) a duration is
//
//	t = t_min + t_err,   t_min = min(S)
//
// and t_err is counted in classes [k·i, (k+1)·i) of a window i. The recipe:
//
//  1. [Sample] collects durations, exactly where it can, and merges.
//  2. [Fit] takes the sample (all of it, or its body below a robust cut). It
//     fits every [Family] by maximum likelihood on the classes and tests each
//     with a pooled χ². It chooses one or says that no model was accepted.
//  3. [Result].TMax is the quantile of the chosen law. [Overhead] of a call is
//     what exceeds it. [Result.PValue] asks whether too many calls exceed it,
//     [Anomalous] controls the false discoveries over many keys.
//  4. [Groups] makes samples of keys large enough to be fitted, each by itself;
//     [Profile] keeps their t_max over processes and bytes and interpolates.
//     [Stability] shows how t_max settles with the size of the sample.
//
// Durations are integer nanoseconds (any other integer tick works as well).
// No field of any result is ever NaN or infinite; each says what it holds where
// there is nothing to compute. Nothing here is random and nothing depends on the
// order in which durations come.
package fit
