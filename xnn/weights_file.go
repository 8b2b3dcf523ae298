package xnn

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/xnngo/xnngo/cgo/xnnpack"
)

// A file of packed weights: a header, a table with an entry for each node's weights, the weights, and bytes that kernels may read
// behind them. All integers are little-endian, all offsets count from the file's start.
//
//	header   8 bytes  weightsMagic
//	        32        the key: what the weights were made of, and for what; see model.weightsKey
//	         8        number of entries
//	         8        size of the file
//	         4        CRC-32C of what lies before, and of the table
//	         4        0
//	entry    8        xnnpack.WeightsKey
//	         8        offset of the weights, at 64 bytes; ascending, without overlap
//	         8        their size
//	         4        XNNPACK's number of their layout
//	         4        CRC-32C of the weights
const (
	weightsMagic  = "xnnwght1"
	weightsHeader = 64
	weightsEntry  = 32
	weightsAlign  = 64
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// openWeights maps the file at path and gives the weights in it, which last until the mapping is closed. It takes nothing on
// trust but that who may write the file, its owner and root, left the weights themselves as they were, and that a checksum finds
// accidents.
func openWeights(path string, key [32]byte) ([]xnnpack.PackedWeights, *mapping, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if err := ownFile(info); err != nil {
		return nil, nil, err
	}
	places, err := checkWeights(f, info.Size(), key)
	if err != nil {
		return nil, nil, err
	}
	mapped, err := mapFile(f, info.Size())
	if err != nil {
		return nil, nil, err
	}
	mapped.populate()
	list := make([]xnnpack.PackedWeights, len(places))
	for i, p := range places {
		list[i] = xnnpack.PackedWeights{Key: p.key, Seed: p.seed, Data: mapped.bytes[p.offset:][:p.size:p.size]}
	}
	return list, mapped, nil
}

// weightsPlace is an entry of a file's table.
type weightsPlace struct {
	key          uint64
	offset, size uint64
	seed, sum    uint32
}

var errWeightsFile = errors.New("not a file of packed weights for this model, or a damaged one")

// checkWeights reads a file's table, if every byte that counts is as it was written. It does not go through a mapping: to find
// pages takes longer than to copy them.
func checkWeights(r io.ReaderAt, size int64, key [32]byte) ([]weightsPlace, error) {
	le := binary.LittleEndian
	head := make([]byte, weightsHeader)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, errWeightsFile
	}
	count := le.Uint64(head[40:])
	if string(head[:8]) != weightsMagic || !bytes.Equal(head[8:40], key[:]) || le.Uint64(head[48:]) != uint64(size) ||
		count > uint64(size-weightsHeader)/weightsEntry {
		return nil, errWeightsFile
	}
	table := make([]byte, count*weightsEntry)
	if _, err := r.ReadAt(table, weightsHeader); err != nil && count > 0 || le.Uint32(head[56:]) != tableSum(head, table) {
		return nil, errWeightsFile
	}
	places := make([]weightsPlace, count)
	end, limit := uint64(weightsHeader+len(table)), uint64(max(0, size-int64(xnnpack.ExtraBytes())))
	for i := range places {
		e := table[i*weightsEntry:]
		p := weightsPlace{le.Uint64(e), le.Uint64(e[8:]), le.Uint64(e[16:]), le.Uint32(e[24:]), le.Uint32(e[28:])}
		if p.offset < end || p.offset%weightsAlign != 0 || p.offset > limit || p.size > limit-p.offset {
			return nil, errWeightsFile
		}
		end, places[i] = p.offset+p.size, p
	}
	var wrong atomic.Bool
	inParallel(len(places), func(i int) {
		sum := crc32.New(castagnoli)
		if copyAt(sum, r, places[i].offset, places[i].size) != nil || sum.Sum32() != places[i].sum {
			wrong.Store(true)
		}
	})
	if wrong.Load() {
		return nil, errWeightsFile
	}
	return places, nil
}

// copyAt writes bytes of a file to h, some at a time.
func copyAt(h hash.Hash, r io.ReaderAt, offset, size uint64) error {
	buffer := readBuffers.Get().(*[1 << 16]byte)
	defer readBuffers.Put(buffer)
	for end := offset + size; offset < end; {
		some := buffer[:min(end-offset, uint64(len(buffer)))]
		if _, err := r.ReadAt(some, int64(offset)); err != nil {
			return err
		}
		h.Write(some)
		offset += uint64(len(some))
	}
	return nil
}

var readBuffers = sync.Pool{New: func() any { return new([1 << 16]byte) }}

func tableSum(header, table []byte) uint32 {
	return crc32.Update(crc32.Checksum(header[:56], castagnoli), castagnoli, table)
}

// writeWeights makes the file at path, for those who open it in one step: another process may be writing it, too.
func writeWeights(path string, key [32]byte, list []xnnpack.PackedWeights) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	err = encodeWeights(f, key, list)
	if err == nil {
		err = f.Sync() // a name for bytes that never reached the disk would outlive a crash
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func encodeWeights(f *os.File, key [32]byte, list []xnnpack.PackedWeights) error {
	le := binary.LittleEndian
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b xnnpack.PackedWeights) int { return cmp.Compare(a.Key, b.Key) })
	head := make([]byte, alignWeights(weightsHeader+len(list)*weightsEntry))
	sums := make([]uint32, len(list))
	inParallel(len(list), func(i int) { sums[i] = crc32.Checksum(list[i].Data, castagnoli) })
	size := len(head)
	for i, w := range list {
		e := head[weightsHeader+i*weightsEntry:]
		le.PutUint64(e, w.Key)
		le.PutUint64(e[8:], uint64(size))
		le.PutUint64(e[16:], uint64(len(w.Data)))
		le.PutUint32(e[24:], w.Seed)
		le.PutUint32(e[28:], sums[i])
		size += alignWeights(len(w.Data))
	}
	size += alignWeights(xnnpack.ExtraBytes())
	copy(head, weightsMagic)
	copy(head[8:], key[:])
	le.PutUint64(head[40:], uint64(len(list)))
	le.PutUint64(head[48:], uint64(size))
	le.PutUint32(head[56:], tableSum(head, head[weightsHeader:][:len(list)*weightsEntry]))
	w := bufio.NewWriterSize(f, 1<<18)
	_, err := w.Write(head) // what fails is told again by Flush
	for _, p := range list {
		_, _ = w.Write(p.Data)
		_, _ = w.Write(make([]byte, alignWeights(len(p.Data))-len(p.Data)))
	}
	_, _ = w.Write(make([]byte, alignWeights(xnnpack.ExtraBytes())))
	return errors.Join(err, w.Flush())
}

func alignWeights(n int) int { return (n + weightsAlign - 1) &^ (weightsAlign - 1) }

// inParallel calls f for 0 to n-1, on all processors.
func inParallel(n int, f func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		}()
	}
	wait.Wait()
}

// errNotOwn says whose files are not taken.
func errNotOwn(info os.FileInfo) error {
	return fmt.Errorf("%s: others than root and this user may have written it (mode %v)", info.Name(), info.Mode())
}
