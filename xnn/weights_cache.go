package xnn

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"path/filepath"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

// weightsCache is a model's place in the folder of WithWeightsCache.
type weightsCache struct {
	path   string
	key    [sha256.Size]byte
	mapped *mapping // the file that the weights are in; nil where they were packed here
	found  bool     // mapped was there
	err    error    // why there is no such file
}

// WeightsCache tells what WithWeightsCache did: whether the packed weights came from a file of the folder, and if not, why they
// could not be kept there for the next time. It is false and nil without that option, and for models without such weights.
func (m *Model) WeightsCache() (found bool, err error) {
	if m == nil || m.core == nil || m.core.kept == nil {
		return false, nil
	}
	return m.core.kept.found, m.core.kept.err
}

// sourceOf computes, while other work goes on, what a model's file is known by; the result waits for it.
func sourceOf(r io.ReaderAt, size int64) func() ([sha256.Size]byte, error) {
	const piece = 1 << 20 // for a processor at a time
	n := int((size + piece - 1) / piece)
	sums, errs := make([]byte, n*sha256.Size), make([]error, n)
	done := make(chan struct{})
	go func() {
		defer close(done)
		inParallel(n, func(i int) {
			h, offset := sha256.New(), uint64(i)*piece
			errs[i] = copyAt(h, r, offset, min(piece, uint64(size)-offset))
			h.Sum(sums[:i*sha256.Size])
		})
	}()
	return func() ([sha256.Size]byte, error) {
		<-done
		return sha256.Sum256(binary.LittleEndian.AppendUint64(sums, uint64(size))), errors.Join(errs...)
	}
}

// knownBy says what the model's file is, where that matters.
func (c *config) knownBy(r io.ReaderAt, size int64) {
	if c.weightsFolder != "" {
		c.source = sourceOf(r, size)
	}
}

// weightsKey stands for everything that packed weights depend on: the bytes of the file, what was read from it, the archive and
// the processor.
func (c *model) weightsKey(source [sha256.Size]byte, platform string) (key [sha256.Size]byte) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %q %x\n", weightsMagic, platform, source)
	for _, i := range c.layout.nodes {
		n := &c.graph.Nodes[i]
		fmt.Fprintf(h, "%d %s %+v\n", i, n.Op.Kind(), n.Op)
		c.describeValues(h, n.Inputs)
		c.describeValues(h, n.Outputs)
	}
	h.Sum(key[:0])
	return key
}

func (c *model) describeValues(h hash.Hash, ids []graph.ID) {
	for _, id := range ids {
		v := &c.graph.Values[id]
		fmt.Fprintf(h, "%d %v %v %d", id, v.DType, v.Shape, v.Constant)
		if v.Quant != nil {
			fmt.Fprintf(h, " %v", *v.Quant)
		}
		fmt.Fprintln(h)
	}
}

// openKept looks for the model's packed weights.
func (c *model) openKept() []xnnpack.PackedWeights {
	if c.cfg.source == nil || c.layout.packs(c.graph) == 0 {
		return nil
	}
	k := &weightsCache{}
	c.kept = k
	platform := xnnpack.Platform()
	if platform == "" {
		k.err = errors.New("XNNPACK does not tell what it chose for this processor")
		return nil
	}
	var source [sha256.Size]byte
	if source, k.err = c.cfg.source(); k.err != nil {
		return nil
	}
	k.key = c.weightsKey(source, platform)
	k.path = filepath.Join(c.cfg.weightsFolder, hex.EncodeToString(k.key[:])+".weights")
	var list []xnnpack.PackedWeights
	list, k.mapped, k.err = openWeights(k.path, k.key)
	return list
}

// keep writes the packed weights where openKept will look.
func (c *model) keep() {
	k := c.kept
	if k == nil || k.path == "" {
		return
	}
	if errors.Is(k.err, errors.ErrUnsupported) {
		return // there is no mapping files here
	}
	k.err = writeWeights(k.path, k.key, c.weights.All())
}

func (k *weightsCache) close() {
	if k != nil {
		k.mapped.close()
		k.mapped = nil
	}
}

// absent finds the constants that nobody reads but nodes whose weights are here already.
func (c *model) absent(list []xnnpack.PackedWeights) []bool {
	held := make(map[int]bool, len(list))
	for _, p := range list {
		held[xnnpack.NodeOfWeights(p.Key)] = true
	}
	packed, read := make([]bool, len(c.graph.Constants)), make([]bool, len(c.graph.Constants))
	for _, i := range c.layout.nodes {
		n := &c.graph.Nodes[i]
		for at, id := range n.Inputs {
			switch k := c.graph.Values[id].Constant; {
			case k == 0:
			case held[i] && lowerings[n.Op.Kind()].packsOperand(at):
				packed[k] = true
			default:
				read[k] = true
			}
		}
	}
	for k := range packed {
		packed[k] = packed[k] && !read[k]
	}
	return packed
}
