package xnn

import (
	"sync/atomic"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/schema"
)

// MemoryStats is the C memory that all models and sessions of the process hold, in bytes, alignment included. Threads and
// their stacks are not counted, nor are files mapped into memory: models, and weights of WithWeightsCache.
type MemoryStats struct {
	Constants int64 // constants that had to be copied
	Tensors   int64 // inputs and outputs of sessions
	Arenas    int64 // intermediate values of sessions
	Weights   int64 // weights packed for the kernels, once for all sessions of a model
	XNNPACK   int64 // XNNPACK's operators and descriptors
	Bridge    int64 // descriptors between this module and XNNPACK
	Total     int64
	Blocks    int64 // number of allocations
}

// MemStats tells what is held now. After the last Close every field is zero.
func MemStats() MemoryStats {
	held := xnnpack.Stats()
	s := MemoryStats{
		Constants: held[xnnpack.Constants].Bytes,
		Tensors:   held[xnnpack.Tensors].Bytes,
		Arenas:    held[xnnpack.Arenas].Bytes,
		Weights:   held[xnnpack.Packed].Bytes,
		XNNPACK:   held[xnnpack.Internal].Bytes,
		Bridge:    held[xnnpack.Bridge].Bytes,
	}
	for _, h := range held {
		s.Total += h.Bytes
		s.Blocks += h.Blocks
	}
	return s
}

// descriptorBytes is what describing this many nodes to XNNPACK is charged with: 4 KiB each, where 2,864 bytes were measured
// for an Add with its values. The first thousand go free, so that a limit for tensors can be reckoned without them; past that,
// a file of many nodes must stay within its limit, too.
func descriptorBytes(nodes int) int64 { return int64(max(0, nodes-1000)) << 12 }

// budget is what is left of a model's memory limit.
type budget struct{ left atomic.Int64 }

// take reserves bytes, or gives the error that says what they were for and what is left.
func (b *budget) take(stage schema.Stage, what string, bytes int64) error {
	left := b.left.Add(-bytes)
	if left >= 0 {
		return nil
	}
	b.left.Add(bytes)
	return schema.Errorf(stage, ErrMemoryLimit, "%s need %d bytes, the memory limit leaves %d", what, bytes, left+bytes)
}

func (b *budget) give(bytes int64) { b.left.Add(bytes) }
