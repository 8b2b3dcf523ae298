package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// parseFiles reads the N=FILE arguments of a flag into files by index.
func parseFiles(flag string, args []string) (map[int]string, error) {
	files := map[int]string{}
	taken := map[string]bool{}
	for _, arg := range args {
		number, file, ok := strings.Cut(arg, "=")
		n, err := strconv.ParseUint(number, 10, 31)
		if !ok || err != nil || file == "" {
			return nil, fmt.Errorf("%s %q: N=FILE is needed, N counted from 0", flag, arg)
		}
		if _, twice := files[int(n)]; twice {
			return nil, fmt.Errorf("%s: %d is given twice", flag, n)
		}
		if flag == "-o" && taken[file] {
			return nil, fmt.Errorf("%s: two outputs go to %s", flag, file)
		}
		files[int(n)], taken[file] = file, true
	}
	return files, nil
}

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }

// writeFile writes a file that is either complete or not there: into a temporary file beside it that takes its name at the
// end. What is there and no regular file, such as a pipe, is written as it is.
func writeFile(path string, write func(io.Writer) error) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // replace what a link leads to, not the link
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	temp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp) // the first error is the one to tell
		}
	}()
	if err := write(f); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
