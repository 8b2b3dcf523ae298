package xnn

import (
	"runtime"
	"time"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/schema"
)

// NodeTime is how long one node took in a session's last run.
type NodeTime struct {
	Node        int           // its place in the file or graph
	Kind        string        // the operator
	DebugHandle uint32        // the number the exporter gave it
	Time        time.Duration // 0 for a fused node
	Fused       bool          // XNNPACK made it part of another node
}

// Profile gives the time of each node of the last Run, in the order they ran; those that had no elements to compute come last
// and took no time. Nodes that no output depends on are not run and not listed. The session must have been made with
// WithProfile, else it is ErrArgument.
func (s *Session) Profile() ([]NodeTime, error) {
	if s == nil || s.core == nil {
		return nil, errClosed("session")
	}
	c := s.core
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(s)
	defer c.mu.Unlock()
	if !c.cfg.profile {
		return nil, schema.Errorf(schema.StageInvoke, ErrArgument, "the session was made without WithProfile")
	}
	if c.program == nil {
		return nil, c.broken
	}
	var nodes []NodeTime
	for i := range c.steps {
		for j, t := range c.steps[i].times() {
			n := &c.model.graph.Nodes[c.steps[i].seg.nodes[j]]
			nodes = append(nodes, NodeTime{Node: int(n.Ref), Kind: n.Op.Kind(), DebugHandle: n.DebugHandle, Time: max(t, 0),
				Fused: t == xnnpack.Fused})
		}
	}
	for _, i := range c.planned.idle {
		n := &c.model.graph.Nodes[i]
		nodes = append(nodes, NodeTime{Node: int(n.Ref), Kind: n.Op.Kind(), DebugHandle: n.DebugHandle})
	}
	return nodes, nil
}
