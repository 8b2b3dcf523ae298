package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// testCase is a model with its inputs and the outputs it must give.
type testCase struct {
	name    string
	model   model
	inputs  []*tensor
	outputs []*tensor
	other   bool // an input or output is a sequence, a map or an optional
}

// dataFolder is where the cases are: a folder of suites, each a folder of cases.
func dataFolder() string {
	if folder := os.Getenv("XNNGO_ONNX_TESTDATA"); folder != "" {
		return folder
	}
	return "/usr/share/libonnx-testdata/data" // of Debian's package libonnx-testdata
}

// caseFolders are the cases that have a model, in the order of their names. Those without are to be fetched from elsewhere.
func caseFolders() ([]string, error) {
	models, err := filepath.Glob(filepath.Join(dataFolder(), "*", "*", "model.onnx"))
	folders := make([]string, len(models))
	for i, m := range models {
		folders[i] = filepath.Dir(m)
	}
	slices.Sort(folders)
	return folders, err
}

func loadCase(folder string) (*testCase, error) {
	c := &testCase{name: filepath.Base(filepath.Dir(folder)) + "/" + filepath.Base(folder)}
	b, err := os.ReadFile(filepath.Join(folder, "model.onnx"))
	if err != nil {
		return nil, err
	}
	if c.model, err = parseModel(b); err != nil {
		return nil, err
	}
	if c.inputs, err = c.tensors(folder, "input", c.model.graph.inputs); err != nil {
		return nil, err
	}
	c.outputs, err = c.tensors(folder, "output", c.model.graph.outputs)
	return c, err
}

// tensors reads input_0.pb, input_1.pb... of the first data set, as the model declares them.
func (c *testCase) tensors(folder, what string, declared []valueInfo) ([]*tensor, error) {
	var list []*tensor
	for i, v := range declared {
		b, err := os.ReadFile(filepath.Join(folder, "test_data_set_0", fmt.Sprintf("%s_%d.pb", what, i)))
		if os.IsNotExist(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		if v.elem == 0 {
			c.other = true
			return nil, nil
		}
		t, err := parseTensor(b)
		if err != nil {
			return nil, fmt.Errorf("%s %d: %w", what, i, err)
		}
		if t.elem == elemUint16 && v.elem == elemBFloat16 {
			t.elem = elemBFloat16 // NumPy, which wrote the data, has no such type
		}
		list = append(list, t)
	}
	return list, nil
}
