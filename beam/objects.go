package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob"
	_ "gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/gcsblob"
	_ "gocloud.dev/blob/s3blob"
	"gocloud.dev/gcerrors"

	"tracekit/engine"
	"tracekit/readers"
	"tracekit/tempfile"
)

// The objects are what one process has of object stores: a mirror (see readers.InMirror) of what it has
// fetched and of what it will put there. Objects are named by their addresses; what stands behind
// the question mark of one that is given, the options of its bucket, holds for all objects of
// the bucket. What is no address names a file, which is neither fetched nor put.
type objects struct {
	dir     string // the mirror
	own     bool   // it goes with the objects
	options map[string]string
	fetched atomic.Int64 // bytes

	mu      sync.Mutex
	buckets map[string]*blob.Bucket
	sizes   map[string]int64 // of the objects that were listed
}

// transfers is how many objects a process fetches or puts at a time: it mostly waits meanwhile.
const transfers = 16

// newObjects makes objects with a mirror that is there, or with one of their own if dir is "".
func newObjects(dir string) (x *objects, err error) {
	x = &objects{dir: dir, options: make(map[string]string), buckets: make(map[string]*blob.Bucket), sizes: make(map[string]int64)}
	if dir == "" {
		x.own = true
		x.dir, err = os.MkdirTemp("", "tracekit-*")
	}
	return x, err
}

// Close removes a mirror of the objects' own.
func (x *objects) Close() (err error) {
	for _, b := range x.buckets {
		err = errors.Join(err, b.Close())
	}
	if x.own {
		err = errors.Join(err, os.RemoveAll(x.dir))
	}
	return err
}

// name returns the name of what is given with or without options, and keeps these.
func (x *objects) name(given string) (string, error) {
	name, options, some := strings.Cut(given, "?")
	if !strings.Contains(name, "://") {
		return given, nil
	}
	name = strings.TrimRight(name, "/")
	root, key := split(name)
	if !readers.IsAddress(name) || key == "" || strings.HasSuffix(root, ":///") && root != "file:///" || path.Clean("/"+key) != "/"+key {
		return "", fmt.Errorf("%s: want scheme://bucket/key, and no part of the key empty or made of dots", given)
	}
	if some {
		x.options[root] = options
	}
	return name, nil
}

// given returns a name with the options of its bucket.
func (x *objects) given(name string) string {
	if !readers.IsAddress(name) {
		return name
	}
	root, _ := split(name)
	if x.options[root] == "" {
		return name
	}
	return name + "?" + x.options[root]
}

// names returns the names of all that is given.
func (x *objects) names(given []string) (names []string, err error) {
	for _, g := range given {
		name, err := x.name(g)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// split splits an address into what the addresses of all objects of a bucket begin with, and the key
// of the object. Files that have addresses lie in one bucket.
func split(name string) (root, key string) {
	scheme, rest, _ := strings.Cut(name, "://")
	bucket, key, _ := strings.Cut(rest, "/")
	return scheme + "://" + bucket + "/", key
}

// local returns the path of what has a name.
func (x *objects) local(name string) string { return readers.InMirror(x.dir, name) }

// bucket returns the bucket of an object, and its key there.
func (x *objects) bucket(ctx context.Context, name string) (*blob.Bucket, string, error) {
	root, key := split(name)
	x.mu.Lock()
	defer x.mu.Unlock()
	if b := x.buckets[root]; b != nil {
		return b, key, nil
	}
	url, options := strings.TrimSuffix(root, "/")+"?", x.options[root]
	if root == "file:///" {
		// Nothing but the object is to be made, and that in one step.
		url = root + "?metadata=skip&no_tmp_dir=true&"
	}
	b, err := blob.OpenBucket(ctx, url+options)
	if err != nil {
		return nil, "", failed("opening the bucket of", name, err)
	}
	x.buckets[root] = b
	return b, key, nil
}

// failed says what could not be done with an object, and what may help.
func failed(doing, name string, err error) error {
	scheme, _, _ := strings.Cut(name, "://")
	help := map[string]string{
		"s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or a profile; AWS_REGION or ?region=…; for a store that is not Amazon's " +
			"?endpoint=…&use_path_style=true",
		"gs":     "GOOGLE_APPLICATION_CREDENTIALS",
		"azblob": "AZURE_STORAGE_ACCOUNT, and AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or a login",
	}[scheme]
	if help != "" && gcerrors.Code(err) != gcerrors.NotFound {
		return fmt.Errorf("%s %s: %w (every machine needs the store's address and leave to use it: %s)", doing, name, err, help)
	}
	return fmt.Errorf("%s %s: %w", doing, name, err)
}

// list returns the names of the objects whose addresses begin with a prefix, and notes their sizes. Objects
// whose keys cannot be those of files are passed over.
func (x *objects) list(ctx context.Context, prefix string) (names []string, err error) {
	b, key, err := x.bucket(ctx, prefix)
	if err != nil {
		return nil, err
	}
	root, _ := split(prefix)
	for it := b.List(&blob.ListOptions{Prefix: key}); ; {
		o, err := it.Next(ctx)
		if err == io.EOF {
			return names, nil
		}
		if err != nil {
			return nil, failed("listing", prefix, err)
		}
		if path.Clean("/"+o.Key) == "/"+o.Key && filepath.IsLocal(o.Key) {
			names = append(names, root+o.Key)
			x.note(root+o.Key, o.Size)
		}
	}
}

// each does something with objects, several at a time.
func each(ctx context.Context, names []string, do func(ctx context.Context, name string) error) error {
	_, err := engine.Map(ctx, transfers, len(names), func(ctx context.Context, i int) (struct{}, error) {
		return struct{}{},
			do(ctx, names[i])
	})
	return err
}

// get fetches an object into the mirror, complete or not at all.
func (x *objects) get(ctx context.Context, name string) error {
	if !readers.IsAddress(name) {
		return nil
	}
	b, key, err := x.bucket(ctx, name)
	if err != nil {
		return err
	}
	f, err := x.create(name)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once the file has its name
	n, err := download(ctx, b, key, f)
	x.fetched.Add(n)
	if size, listed := x.sizeOf(name); err == nil && listed && size != n {
		err = fmt.Errorf("it has %d bytes, but had %d when it was listed: it is still being written", n, size)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return failed("fetching", name, err)
	}
	return os.Rename(f.Name(), x.local(name))
}

func download(ctx context.Context, b *blob.Bucket, key string, w io.Writer) (int64, error) {
	r, err := b.NewReader(ctx, key, nil)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(w, r)
	return n, errors.Join(err, r.Close())
}

// note notes the size of an object.
func (x *objects) note(name string, size int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sizes[name] = size
}

// sizeOf returns the size that was noted.
func (x *objects) sizeOf(name string) (size int64, listed bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	size, listed = x.sizes[name]
	return size, listed
}

// create makes a file in the mirror that is to be that of an object.
func (x *objects) create(name string) (*os.File, error) {
	file := x.local(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return nil, err
	}
	return tempfile.Create(file)
}

// hole makes a file of the size of an object, with nothing in it.
func (x *objects) hole(_ context.Context, name string) error {
	f, err := x.create(name)
	if err != nil {
		return err
	}
	size, _ := x.sizeOf(name)
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return os.Rename(f.Name(), x.local(name))
}

// put puts a file of the mirror into its store, complete or not at all.
func (x *objects) put(ctx context.Context, name string) error {
	if !readers.IsAddress(name) {
		return nil
	}
	b, key, err := x.bucket(ctx, name)
	if err != nil {
		return err
	}
	f, err := os.Open(x.local(name))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := b.Upload(ctx, key, f, &blob.WriterOptions{ContentType: "application/octet-stream"}); err != nil {
		return failed("writing", name, err)
	}
	return nil
}

// below returns the names of what lies in the mirror below what has a name, which may be a file, too.
func (x *objects) below(name string) (names []string, err error) {
	root := x.local(name)
	err = filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, name+filepath.ToSlash(strings.TrimPrefix(file, root)))
		}
		return err
	})
	return names, err
}

// remove removes objects; that there is none of a name is no error.
func (x *objects) remove(ctx context.Context, names []string) error {
	return each(ctx, names, func(ctx context.Context, name string) error {
		b, key, err := x.bucket(ctx, name)
		if err != nil {
			return err
		}
		if err := b.Delete(ctx, key); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return failed("removing", name, err)
		}
		return nil
	})
}

// removal is how long removing what is left may take.
const removal = time.Minute

// atLast returns a context for removing what is left, even if that of the work has ended.
func atLast(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), removal)
}

// removeBelow removes all objects below a name, at last.
func (x *objects) removeBelow(ctx context.Context, name string) error {
	ctx, stop := atLast(ctx)
	defer stop()
	names, err := x.list(ctx, name+"/")
	return errors.Join(err, x.remove(ctx, names))
}
