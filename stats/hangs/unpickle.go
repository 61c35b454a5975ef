package hangs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Values of dumps are nil, bool, int64, float64, string, *list and dict: those of JSON. Tuples are lists.
type (
	list struct{ items []any }
	dict map[string]any
)

// mark is what lies on the stack below the items of a container to come.
type mark struct{}

var errCut = errors.New("the file is cut off")

// An unpickler reads a pickle of plain values. It makes no objects: what asks for one is refused.
type unpickler struct {
	data  []byte
	at    int
	stack []any
	memo  map[uint64]any
}

// unpickle returns the value of a pickle. With an error, it is what lies before the place where it went wrong, nil if that is nothing.
func unpickle(data []byte) (any, error) {
	u := &unpickler{data: data, memo: make(map[uint64]any)}
	for {
		done, err := u.step()
		if err != nil {
			err = fmt.Errorf("byte %d: %w", u.at, err)
			return u.rest(), err
		}
		if done {
			return u.stack[len(u.stack)-1], nil
		}
	}
}

// rest closes the containers that are open, and returns the outermost one.
func (u *unpickler) rest() any {
	for u.marked() >= 0 {
		items := u.popMark()
		if len(u.stack) == 0 {
			return nil
		}
		switch x := u.stack[len(u.stack)-1].(type) {
		case *list:
			x.items = append(x.items, items...)
		case dict:
			x.set(items)
		}
	}
	if len(u.stack) == 0 {
		return nil
	}
	return u.stack[0]
}

// take returns the next n bytes.
func (u *unpickler) take(n uint64) ([]byte, error) {
	if n > uint64(len(u.data)-u.at) {
		return nil, errCut
	}
	b := u.data[u.at : u.at+int(n)]
	u.at += int(n)
	return b, nil
}

// number reads an unsigned number of n bytes.
func (u *unpickler) number(n uint64) (uint64, error) {
	b, err := u.take(n)
	if err != nil {
		return 0, err
	}
	var full [8]byte
	copy(full[:], b)
	return binary.LittleEndian.Uint64(full[:]), nil
}

func (u *unpickler) push(x any) { u.stack = append(u.stack, x) }

// marked returns where the last mark lies, -1 if there is none.
func (u *unpickler) marked() int {
	for i := len(u.stack) - 1; i >= 0; i-- {
		if _, ok := u.stack[i].(mark); ok {
			return i
		}
	}
	return -1
}

// popMark takes what lies above the last mark, and the mark.
func (u *unpickler) popMark() []any {
	i := u.marked()
	items := append([]any(nil), u.stack[i+1:]...)
	u.stack = u.stack[:i]
	return items
}

// pop takes n values, which must not be marks.
func (u *unpickler) pop(n int) ([]any, error) {
	if len(u.stack) < n {
		return nil, errors.New("a value is missing")
	}
	items := append([]any(nil), u.stack[len(u.stack)-n:]...)
	for _, x := range items {
		if _, ok := x.(mark); ok {
			return nil, errors.New("a value is missing")
		}
	}
	u.stack = u.stack[:len(u.stack)-n]
	return items, nil
}

// above takes what lies above the last mark, of which a container must lie below.
func (u *unpickler) above() ([]any, error) {
	if u.marked() < 0 {
		return nil, errors.New("a mark is missing")
	}
	return u.popMark(), nil
}

// fill adds items to the container on top of the stack.
func (u *unpickler) fill(items []any) error {
	if len(u.stack) == 0 {
		return errors.New("a container is missing")
	}
	switch x := u.stack[len(u.stack)-1].(type) {
	case *list:
		x.items = append(x.items, items...)
	case dict:
		x.set(items)
	default:
		return errors.New("a container is missing")
	}
	return nil
}

// set adds keys, each followed by its value. Keys other than texts and whole numbers are left out.
func (d dict) set(items []any) {
	for ; len(items) > 1; items = items[2:] {
		switch key := items[0].(type) {
		case string:
			d[key] = items[1]
		case int64:
			d[fmt.Sprint(key)] = items[1]
		}
	}
}

// step executes one instruction, and reports whether it was the last one.
func (u *unpickler) step() (done bool, err error) {
	op, err := u.take(1)
	if err != nil {
		return false, err
	}
	switch op[0] {
	case 0x80: // PROTO
		_, err = u.take(1)
	case 0x95: // FRAME
		_, err = u.take(8)
	case '.': // STOP
		if len(u.stack) != 1 {
			return false, errors.New("it does not end with one value")
		}
		if _, ok := u.stack[0].(mark); ok {
			return false, errors.New("it does not end with a value")
		}
		return true, nil
	case '(':
		u.push(mark{})
	case 'N':
		u.push(nil)
	case 0x88:
		u.push(true)
	case 0x89:
		u.push(false)
	case 'K', 'M', 'J', 0x8a, 'G':
		err = u.scalar(op[0])
	case 0x8c, 'X', 0x8d, 'U', 'T':
		err = u.text(op[0])
	case ']':
		u.push(&list{})
	case '}':
		u.push(dict{})
	case ')', 0x85, 0x86, 0x87, 't', 'l', 'd':
		err = u.container(op[0])
	case 'a', 's', 'e', 'u':
		err = u.add(op[0])
	case 'q', 'r', 0x94, 'h', 'j':
		err = u.remember(op[0])
	default:
		u.at--
		err = fmt.Errorf("instruction %q asks for more than plain values, which is refused", op[0])
	}
	return false, err
}

// scalar reads a number.
func (u *unpickler) scalar(op byte) error {
	size := map[byte]uint64{'K': 1, 'M': 2, 'J': 4, 'G': 8}[op]
	if op == 0x8a { // LONG1
		n, err := u.number(1)
		if err != nil {
			return err
		}
		if size = n; n > 8 {
			return errors.New("a number is longer than 64 bits")
		}
	}
	b, err := u.take(size)
	if err != nil {
		return err
	}
	var full [8]byte
	copy(full[:], b)
	x := binary.LittleEndian.Uint64(full[:])
	switch {
	case op == 'G':
		u.push(math.Float64frombits(binary.BigEndian.Uint64(b)))
	case op == 'J' || op == 0x8a && size > 0:
		u.push(int64(x<<(64-8*size)) >> (64 - 8*size))
	default:
		u.push(int64(x))
	}
	return nil
}

// text reads a text, whose length comes first.
func (u *unpickler) text(op byte) error {
	n, err := u.number(map[byte]uint64{0x8c: 1, 'U': 1, 'X': 4, 'T': 4, 0x8d: 8}[op])
	if err != nil {
		return err
	}
	b, err := u.take(n)
	if err == nil {
		u.push(string(b))
	}
	return err
}

// container makes a tuple, or a list or dictionary of what lies above the last mark.
func (u *unpickler) container(op byte) (err error) {
	var items []any
	switch op {
	case ')':
	case 't', 'l', 'd':
		items, err = u.above()
	default:
		items, err = u.pop(int(op-0x85) + 1)
	}
	if err != nil {
		return err
	}
	if op == 'd' {
		d := dict{}
		d.set(items)
		u.push(d)
		return nil
	}
	u.push(&list{items})
	return nil
}

// add adds one value, or all above the last mark, to a container.
func (u *unpickler) add(op byte) (err error) {
	var items []any
	switch op {
	case 'a':
		items, err = u.pop(1)
	case 's':
		items, err = u.pop(2)
	default:
		items, err = u.above()
	}
	if err != nil {
		return err
	}
	return u.fill(items)
}

// remember keeps the value on top of the stack, or pushes one that was kept.
func (u *unpickler) remember(op byte) error {
	key := uint64(len(u.memo))
	if op != 0x94 {
		var err error
		if key, err = u.number(map[byte]uint64{'q': 1, 'h': 1, 'r': 4, 'j': 4}[op]); err != nil {
			return err
		}
	}
	if op == 'h' || op == 'j' {
		x, ok := u.memo[key]
		if !ok {
			return errors.New("a value is used that was not kept")
		}
		u.push(x)
		return nil
	}
	x, err := u.pop(1)
	if err != nil {
		return err
	}
	u.memo[key] = x[0]
	u.push(x[0])
	return nil
}
