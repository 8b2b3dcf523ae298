// Classify says what is in a photo, by a network of 8-bit integers that sorts photos into 1001 classes:
//
//	./build.sh models
//	go run ./examples/classify [MODEL [PHOTO [LABELS]]]
package main

import (
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/image/draw"

	"github.com/xnngo/xnngo/xnn"
)

func main() {
	log.SetFlags(0)
	files := []string{"inception_v3.tflite", "labrador.jpg", "inception_v3.txt"}
	for i := range files {
		if files[i] = filepath.Join(cache(), "models", files[i]); i+1 < len(os.Args) {
			files[i] = os.Args[i+1]
		}
	}
	m, err := xnn.Open(files[0])
	check(err)
	defer m.Close()
	s, err := m.NewSession()
	check(err)
	in := s.Input(0) // images of [1, height, width, 3]
	square := image.NewRGBA(image.Rect(0, 0, in.Shape()[2], in.Shape()[1]))
	photo := read(files[1])
	draw.BiLinear.Scale(square, square.Bounds(), photo, photo.Bounds(), draw.Src, nil)
	for i, x := 0, xnn.Data[uint8](in); i < len(x); i++ {
		x[i] = square.Pix[i/3*4+i%3]
	}
	check(s.Run())

	text, err := os.ReadFile(files[2])
	check(err)
	labels := strings.Split(strings.TrimSpace(string(text)), "\n")
	out := s.Output(0)
	scores := xnn.Data[uint8](out)
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(scores[b]) - int(scores[a]) })
	for _, class := range order[:5] {
		score := out.Quant().Scale * float32(int(scores[class])-out.Quant().ZeroPoint)
		fmt.Printf("%7.3f  %s\n", score, labels[class])
	}
}

// cache is where ./build.sh models puts its files.
func cache() string {
	if dir := os.Getenv("XNNGO_CACHE"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	check(err)
	return filepath.Join(dir, "xnngo")
}

func read(path string) image.Image {
	f, err := os.Open(path)
	check(err)
	defer f.Close()
	m, _, err := image.Decode(f)
	check(err)
	return m
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
