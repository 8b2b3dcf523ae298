// Classify says what is in a photo, by a network of 8-bit integers that knows 1001 classes: ./build.sh run classify
// [MODEL [PHOTO [LABELS]]], after ./build.sh models.
package main

import (
	"cmp"
	"fmt"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"log"
	"os"
	"slices"
	"strings"

	"golang.org/x/image/draw"

	"github.com/xnngo/xnngo/xnn"
)

func main() {
	log.SetFlags(0)
	user, _ := os.UserCacheDir()
	models := cmp.Or(os.Getenv("XNNGO_CACHE"), user+"/xnngo") + "/models/"
	files := []string{models + "inception_v3.tflite", models + "labrador.jpg", models + "inception_v3.txt"}
	copy(files, os.Args[1:])
	m, err := xnn.Open(files[0])
	check(err)
	defer m.Close()
	s, err := m.NewSession()
	check(err)

	in, photo := s.Input(0), read(files[1])
	small := image.NewRGBA(image.Rect(0, 0, in.Shape()[2], in.Shape()[1])) // of images [1, height, width, 3]
	draw.BiLinear.Scale(small, small.Bounds(), photo, photo.Bounds(), draw.Src, nil)
	for i, x := 0, xnn.Data[uint8](in); i < len(x); i++ {
		x[i] = small.Pix[i/3*4+i%3]
	}
	check(s.Run())

	text, err := os.ReadFile(files[2])
	check(err)
	labels := strings.Split(string(text), "\n")
	scores, stored := xnn.Data[uint8](s.Output(0)), s.Output(0).Quant()
	var order []int
	for class := range scores {
		order = append(order, class)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for _, class := range order[:5] {
		fmt.Printf("%7.3f  %s\n", stored.Scale*float32(int(scores[class])-stored.ZeroPoint), labels[class])
	}
}

// read decodes a picture.
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
		log.Fatalf("%v (it needs ./build.sh models, and to run at the top of the repository)", err)
	}
}
