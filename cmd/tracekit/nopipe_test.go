//go:build !unix

package main

import "errors"

// makePipe says that there are no named pipes in folders.
func makePipe(string) error { return errors.ErrUnsupported }
