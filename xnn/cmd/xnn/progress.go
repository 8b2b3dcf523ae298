package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/xnngo/xnngo/xnn"
)

// patience is how long work may take before a bar shows up.
const patience = time.Second

// bar says on a terminal how far some work is, from patience on. Elsewhere it is silent.
type bar struct {
	what    string
	total   int64
	start   time.Time
	visible *progressbar.ProgressBar
}

// newBar is for work of so many steps; -1 for work that cannot be counted.
func newBar(what string, total int64) *bar { return &bar{what: what, total: total, start: time.Now()} }

// newTimeBar is for work that ends after a certain time.
func newTimeBar(what string, total time.Duration) *bar { return newBar(what, total.Milliseconds()) }

// set says that so many steps are done.
func (b *bar) set(done int64) {
	if b.visible == nil {
		if time.Since(b.start) < patience || !term.IsTerminal(int(os.Stderr.Fd())) {
			return
		}
		b.visible = progressbar.NewOptions64(b.total,
			progressbar.OptionSetWriter(os.Stderr),
			progressbar.OptionSetDescription(b.what),
			progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(b.total > 0),
			progressbar.OptionSetElapsedTime(true),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetSpinnerChangeInterval(0), // it turns when told to, and not by itself after the end
		)
	}
	// A bar that cannot be drawn is no failure.
	if b.total < 0 {
		_ = b.visible.RenderBlank()
	} else {
		_ = b.visible.Set64(min(done, b.total))
	}
}

func (b *bar) elapsed(d time.Duration) { b.set(d.Milliseconds()) }

// clear takes the bar away.
func (b *bar) clear() {
	if b.visible != nil {
		_ = b.visible.Clear()
	}
}

// wait runs work that tells nothing of how far it is.
func wait[T any](what string, work func() (T, error)) (T, error) {
	b := newBar(what, -1)
	defer b.clear()
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		value, err := work()
		done <- answer{value, err}
	}()
	for tick := time.NewTicker(patience / 4); ; {
		select {
		case a := <-done:
			tick.Stop()
			return a.value, a.err
		case <-tick.C:
			b.set(0)
		}
	}
}

// openModel opens a model, which takes a while where it is large.
func openModel(path string, opts ...xnn.Option) (*xnn.Model, error) {
	m, err := wait("load "+path, func() (*xnn.Model, error) { return xnn.Open(path, opts...) })
	return m, about(path, err)
}
