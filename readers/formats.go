package readers

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"tracekit/formulae/tkf"
	"tracekit/readers/arrowdir"
	"tracekit/readers/internal/recording"
	"tracekit/readers/jsontrace"
	"tracekit/readers/nsight"
	"tracekit/readers/otf2"
	"tracekit/readers/paraver"
	"tracekit/readers/perfetto"
	"tracekit/readers/rocpd"
	"tracekit/readers/spans"
	"tracekit/readers/xplane"
	"tracekit/trace"
)

// A format is a way in which traces are stored. All that this package knows of it is its
// row in formats.
type format struct {
	name       string   // in trace.Info, and of what Create writes
	label      string   // the name as people write it
	extensions []string // of the names that stand for it
	gzipped    bool     // also with .gz behind them
	companions []string // of further files of a trace, which are not what is opened
	anchored   bool     // a name with an extension is that of a file, which is made with the directory around it
	phrase     string   // what a message calls such a trace
	recorded   string   // what the help calls those of other programs; "" if none writes them

	// sniff reports whether a path is such a trace, sound or not; head is how its file
	// begins, nil for a directory. It is nil where another row opens this format too.
	sniff func(path string, head []byte) bool

	// open opens the files of one trace: a single one unless parts.
	open  func(ctx context.Context, paths []string, o OpenOptions) (trace.Source, error)
	parts bool // a trace may lie in several files

	// within returns the files of a trace that a directory is. It is nil if the names of files tell the format: files
	// of two formats that have it do not form one trace.
	within func(dir string) []string

	// files returns, of files that are there, those of the trace that a path stands for, if it
	// stands for one of this format. It is nil if what is opened is all that there is.
	files func(path string, there []string) Files

	// foreign tells a format in which other programs look for one time of each event and
	// for event types that they know: it is plain or not, and measured clock offsets that
	// lie beside the times are lost on them.
	foreign bool

	// unjoined reports whether parts of such a trace lie in a directory, to be joined or not. It
	// is nil if the format is not written in parts.
	unjoined func(dir string) bool

	// create begins a trace; nil if the format is not written event by event.
	create func(path string, info trace.Info, defs *trace.Defs, o CreateOptions) (Writer, error)
}

// formats are all formats, in the order in which they are tried. A name without an extension
// stands for the first one.
var formats = []format{
	{
		name: otf2.Format, label: "OTF2", extensions: []string{".otf2"}, companions: []string{".def", ".evt", ".snap", ".marker", ".thumb"},
		anchored: true,
		phrase:   "an OTF2 archive (its .otf2 file or its directory)", recorded: "an OTF2 archive of Score-P",
		sniff: otf2.Sniff,
		files: func(path string, there []string) (f Files) {
			f.Opened, f.Events = otf2.FilesOf(path, there)
			return f
		},
		open: func(ctx context.Context, paths []string, o OpenOptions) (trace.Source, error) {
			return watched(otf2.Open(ctx, paths[0], o.Jobs))
		},
		create: func(path string, info trace.Info, defs *trace.Defs, o CreateOptions) (Writer, error) {
			return writer(otf2.Create(path, info, defs, otf2.Options{Force: o.Force}))
		},
	},
	{
		name: paraver.Format, label: "Paraver", extensions: []string{".prv"}, gzipped: true, companions: []string{".pcf", ".row"},
		phrase: "a Paraver .prv file", recorded: "a Paraver trace of Extrae",
		sniff: func(_ string, head []byte) bool { return paraver.IsTrace(head) },
		files: func(path string, there []string) Files { return Files{Opened: paraver.FilesOf(path, there)} },
		open: func(ctx context.Context, paths []string, o OpenOptions) (trace.Source, error) {
			return source(paraver.Open(ctx, paths[0], paraver.Options{Jobs: o.Jobs, Store: o.Store}))
		},
		foreign: true,
		create: func(path string, info trace.Info, defs *trace.Defs, o CreateOptions) (Writer, error) {
			return writer(paraver.Create(path, info, defs, paraver.CreateOptions{Plain: o.Plain, Force: o.Force, Jobs: o.Jobs,
				Store: o.Store, Context: o.Context}))
		},
	},
	{
		name: xplane.Format, label: "XPlane", extensions: []string{".pb"},
		phrase: "an .xplane.pb file of XLA", recorded: "a profile of XLA (JAX, TensorFlow)",
		sniff: xplane.Sniff,
		files: func(path string, there []string) Files { return Files{Opened: xplane.FilesOf(path, there)} },
		open: func(ctx context.Context, paths []string, o OpenOptions) (trace.Source, error) {
			return source(xplane.Open(ctx, paths, o.recording()))
		},
		parts: true,
	},
	{
		name: perfetto.Format, label: "Perfetto", extensions: []string{".pftrace", ".perfetto-trace", ".proto"}, gzipped: true,
		phrase: "a .pftrace file of Perfetto", recorded: "a trace of Perfetto",
		sniff: perfetto.Sniff,
		files: func(path string, there []string) Files { return Files{Opened: perfetto.FilesOf(path, there)} },
		open: func(ctx context.Context, paths []string, o OpenOptions) (trace.Source, error) {
			return source(perfetto.Open(ctx, paths, o.recording()))
		},
		parts: true,
	},
	{
		name: rocpd.JSONFormat, label: "rocprofv3 JSON",
		phrase: "a JSON file of rocprofv3",
		sniff:  rocpd.SniffJSON,
		open: func(ctx context.Context, paths []string, o OpenOptions) (trace.Source, error) {
			return source(rocpd.OpenJSON(ctx, paths, o.recording()))
		},
		parts:  true,
		within: rocpd.JSONIn,
	},
	{
		name: jsontrace.Format, label: "JSON", extensions: []string{".json"}, gzipped: true,
		phrase: "a JSON file of Chrome trace events", recorded: "a JSON trace of Chrome's format, PyTorch or dftracer",
		sniff: jsontrace.Sniff,
		open: func(ctx context.Context, paths []string, o OpenOptions) (trace.Source, error) {
			opts := jsontrace.Options{Jobs: o.Jobs, Store: o.Store}
			if o.AlignStart {
				opts.Align = jsontrace.AlignStart
			}
			return source(jsontrace.Open(ctx, jsontrace.Files(paths...), opts))
		},
		parts:  true,
		within: func(dir string) []string { return jsontrace.Files(dir) },
		create: func(path string, info trace.Info, defs *trace.Defs, o CreateOptions) (Writer, error) {
			return writer(jsontrace.Create(path, info, defs, jsontrace.WriteOptions{Force: o.Force, Jobs: o.Jobs}))
		},
	},
	{
		name: nsight.Format, label: "Nsight Systems", extensions: []string{".sqlite"},
		phrase: "an .sqlite file that Nsight Systems exported", recorded: "an SQLite export of Nsight Systems",
		sniff: nsight.Sniff,
		files: func(path string, there []string) Files { return Files{Opened: nsight.FilesOf(path, there)} },
		open: func(ctx context.Context, paths []string, o OpenOptions) (trace.Source, error) {
			return source(nsight.Open(ctx, paths, o.recording()))
		},
		parts: true,
	},
	{
		name: rocpd.Format, label: "rocpd", extensions: []string{".db"},
		phrase: "a .db file of rocprofv3 or rocprofiler-systems", recorded: "a rocpd database of rocprofv3 or rocprofiler-systems",
		sniff: rocpd.Sniff,
		files: func(path string, there []string) Files { return Files{Opened: rocpd.FilesOf(path, there)} },
		open: func(ctx context.Context, paths []string, o OpenOptions) (trace.Source, error) {
			return source(rocpd.Open(ctx, paths, o.recording()))
		},
		parts: true,
	},
	{
		name: spans.Format, label: "spans",
		phrase: "a table of spans in Parquet, Arrow or CSV", recorded: "a table of spans in Parquet, Arrow IPC or CSV",
		sniff: spans.Sniff,
		open: func(ctx context.Context, paths []string, o OpenOptions) (trace.Source, error) {
			return source(spans.Open(ctx, spans.Files(paths...), spans.Options{Options: o.recording(), Columns: o.Columns, Unit: o.Unit,
				Job: o.Job}))
		},
		parts:  true,
		within: func(dir string) []string { return spans.Files(dir) },
	},
	{
		name: string(arrowdir.Arrow), label: "Arrow", extensions: []string{".arrow"},
		phrase: "a directory of Arrow or Parquet tables that 'tracekit convert' wrote",
		sniff:  func(path string, _ []byte) bool { return arrowdir.IsDir(path) },
		files:  func(path string, there []string) Files { return Files{Opened: arrowdir.FilesOf(path, there)} },
		open: func(ctx context.Context, paths []string, _ OpenOptions) (trace.Source, error) {
			return watched(arrowdir.Open(ctx, paths[0]))
		},
		unjoined: arrowdir.HasParts,
		create: func(path string, info trace.Info, defs *trace.Defs, o CreateOptions) (Writer, error) {
			return writer(arrowdir.Create(path, info, defs, arrowdir.Options{Format: arrowdir.Arrow, Force: o.Force, Jobs: o.Jobs}))
		},
	},
	{
		name: string(arrowdir.Parquet), label: "Parquet", extensions: []string{".parquet"}, unjoined: arrowdir.HasParts,
		create: func(path string, info trace.Info, defs *trace.Defs, o CreateOptions) (Writer, error) {
			return writer(arrowdir.Create(path, info, defs, arrowdir.Options{Format: arrowdir.Parquet, Force: o.Force, Jobs: o.Jobs}))
		},
	},
	{
		name: tkf.Format, label: ".tkf", extensions: []string{".tkf"},
		phrase: "a .tkf file of 'tracekit compress'",
		sniff:  func(_ string, head []byte) bool { return tkf.Is(head) },
		open: func(_ context.Context, paths []string, o OpenOptions) (trace.Source, error) {
			return tkf.Open(paths[0], o.Jobs, o.Store)
		},
	},
}

// recording are the options for what recorders of accelerators write.
func (o OpenOptions) recording() recording.Options {
	return recording.Options{Jobs: o.Jobs, Store: o.Store, AlignStart: o.AlignStart}
}

// source makes an interface of what a format's Open returns, nil with an error.
func source[S trace.Source](s S, err error) (trace.Source, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// watched is source for a format whose files are read again in each pass.
func watched[S trace.Source](s S, err error) (trace.Source, error) {
	if err != nil {
		return nil, err
	}
	return watchPasses(s), nil
}

// writer makes an interface of what a format's Create returns, nil with an error.
func writer[W Writer](w W, err error) (Writer, error) {
	if err != nil {
		return nil, err
	}
	return w, nil
}

// Formats returns the names of the formats that Create writes.
func Formats() []string { return names(func(f format) bool { return f.create != nil }) }

// PartFormats returns the names of the formats of which a trace may be written in parts.
func PartFormats() []string { return names(func(f format) bool { return f.unjoined != nil }) }

// names returns the names of some formats.
func names(which func(format) bool) (names []string) {
	for _, f := range formats {
		if which(f) {
			names = append(names, f.name)
		}
	}
	return names
}

// rowOf returns the row of a format, one that can do nothing if there is none of the name.
func rowOf(name string) format {
	if i := slices.IndexFunc(formats, func(f format) bool { return f.name == name }); i >= 0 {
		return formats[i]
	}
	return format{label: name}
}

// WrittenBy names a format and the program that wrote the trace, if that is known.
func WrittenBy(format, creator string) string {
	switch label := Label(format); {
	case creator == "":
		return label
	case strings.HasPrefix(creator, label): // "Nsight Systems 2026.1"
		return creator
	default:
		return label + " by " + creator
	}
}

// Label returns how people write the name of a format.
func Label(name string) string { return rowOf(name).label }

// Foreign reports whether a format is written for other programs in the first place, which
// look for one time of each event: measured clock offsets beside it are lost on them.
// CreateOptions.Plain is for such formats.
func Foreign(name string) bool { return rowOf(name).foreign }

// FormatOf returns the name of the format that the name of a file or directory stands for. The extension tells it; behind that of some
// formats .gz may stand. Without an extension a name is that of a directory for an OTF2 archive; "" is for any other extension. What does
// not begin with a letter, as in run-1.5, is none.
func FormatOf(path string) string {
	extension := filepath.Ext(strings.ToLower(path))
	if f := formatNamed(path); f != nil && (f.gzipped || extension != ".gz") {
		return f.name
	}
	if len(extension) < 2 || extension[1] < 'a' || extension[1] > 'z' {
		return formats[0].name
	}
	return ""
}

// Extensions lists for a message how names end that stand for formats which Create writes.
func Extensions() string {
	var out []string
	for _, f := range formats {
		for _, e := range f.extensions {
			if f.create == nil {
				continue
			}
			out = append(out, e)
			if f.gzipped {
				out = append(out, e+".gz")
			}
		}
	}
	return strings.Join(out, ", ")
}

// IsTraceName reports whether the extension of a name stands for a format, compressed or not.
func IsTraceName(path string) bool { return formatNamed(path) != nil }

// IsAnchor reports whether a name is that of a file which is made with the directory around it, and
// stands for what is in there.
func IsAnchor(path string) bool {
	return slices.ContainsFunc(formats, func(f format) bool { return f.anchored && slices.Contains(f.extensions, filepath.Ext(path)) })
}

// formatNamed returns the format that the extension of a name stands for, compressed or not,
// nil if it is none.
func formatNamed(path string) *format {
	extension := filepath.Ext(strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".gz"))
	i := slices.IndexFunc(formats, func(f format) bool { return slices.Contains(f.extensions, extension) })
	if i < 0 {
		return nil
	}
	return &formats[i]
}

// Known lists for people what can be opened.
func Known() []string { return texts(func(f format) string { return f.phrase }) }

// Recorded lists for people what other programs record that can be opened.
func Recorded() []string { return texts(func(f format) string { return f.recorded }) }

// texts returns a text of those formats that have one.
func texts(of func(format) string) (texts []string) {
	for _, f := range formats {
		if text := of(f); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}
