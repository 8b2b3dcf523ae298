package main

import (
	"image/jpeg"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Boxes that anchors of both layers see, worked out by hand: two of one face, weighted by their scores, and one of another.
func TestFaces(t *testing.T) {
	boxes, scores := make([]float32, 896*16), make([]float32, 896)
	for i := range scores {
		scores[i] = -100
	}
	logit := func(p float64) float32 { return float32(math.Log(p / (1 - p))) }
	set := func(anchor int, score float64, box ...float32) {
		copy(boxes[16*anchor:], box)
		scores[anchor] = logit(score)
	}
	set(1, 0.6, 4, 4, 32, 32)                 // of the cell at 4, 4: its middle is 8, 8
	set(2*16*3+2*2, 0.9, -12, -20, 32, 32)    // of that at 20, 28: 8, 8, too
	set(512+6*(8*2+4)+5, 0.75, 0, 0, 16, 32)  // of that at 72, 40
	set(512+6*(8*2+4)+4, 0.49, 0, 0, 16, 32)  // not sure enough
	set(512+6*(8*2+3)+1, 0.7, 16, 0, 160, 32) // of the same middle, but overlaps no more than a tenth
	set(0, 0.3, 0, 0, 0, 0)
	got := faces(boxes, scores, 256)
	require.Len(t, got, 3)
	for i, want := range [][5]float64{{-16, -16, 48, 48, 0.9}, {128, 48, 160, 112, 0.75}, {-16, 48, 304, 112, 0.7}} {
		require.InDeltaSlice(t, want[:], got[i][:5], 1e-4)
	}

	// Apart by a quarter of their width they are one face still, nearer to the surer one.
	set(1, 0.6, 12, 4, 32, 32)
	got = faces(boxes, scores, 128)
	require.InDelta(t, (0.9*-8+0.6*0)/1.5, got[0][0], 1e-4)
	require.Empty(t, faces(make([]float32, 896*16), scores[:0], 128))
}

// The program finds the one face in the photo.
func TestPhoto(t *testing.T) {
	user, err := os.UserCacheDir()
	require.NoError(t, err)
	cache := filepath.Join(user, "xnngo")
	if dir := os.Getenv("XNNGO_CACHE"); dir != "" {
		cache = dir
	}
	model := filepath.Join(cache, "models", "face_detection_short_range.tflite")
	if _, err := os.Stat(model); err != nil {
		t.Skipf("%s is not there: ./build.sh models fetches it", model)
	}
	out := filepath.Join(t.TempDir(), "faces.jpg")
	printed, err := exec.Command("go", "run", ".", model, "astronaut.jpg", out).CombinedOutput()
	require.NoError(t, err, string(printed))
	require.Equal(t, 1, strings.Count(string(printed), "a face at "), string(printed))
	f, err := os.Open(out)
	require.NoError(t, err)
	defer f.Close()
	picture, err := jpeg.Decode(f)
	require.NoError(t, err)
	r, g, b, _ := picture.At(178, 128).RGBA() // the left side of the box
	require.Less(t, r, g)
	require.Less(t, b, g)
}
