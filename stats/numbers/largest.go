package numbers

// A Largest keeps the largest elements of those that it is offered: a heap with the least of them at its root.
type Largest[T any] struct {
	Most int // elements
	Less func(a, b *T) bool
	Kept []T // a heap
}

// Offer keeps an element if it is among the largest.
func (l *Largest[T]) Offer(x T) {
	switch {
	case len(l.Kept) < l.Most:
		i := len(l.Kept)
		for l.Kept = append(l.Kept, x); i > 0; {
			above := (i - 1) / 2
			if !l.Less(&l.Kept[i], &l.Kept[above]) {
				return
			}
			l.Kept[i], l.Kept[above] = l.Kept[above], l.Kept[i]
			i = above
		}
	case l.Most > 0 && l.Less(&l.Kept[0], &x):
		l.Kept[0] = x
		for i := 0; ; {
			least := i
			for below := 2*i + 1; below <= 2*i+2 && below < len(l.Kept); below++ {
				if l.Less(&l.Kept[below], &l.Kept[least]) {
					least = below
				}
			}
			if least == i {
				return
			}
			l.Kept[i], l.Kept[least] = l.Kept[least], l.Kept[i]
			i = least
		}
	}
}
