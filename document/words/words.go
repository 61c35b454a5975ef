package words

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"strings"

	"tracekit/document/field"
)

// TraceName is a short name for a trace: the last part of its path that says something, of several files that of their directory.
func TraceName(p string) string {
	dir, name := path.Split(filepath.ToSlash(p))
	if folder, count, several := strings.Cut(name, " ("); several && strings.HasSuffix(count, " files)") { // see trace.FilesPath
		return folder + ", " + strings.TrimSuffix(count, ")")
	}
	if dir = path.Base(dir); dir == "." || dir == "/" {
		return name
	}
	if name == "traces.otf2" {
		return dir
	}
	if at := strings.LastIndex(name, " and "); at > 0 {
		var others int
		if _, err := fmt.Sscanf(name[at:], " and %d more", &others); err == nil {
			return fmt.Sprintf("%s, %d files", dir, others+1)
		}
	}
	return name
}

// Time returns a time in ns with the unit that people read, three digits.
func Time(ns int64) string {
	return formatScaled(float64(ns), []scale{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}, {3600e9, "h"}})
}

// TimeOrDash returns a time in ns, a dash if it is not known.
func TimeOrDash(ns *int64) string {
	if ns == nil {
		return "-"
	}
	return Time(*ns)
}

// Bytes returns a number of bytes with a binary unit.
func Bytes(n uint64) string {
	return formatScaled(float64(n), []scale{{1, "B"}, {1 << 10, "KiB"}, {1 << 20, "MiB"}, {1 << 30, "GiB"}, {1 << 40, "TiB"}})
}

type scale struct {
	factor float64
	unit   string
}

func formatScaled(v float64, scales []scale) string {
	s := scales[0]
	for _, c := range scales[1:] {
		// 999.5 of the smaller unit would print as 1000.
		if math.Abs(v) >= 0.9995*c.factor {
			s = c
		}
	}
	x := v / s.factor
	switch a := math.Abs(x); {
	case s.factor == 1:
		return fmt.Sprintf("%.0f %s", x, s.unit)
	case a >= 99.95:
		return fmt.Sprintf("%.0f %s", x, s.unit)
	case a >= 9.995:
		return fmt.Sprintf("%.1f %s", x, s.unit)
	}
	return fmt.Sprintf("%.2f %s", x, s.unit)
}

// Place names a source line: region (file:line), as far as that is known. A plus behind the
// region says that the line is the one where that begins.
func Place(s field.SourceLine) string {
	region, at := string(s.Region), string(s.File)
	if at != "" && s.Line != 0 {
		at = fmt.Sprintf("%s:%d", at, s.Line)
	}
	if s.LineOf == field.LineOfRegion {
		region += "+"
	}
	switch {
	case region == "" && at == "":
		return "(unknown)"
	case at == "":
		return region
	case region == "":
		return at
	}
	return region + " (" + at + ")"
}

// WithoutBrackets replaces what stands in the outermost pairs of brackets, those of
// templates, parameters and remarks; an empty replacement takes the brackets away as well,
// but not those with which a name begins.
func WithoutBrackets(name, replacement string) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		end := closingBracket(name, i)
		if end < 0 || end == i+1 || i == 0 && end == len(name)-1 { // else nothing remained of <built-in method run>
			b.WriteByte(name[i])
			i++
			continue
		}
		if replacement != "" || i == 0 {
			b.WriteString(name[i:i+1] + "…" + name[end:end+1])
		}
		i = end + 1
	}
	return strings.TrimRight(b.String(), " ")
}

// closingBracket returns where the bracket at i is closed, -1 if none begins there or it is not.
func closingBracket(name string, i int) int {
	const open, closed = "(<[", ")>]"
	kind := strings.IndexByte(open, name[i])
	if kind < 0 {
		return -1
	}
	depth := 0
	for k := i; k < len(name); k++ {
		switch name[k] {
		case open[kind]:
			depth++
		case closed[kind]:
			if depth--; depth == 0 {
				return k
			}
		}
	}
	return -1
}

// OrNotRecorded returns a text, or that there is none.
func OrNotRecorded(s string) string { return cmp.Or(s, "(not recorded)") }

// Sentence names a place within a sentence, which says "in" of what a table marks: without folders, and with the end of a long name.
func Sentence(s field.SourceLine) string {
	if s.Region == field.OutsideRegions {
		return "code outside recorded functions"
	}
	s.LineOf = ""
	s.File = field.Name(path.Base(string(s.File)))
	if s.File == "." || strings.Contains(string(s.Region), fmt.Sprintf("%s:%d", s.File, s.Line)) {
		s.File, s.Line = "", 0
	}
	s.Region = field.Name(Brief(string(s.Region)))
	return Place(s)
}

// readable is how many letters of a name a sentence bears.
const readable = 64

// Brief makes a name fit into a sentence: without its type, what stands in brackets and, as far as needed, its begin.
func Brief(name string) string {
	if len(name) <= readable {
		return name
	}
	name = WithoutBrackets(strings.TrimPrefix(name, "void "), "…")
	if r := []rune(name); len(r) > readable {
		name = "…" + string(r[len(r)-readable:])
	}
	return name
}

// Call names an operation and, if that is known, from where it is called.
func Call(operation string, s field.SourceLine) string {
	switch {
	case s.Region == "" && s.File == "":
		return operation
	case operation == string(s.Region):
		return Sentence(s)
	case s.Region == "":
		return operation + " at " + Sentence(s)
	}
	return operation + " in " + Sentence(s)
}

// Capital makes the first letter of a text large.
func Capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// List joins words: "a", "a, b and c".
func List(words []string) string {
	text := strings.Join(words, ", ")
	if n := len(words) - 1; n > 0 {
		text = strings.Join(words[:n], ", ") + " and " + words[n]
	}
	return text
}

// Ranks names ranks, ascending: "rank 3", "ranks 0, 4 to 7 and 12".
func Ranks(ranks []uint32) string {
	var parts []string
	for i := 0; i < len(ranks); {
		k := i
		for k+1 < len(ranks) && ranks[k+1] == ranks[k]+1 {
			k++
		}
		switch {
		case k == i:
			parts = append(parts, fmt.Sprint(ranks[i]))
		case k == i+1:
			parts = append(parts, fmt.Sprint(ranks[i]), fmt.Sprint(ranks[k]))
		default:
			parts = append(parts, fmt.Sprintf("%d to %d", ranks[i], ranks[k]))
		}
		i = k + 1
	}
	if len(ranks) == 1 {
		return "rank " + parts[0]
	}
	return "ranks " + List(parts)
}
