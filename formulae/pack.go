package formulae

import (
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"reflect"
	"slices"
)

// A packer codes values of any type made of numbers, strings, slices, structs and maps of
// strings, in either direction. Values of one type are coded as columns: all values of
// the first field of a struct, then all of the second, so that like stands beside like
// (docs/TKF.md, Columns and packing). Definitions and statistics are small beside events, so
// that reflection is fast enough and a new field needs no code.
type packer struct {
	*columnCoder
	tables *tables
	text   *textModel // made for the first string
	column uint32
	depth  int
}

// maxDepth bounds how deep types may be nested by data: formulae within formulae.
const maxDepth = 100

func newPacker(t *tables) *packer { return &packer{columnCoder: newColumnCoder(t), tables: t} }

// pack returns the values that the pointers point to, as a block.
func pack(t *tables, pointers ...any) []byte {
	p := newPacker(t)
	for _, v := range pointers {
		p.values([]reflect.Value{reflect.ValueOf(v).Elem()})
	}
	return p.finish()
}

// unpack fills in what the pointers point to.
func unpack(t *tables, block []byte, pointers ...any) error {
	p := newPacker(t)
	p.decode(block)
	for _, v := range pointers {
		p.values([]reflect.Value{reflect.ValueOf(v).Elem()})
	}
	if p.damaged {
		return errDamaged
	}
	return nil
}

// values codes a column of values of one type.
func (p *packer) values(v []reflect.Value) {
	if p.depth++; p.depth > maxDepth {
		p.damaged = true
	}
	defer func() { p.depth-- }()
	if len(v) == 0 || p.damaged {
		return
	}
	p.column++
	switch v[0].Kind() {
	case reflect.Struct:
		for i := range v[0].NumField() {
			p.values(each(v, func(v reflect.Value) reflect.Value { return v.Field(i) }))
		}
	case reflect.Slice:
		p.slices(v)
	case reflect.Pointer:
		p.pointers(v)
	case reflect.Map:
		p.maps(v)
	case reflect.String:
		p.strings(v)
	default:
		p.begin(p.column)
		for _, v := range v {
			setScalar(v, p.number(scalar(v)))
		}
	}
}

// each returns what f makes of each value, as the next column.
func each(v []reflect.Value, f func(reflect.Value) reflect.Value) []reflect.Value {
	out := make([]reflect.Value, len(v))
	for i := range v {
		out[i] = f(v[i])
	}
	return out
}

// slices codes the lengths, plus 1 for all but nil, and then all elements as one column.
func (p *packer) slices(v []reflect.Value) {
	var all []reflect.Value
	p.begin(p.column)
	for _, v := range v {
		n := v.Len() + 1
		if v.IsNil() {
			n = 0
		}
		n = p.bounded(n)
		if p.coder.decoding && n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
		}
		for i := range n - 1 {
			all = append(all, v.Index(i))
		}
	}
	p.values(all)
}

// pointers codes which of them are not nil, and then what those point to.
func (p *packer) pointers(v []reflect.Value) {
	var all []reflect.Value
	p.begin(p.column)
	for _, v := range v {
		if !p.flag(!v.IsNil()) {
			continue
		}
		if p.coder.decoding {
			v.Set(reflect.New(v.Type().Elem()))
		}
		all = append(all, v.Elem())
	}
	p.values(all)
}

// strings codes a column of strings: the length of each, then its bytes.
func (p *packer) strings(v []reflect.Value) {
	if p.text == nil {
		p.text = newTextModel(p.tables)
	}
	p.begin(p.column)
	for _, v := range v {
		s := []byte(v.String())
		n := p.bounded(len(s))
		if p.coder.decoding {
			s = make([]byte, n)
		}
		for i := range s {
			s[i] = p.text.byte(&p.coder, s[i])
		}
		p.text.byte(&p.coder, 0) // so that the next string begins in a context of its own
		if p.coder.decoding {
			v.SetString(string(s))
		}
	}
}

// maps codes maps from string to string as two slices, ordered by key.
func (p *packer) maps(v []reflect.Value) {
	for _, v := range v {
		m, _ := v.Interface().(map[string]string)
		keys := slices.Sorted(maps.Keys(m))
		values := make([]string, len(keys))
		for i, k := range keys {
			values[i] = m[k]
		}
		isNil := m == nil
		p.values([]reflect.Value{reflect.ValueOf(&isNil).Elem()})
		p.values([]reflect.Value{reflect.ValueOf(&keys).Elem()})
		p.values([]reflect.Value{reflect.ValueOf(&values).Elem()})
		if p.coder.decoding && !isNil && len(keys) == len(values) {
			m = make(map[string]string, len(keys))
			for i, k := range keys {
				m[k] = values[i]
			}
			v.Set(reflect.ValueOf(m))
		}
	}
}

func scalar(v reflect.Value) uint64 {
	switch {
	case v.CanUint():
		return v.Uint()
	case v.CanInt():
		return uint64(v.Int())
	case v.CanFloat():
		return math.Float64bits(v.Float())
	case v.Kind() == reflect.Bool && v.Bool():
		return 1
	}
	return 0
}

func setScalar(v reflect.Value, x uint64) {
	switch {
	case v.CanUint():
		v.SetUint(x)
	case v.CanInt():
		v.SetInt(int64(x))
	case v.CanFloat():
		v.SetFloat(math.Float64frombits(x))
	case v.Kind() == reflect.Bool:
		v.SetBool(x&1 != 0)
	}
}

// layout returns a checksum of the types of the values, so that a file whose columns mean
// something else is not read as if they did not.
func layout(values ...any) uint32 {
	h := crc32.NewIEEE()
	for _, v := range values {
		describe(h, reflect.TypeOf(v).Elem())
	}
	return h.Sum32()
}

func describe(w interface{ Write([]byte) (int, error) }, t reflect.Type) {
	fmt.Fprintf(w, "%s ", t.Kind())
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			fmt.Fprintf(w, "%s:", t.Field(i).Name)
			describe(w, t.Field(i).Type)
		}
	case reflect.Slice:
		describe(w, t.Elem())
	}
}
