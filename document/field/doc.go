// Package field has what rows of documents name: ranks, source lines, call paths and places in files.
// What is not known is null in JSON.
package field
