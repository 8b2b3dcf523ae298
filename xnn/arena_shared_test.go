package xnn

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// doublings is x times 2^n by n Adds of rows of 64. Every second result is an operand again later, so that intermediate values
// need room.
func doublings(n int) *graph.Graph {
	g := graph.New()
	x := g.Input(graph.Float32, 1, 64)
	y := x
	for range n {
		y = g.Add(y, y)
	}
	g.Output(g.Subtract(g.Add(y, x), x))
	return g
}

// TestSharedArena: sessions of several models take turns in one arena, which is as large as the largest needs, and go on after
// another made it move.
func TestSharedArena(t *testing.T) {
	nothingHeld(t)
	a, err := NewArena()
	require.NoError(t, err)
	defer a.Close()
	one, two := compiled(t, doublings(3)), compiled(t, doublings(5))
	s, r := opened(t, one, WithArena(a)), opened(t, two, WithArena(a))
	for _, rows := range []int{1, 500, 3, 2000, 2000, 1} {
		require.NoError(t, r.Reshape(Shape{rows, 64}))
		require.Equal(t, a.Bytes(), r.ArenaBytes())
		for range 2 {
			require.Equal(t, same(64, 8), run(t, s, same(64, 1))[0])
			require.Equal(t, same(rows*64, 32), run(t, r, same(rows*64, 1))[0])
		}
	}
	alone := opened(t, two)
	for _, rows := range []int{1, 500, 3, 2000} {
		require.NoError(t, alone.Reshape(Shape{rows, 64}))
	}
	require.Equal(t, alone.ArenaBytes(), a.Bytes())

	require.NoError(t, a.Close())
	require.NoError(t, a.Close())
	require.Zero(t, a.Bytes())
	require.ErrorIs(t, s.Run(), ErrClosed)
	require.ErrorIs(t, r.Reshape(Shape{2, 64}), ErrClosed)
	_, err = one.NewSession(WithArena(a))
	require.ErrorIs(t, err, ErrClosed)
	_, err = one.NewSession(WithArena(&Arena{}))
	require.ErrorIs(t, err, ErrClosed)
	var none *Arena
	require.NoError(t, none.Close())
	require.Zero(t, none.Bytes())
	_, err = one.NewSession(WithArena(none))
	require.NoError(t, err, "no arena is the session's own")
}

// TestSharedArenaConcurrently: sessions of one arena may be used from several goroutines; they wait for each other.
func TestSharedArenaConcurrently(t *testing.T) {
	nothingHeld(t)
	a, err := NewArena()
	require.NoError(t, err)
	defer a.Close()
	var wg sync.WaitGroup
	for k := range 4 {
		s := opened(t, compiled(t, doublings(k+2)), WithArena(a))
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 200 {
				rows := 1 + (i*(k+3))%17
				if err := s.Reshape(Shape{rows, 64}); err != nil {
					t.Error(err)
					return
				}
				copy(Data[float32](s.Input(0)), same(rows*64, 3))
				if err := s.Run(); err != nil {
					t.Error(err)
					return
				}
				for _, y := range Data[float32](s.Output(0)) {
					if y != float32(int(3)<<(k+2)) {
						t.Errorf("%v after %d doublings", y, k+2)
						return
					}
				}
			}
		}()
	}
	wg.Wait()
}

// TestSharedArenaLimit: the model whose session makes the arena grow answers for it.
func TestSharedArenaLimit(t *testing.T) {
	nothingHeld(t)
	a, err := NewArena()
	require.NoError(t, err)
	defer a.Close()
	s := opened(t, compiled(t, doublings(3), WithMemoryLimit(1<<20)), WithArena(a))
	require.NoError(t, s.Reshape(Shape{500, 64}))
	failed(t, s.Reshape(Shape{1700, 64}), ErrMemoryLimit)
	require.Equal(t, same(500*64, 8), run(t, s, same(500*64, 1))[0])
}
