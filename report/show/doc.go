// Package show prints the documents of the commands other than analyze for people.
package show
