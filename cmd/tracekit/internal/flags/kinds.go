package flags

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/stats/scope"
)

const (
	wantWhole  = "a whole number"
	wantNumber = "a number"
	wantTime   = "a time such as 1us"
)

// Parsed takes what a function reads. Its errors follow the flag and its value in a message. No files complete it.
func Parsed[T any](parse func(text string) (T, error)) Kind[T] {
	return Kind[T]{"string", func(_ T, text string) (T, error) { return parse(text) }, cobra.NoFileCompletions}
}

// Text takes any text that is no name of a file.
func Text() Kind[string] {
	return Parsed(func(text string) (string, error) { return text, nil })
}

// Offering takes the same values, and offers these for completion; one that ends in = is to be typed on.
func (k Kind[T]) Offering(values ...string) Kind[T] {
	k.complete = cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	return k
}

// Repeated takes a value each time that the flag is given.
func Repeated[T any](of Kind[T]) Kind[[]T] {
	return Kind[[]T]{"stringArray", func(old []T, text string) ([]T, error) {
		x, err := of.read(*new(T), text)
		return append(old, x), err
	}, of.complete}
}

// List takes values with commas between them, and more each time that the flag is given. An empty text is none.
func List[T any](of Kind[T]) Kind[[]T] {
	return Kind[[]T]{"stringArray", func(old []T, text string) ([]T, error) {
		if text == "" {
			return old, nil
		}
		for part := range strings.SplitSeq(text, ",") {
			x, err := of.read(*new(T), part)
			if err != nil {
				return old, err
			}
			old = append(old, x)
		}
		return old, nil
	}, of.complete}
}

// Choice takes one of a few values, as fmt writes them, and offers them in this order.
func Choice[T cmp.Ordered](values ...T) Kind[T] {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	want := strings.Join(texts[:len(texts)-1], ", ") + " or " + texts[len(texts)-1]
	number := func(text string) bool { _, err := strconv.Atoi(text); return err == nil }
	k := Parsed(func(text string) (zero T, err error) {
		if i := slices.Index(texts, text); i >= 0 {
			return values[i], nil
		}
		if number(text) {
			return zero, boundsError(want)
		}
		return zero, errors.New("want " + want)
	}).Offering(texts...)
	if number(texts[0]) {
		k.name = "int"
	}
	return k
}

// Int takes a whole number from least to most; a most of math.MaxInt is no bound.
func Int(least, most int) Kind[int] {
	want := fmt.Sprintf("%d to %d", least, most)
	if most == math.MaxInt {
		want = fmt.Sprintf("at least %d", least)
	}
	k := Parsed(func(text string) (int, error) {
		n, err := strconv.ParseInt(text, 0, 64)
		switch {
		case errors.Is(err, strconv.ErrSyntax):
			return 0, errors.New("want " + wantWhole)
		case err != nil || n < int64(least) || n > int64(most):
			return 0, boundsError(want)
		}
		return int(n), nil
	})
	k.name = "int"
	return k
}

// NumberIn takes a number that allowed accepts; want says which.
func NumberIn(want string, allowed func(float64) bool) Kind[float64] {
	k := Parsed(func(text string) (float64, error) {
		v, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil:
			return 0, errors.New("want " + wantNumber)
		case !allowed(v):
			return 0, boundsError(want)
		}
		return v, nil
	})
	k.name = "float64"
	return k
}

// Duration takes a time from 0 to most; a most of math.MaxInt64 is no bound.
func Duration(most time.Duration) Kind[time.Duration] {
	want := "0 to " + most.String()
	switch {
	case most == math.MaxInt64:
		want = "a time above 0"
	case most%time.Minute == 0:
		want = strings.TrimSuffix(want, "0s")
	}
	k := Parsed(func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		switch {
		case err != nil:
			return 0, errors.New("want " + wantTime)
		case d < 0 || d > most:
			return 0, boundsError(want)
		}
		return d, nil
	})
	k.name = "duration"
	return k
}

// Size takes a number of bytes such as 512MiB; see ParseSize.
func Size() Kind[int64] { return Parsed(ParseSize) }

// Instant takes an instant of a run; see ParseInstant.
func Instant() Kind[scope.Instant] { return Parsed(ParseInstant) }

// Ranks takes a list of ranks; see ParseRanks.
func Ranks() Kind[[]uint32] { return Parsed(ParseRanks) }

// File takes the name of a file; a shell offers those with one of the extensions.
func File(extensions ...string) Kind[string] {
	k := Text()
	k.complete = cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
	return k
}

// Directory takes the name of a directory.
func Directory() Kind[string] {
	k := Text()
	k.complete = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return k
}

// Top adds --top: how many rows tables have, and at first.
func Top(set *pflag.FlagSet, rows *int, few string) {
	Var(set, rows, Int(1, math.MaxInt), "top", few, "`rows` of each table")
}
