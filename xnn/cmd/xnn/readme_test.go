package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the README's console blocks show is what the tool prints. In them $M is the folder that ./build.sh models fills.
func TestREADME(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	blocks := strings.Split(string(readme), "```console\n")[1:]
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		line, want, _ := strings.Cut(block, "\n")
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			require.Equal(t, []string{"$", "bin/xnn"}, args[:2])
			for i, arg := range args[2:] {
				if before, name, ok := strings.Cut(arg, "$M/"); ok {
					args[2+i] = before + modelFile(t, name)
				}
			}
			cmd := exec.Command(toolPath, args[2:]...)
			cmd.Dir = root
			got, _ := cmd.CombinedOutput() // the status is not shown
			require.Equal(t, want, string(got))
		})
	}
}
