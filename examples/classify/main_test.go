package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program calls a Labrador a Labrador.
func TestPhoto(t *testing.T) {
	user, err := os.UserCacheDir()
	require.NoError(t, err)
	cache := filepath.Join(user, "xnngo")
	if dir := os.Getenv("XNNGO_CACHE"); dir != "" {
		cache = dir
	}
	for _, name := range []string{"inception_v3.tflite", "inception_v3.txt", "labrador.jpg"} {
		if _, err := os.Stat(filepath.Join(cache, "models", name)); err != nil {
			t.Skipf("%s is not there: ./build.sh models fetches it", name)
		}
	}
	printed, err := exec.Command("go", "run", ".").CombinedOutput()
	require.NoError(t, err, string(printed))
	require.Regexp(t, `^ +\d\.\d{3}  Labrador retriever\n`, string(printed))
}
