// Package scaling says how a program scales, from the results of several runs of it: the efficiencies and scalabilities of BSC's
// modelfactors side by side (DEFINITIONS 2.13). Every place has a model of how its time grows with the number of processes, in the
// performance model normal form of Extra-P (A. Calotoiu, T. Hoefler, M. Poke, F. Wolf, "Using automated performance modeling to find
// scalability bugs in complex codes", SC 2013).
//
// It takes analyses as package stats makes them and knows neither traces nor formats.
package scaling
