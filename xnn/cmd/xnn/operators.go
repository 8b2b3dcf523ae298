package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xnngo/xnngo/xnn/graph"
)

func newOperators() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "operators",
		Short: "List the operators and the element types they take",
		Long: help(`List the operators and the element types they take: those that keep the type of their operands by type, the
others with each combination of operands and results. With --json, a list of objects with the keys operator, inputs and
outputs.`),
		Args: cobra.NoArgs,
	}
	asJSON := jsonFlag(cmd)
	cmd.RunE = does(func(cmd *cobra.Command, _ []string) error {
		if *asJSON {
			return printJSON(cmd.OutOrStdout(), combinations())
		}
		return printOperators(cmd.OutOrStdout())
	})
	return cmd
}

// combination is one line of xnn operators --json.
type combination struct {
	Operator string   `json:"operator"`
	Inputs   []string `json:"inputs"`
	Outputs  []string `json:"outputs"`
}

func combinations() []combination {
	var all []combination
	for _, kind := range graph.Operators() {
		for _, s := range graph.Signatures(kind) {
			all = append(all, combination{kind, names(s.In), names(s.Out)})
		}
	}
	return all
}

func names(types []graph.DType) []string {
	list := make([]string, len(types))
	for i, t := range types {
		list[i] = t.String()
	}
	return list
}

// keeps gives the types of an operator that keeps the type of its operands whatever it is.
func keeps(kind string) (types []string, ok bool) {
	for _, s := range graph.Signatures(kind) {
		for _, t := range slices.Concat(s.In, s.Out) {
			if t != s.In[0] {
				return nil, false
			}
		}
		types = append(types, s.In[0].String())
	}
	return types, true
}

func printOperators(w io.Writer) error {
	var groups []string // by their types, in the order of their first operators
	byTypes := map[string][]string{}
	var text strings.Builder
	for _, kind := range graph.Operators() {
		if types, ok := keeps(kind); ok {
			key := strings.Join(types, ", ")
			if byTypes[key] == nil {
				groups = append(groups, key)
			}
			byTypes[key] = append(byTypes[key], kind)
			continue
		}
		text.WriteString(kind + "\n")
		for _, s := range bySources(graph.Signatures(kind)) {
			text.WriteString("  " + s + "\n")
		}
	}
	for _, key := range groups {
		if _, err := fmt.Fprintf(w, "%s\n%s", key, wrapped(byTypes[key], "  ", 100)); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// bySources words combinations, those of the same operands in one line.
func bySources(signatures []graph.Signature) []string {
	var lines []string
	for i, s := range signatures {
		in := strings.Join(names(s.In), ", ") + " -> "
		if i > 0 && strings.HasPrefix(lines[len(lines)-1], in) {
			lines[len(lines)-1] += " or " + strings.Join(names(s.Out), ", ")
			continue
		}
		lines = append(lines, in+strings.Join(names(s.Out), ", "))
	}
	return lines
}

// wrapped puts words into lines of at most width bytes, where they fit.
func wrapped(words []string, indent string, width int) string {
	var b strings.Builder
	line := indent + words[0]
	for _, w := range words[1:] {
		if len(line)+1+len(w) > width {
			b.WriteString(line + "\n")
			line = indent + w
			continue
		}
		line += " " + w
	}
	return b.String() + line + "\n"
}
