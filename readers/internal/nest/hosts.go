package nest

import "tracekit/trace"

// Hosts are the nodes of the system tree of a trace of files, which know of their host at most the name.
type Hosts struct {
	nodes map[string]trace.SystemTreeNodeID
}

// Node returns the node of a host, which is added to the definitions if it is new; that of the whole machine if the name is "".
func (h *Hosts) Node(defs *trace.Defs, text func(string) trace.StringID, host string) trace.SystemTreeNodeID {
	if id, ok := h.nodes[host]; ok {
		return id
	}
	def := trace.SystemTreeNode{Name: text("machine"), Class: text("machine"), Parent: trace.None}
	if host != "" {
		def = trace.SystemTreeNode{Name: text(host), Class: text("node"), Parent: h.Node(defs, text, "")}
	}
	id := trace.SystemTreeNodeID(len(defs.SystemTree))
	def.Ref = uint64(id)
	defs.SystemTree = append(defs.SystemTree, def)
	if h.nodes == nil {
		h.nodes = make(map[string]trace.SystemTreeNodeID)
	}
	h.nodes[host] = id
	return id
}
