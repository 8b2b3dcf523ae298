package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xnngo/xnngo/xnn"
)

// inputFlags are what a command is told about a model's inputs.
type inputFlags struct {
	files []string
	seed  uint64
	look  pictureFlags
}

// inputHelp is the part of a command's help about them.
const inputHelp = `Inputs are numbered from 0 in call order; xnn inspect lists them. Files are little-endian .npy arrays in C
order: '<f4' for fp32, '<f2' for fp16, '<i4' for int32, '|i1' for qint8, '|u1' for quint8; '<f4' arrays are rounded to what an
input of another type holds. An array of another shape than the model's, but of its rank, reshapes the model. JPEG and PNG
pictures fill inputs of images, [1, height, width, channels] with 1 or 3 channels: turned upright as their EXIF says, resized
by interpolation, brought from 0..255 to --range (0..1, or all that a quantised input can hold), less --mean, divided by
--std.`

func (f *inputFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.files, "input", "i", nil, "read an input from a file, as in 0=x.npy or 0=photo.jpg (`N=FILE`)")
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "random values for the inputs that are not given (`S`)")
	f.look.add(cmd)
}

// parse gives the inputs that the flags tell of.
func (f *inputFlags) parse(cmd *cobra.Command) (*inputs, error) {
	files, err := parseFiles("-i", f.files)
	if err != nil {
		return nil, err
	}
	in := &inputs{files: files}
	if in.look, err = f.look.parse(); err != nil {
		return nil, err
	}
	if cmd.Flags().Changed("seed") {
		in.seed = &f.seed
	}
	return in, nil
}

// inputs are where the values of a model's inputs come from.
type inputs struct {
	files map[int]string // by index
	seed  *uint64        // of the others; nil where there are to be none
	look  look           // of pictures
}

// source is an open file with the values of an input.
type source interface {
	// shape is what the input becomes, or why the file is none for an input of this type.
	shape(input int, t xnn.Type) (xnn.Shape, error)
	// read fills an input that has that shape.
	read(t *xnn.Tensor) error
	close()
}

// check reports indices that the model does not have and inputs that nothing was said about.
func (in *inputs) check(types []xnn.Type) error {
	for _, i := range sortedKeys(in.files) {
		if i >= len(types) {
			return fmt.Errorf("there is no input %d, the model has %d", i, len(types))
		}
	}
	var missing []string
	for i, t := range types {
		if _, ok := in.files[i]; !ok && in.seed == nil {
			missing = append(missing, fmt.Sprintf("%d %v", i, t))
		}
	}
	if missing != nil {
		return fmt.Errorf("inputs not given: %s (use -i N=FILE, or --seed for random values)", strings.Join(missing, ", "))
	}
	return nil
}

// given is the open files of a model's inputs and the shapes they ask for.
type given struct {
	*inputs
	sources map[int]source
	shapes  []xnn.Shape
}

// open opens the files of the inputs and reads as much as tells their shapes. The caller closes what it returns, in an error's
// case, too.
func (in *inputs) open(types []xnn.Type) (*given, error) {
	g := &given{in, map[int]source{}, make([]xnn.Shape, len(types))}
	for i, t := range types {
		g.shapes[i] = t.Shape
	}
	for _, i := range sortedKeys(in.files) {
		s, err := openSource(in.files[i], in.look)
		if err != nil {
			return g, err
		}
		g.sources[i] = s
		if g.shapes[i], err = s.shape(i, types[i]); err != nil {
			return g, fmt.Errorf("%s: %w", in.files[i], err)
		}
	}
	return g, nil
}

func (g *given) close() {
	for _, s := range g.sources {
		s.close()
	}
}

// reshape gives a session the shapes of the files where they differ from the model's.
func (g *given) reshape(s *xnn.Session, types []xnn.Type) error {
	for i, t := range types {
		if !g.shapes[i].Equal(t.Shape) {
			return s.Reshape(g.shapes...)
		}
	}
	return nil
}

// fill gives a session the contents of the files, and random values for the rest.
func (g *given) fill(s *xnn.Session) error {
	for _, i := range sortedKeys(g.sources) {
		if err := g.sources[i].read(s.Input(i)); err != nil {
			return fmt.Errorf("%s: %w", g.files[i], err)
		}
	}
	g.fillRest(s)
	return nil
}

// fillRest gives random values to the inputs that no file is for.
func (g *given) fillRest(s *xnn.Session) {
	for i := range g.shapes {
		switch {
		case g.sources[i] != nil:
		case g.look.span != nil:
			fillSpan(s.Input(i), *g.seed, i, *g.look.span)
		default:
			fillRandom(s.Input(i), *g.seed, i)
		}
	}
}

// openSource opens a picture or an array, told apart by their first bytes.
func openSource(path string, l look) (source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(f, 1<<16)
	var s source
	if start, _ := r.Peek(8); isPicture(start) {
		s, err = newPicture(f, r, l)
	} else {
		s, err = newNpy(f, r)
	}
	if err != nil {
		_ = f.Close() // it was only read
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// parseNumbers reads a list such as 0.485,0.456,0.406.
func parseNumbers(flag, text string) ([]float64, error) {
	var numbers []float64
	for _, word := range strings.Split(text, ",") {
		f, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || f-f != 0 {
			return nil, fmt.Errorf("%s %q: %q is no number", flag, text, word)
		}
		numbers = append(numbers, f)
	}
	return numbers, nil
}

// span is a range of numbers.
type span struct{ lo, hi float64 }

// parseSpan reads a range such as -1..1.
func parseSpan(flag, text string) (span, error) {
	lo, hi, ok := strings.Cut(text, "..")
	a, err := strconv.ParseFloat(lo, 64)
	b, err2 := strconv.ParseFloat(hi, 64)
	if !ok || err != nil || err2 != nil || !(a < b) || b-a-(b-a) != 0 {
		return span{}, fmt.Errorf("%s %q: LOW..HIGH is needed, as in 0..1", flag, text)
	}
	return span{a, b}, nil
}
