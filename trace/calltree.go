package trace

// A CallTree holds call paths: node p is the path of its parent with one more region.
// The same region called from two source lines makes two nodes if the trace records
// call sites.
//
//	Nodes[p].Parent < p, or None for the outermost region
type CallTree struct {
	Nodes []PathNode
	index map[PathNode]PathID
}

// A PathNode is the last step of a call path.
type PathNode struct {
	Parent PathID           // None: outermost
	Region RegionID         //
	Site   SourceLocationID // where the region was called; None if not recorded
}

// NewCallTree returns an empty tree.
func NewCallTree() *CallTree { return &CallTree{index: make(map[PathNode]PathID)} }

// Add returns the node for n and makes it if there is none.
func (t *CallTree) Add(n PathNode) PathID {
	if id, ok := t.index[n]; ok {
		return id
	}
	id := PathID(len(t.Nodes))
	t.Nodes = append(t.Nodes, n)
	t.index[n] = id
	return id
}

// Region returns the innermost region of a path, None if there is no such path.
func (t *CallTree) Region(p PathID) RegionID {
	if int(p) < len(t.Nodes) {
		return t.Nodes[p].Region
	}
	return None
}

// Find returns the node for n, None if there is none. It may be called concurrently as
// long as nobody calls Add.
func (t *CallTree) Find(n PathNode) PathID {
	if id, ok := t.index[n]; ok {
		return id
	}
	return None
}

// Merge adds the nodes of another tree and returns, for each of them, its node here.
func (t *CallTree) Merge(other *CallTree) []PathID {
	ids := make([]PathID, len(other.Nodes))
	for i, n := range other.Nodes {
		if n.Parent != None {
			n.Parent = ids[n.Parent]
		}
		ids[i] = t.Add(n)
	}
	return ids
}

// A PathCache remembers numbers of nodes that were looked up lately: a program is mostly
// where it has been before. It begins to remember when it has been told a few: of very many
// locations most are short.
type PathCache struct {
	slots *[1024]pathSlot
	told  int
}

type pathSlot struct {
	node   PathNode
	number uint32
}

// unremembered is how many nodes a PathCache is asked before it begins to remember them.
const unremembered = 64

// Lookup returns the number of a node; known is false if it is not remembered (any more).
func (c *PathCache) Lookup(n PathNode) (number uint32, known bool) {
	if c.slots == nil {
		return 0, false
	}
	s := &c.slots[n.home()]
	return s.number, s.node == n
}

// Remember notes the number of a node.
func (c *PathCache) Remember(n PathNode, number uint32) {
	if c.slots == nil {
		if c.told++; c.told <= unremembered {
			return
		}
		c.slots = new([1024]pathSlot)
		// Memory that is read before it is written takes a second fault then, with which the system interrupts all processors.
		clear(c.slots[:])
		c.slots[PathNode{}.home()].node.Site = None // else that of zeros would be known
	}
	c.slots[n.home()] = pathSlot{n, number}
}

// home returns the only slot in which a node may be.
func (n PathNode) home() uint32 {
	return (uint32(n.Parent)*0x9E3779B1 ^ uint32(n.Region)*0x85EBCA77 ^ uint32(n.Site)*0xC2B2AE3D) >> 22
}

// Regions returns the regions of a path, outermost first.
func (t *CallTree) Regions(p PathID) []RegionID {
	var path []RegionID
	for ; p != None; p = t.Nodes[p].Parent {
		path = append(path, t.Nodes[p].Region)
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}

// Visited returns which of the trace's n regions lie on some path.
func (t *CallTree) Visited(n int) []bool {
	visited := make([]bool, n)
	for i := range t.Nodes {
		if r := t.Nodes[i].Region; int(r) < n {
			visited[r] = true
		}
	}
	return visited
}

// A SourceLine is the best source location that is known for a call: the call site if the
// trace records it, else the enclosing region outside MPI with its file and first line.
type SourceLine struct {
	Region RegionID // the user's region; None: none encloses the call
	File   StringID // None: not known
	Line   uint32   // 0: not known
	Exact  bool     // the line is that of the call, not the first of Region
}

// SourceLine returns the source line of the call at node p: for an MPI function that of
// its call site or of the innermost enclosing region that is not MPI.
func (t *CallTree) SourceLine(d *Defs, p PathID) SourceLine {
	line := SourceLine{Region: None, File: None}
	for ; p != None; p = t.Nodes[p].Parent {
		n := t.Nodes[p]
		if n.Site != None && line.File == None && int(n.Site) < len(d.SourceLocations) {
			s := d.SourceLocations[n.Site]
			line.File, line.Line, line.Exact = s.File, s.Line, true
		}
		if int(n.Region) < len(d.Regions) && d.Regions[n.Region].Paradigm != ParadigmMPI {
			line.Region = n.Region
			break
		}
	}
	if line.File == None && line.Region != None {
		r := d.Regions[line.Region]
		if d.String(r.File) != "" {
			line.File, line.Line = r.File, r.BeginLine
		}
	}
	return line
}
