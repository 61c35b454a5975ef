// Package palette gives regions, kernels and waits their colors, the same on pictures and on the page.
//
// A color depends on what a region does (its [Class]) and on its name, never on the order or the time of regions: a program looks the
// same in each run. A class has shades, and a name always the same one. The rules that the colors keep, for normal and for
// color-blind vision, are stated by this package's test:
//
//   - Classes that can lie side by side are at least 0.08 apart in OKLab.
//   - Each shade is nearer to the first shade of its class than to that of any other class.
//   - Each color has a contrast of 3:1 with the ground (WCAG 2.1, 1.4.11).
package palette
