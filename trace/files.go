package trace

import (
	"fmt"
	"path/filepath"
	"strings"
)

// FilesPath returns what a trace of some files is called by: of one its path; of several in one folder that of the first, and how many more
// there are; of files in several folders the folder that has them all, and how many there are. The files are not none.
func FilesPath(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	first := filepath.Dir(paths[0])
	common := first
	for _, p := range paths[1:] {
		for dir := filepath.Dir(p); common != dir && !strings.HasPrefix(dir, common+string(filepath.Separator)); {
			up := filepath.Dir(common)
			if up == common || up == "." {
				return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
			}
			common = up
		}
	}
	if common == first {
		return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
	}
	return fmt.Sprintf("%s (%d files)", common, len(paths))
}
