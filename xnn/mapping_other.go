//go:build !unix

package xnn

import (
	"errors"
	"os"
)

// mapFile is for systems where files are read instead.
func mapFile(*os.File, int64) (*mapping, error) { return nil, errors.ErrUnsupported }

func ownFile(os.FileInfo) error { return nil }

func (m *mapping) close() {}

func (m *mapping) forget([]byte) {}
