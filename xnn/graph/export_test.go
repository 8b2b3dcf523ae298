package graph

import (
	"reflect"
	"slices"

	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Tags are the numbers of all node tables that can be read, and the dialect that each is from.
func Tags() map[xnngraph.XNodeUnion]string {
	tags := map[xnngraph.XNodeUnion]string{}
	for tag, f := range forms {
		tags[tag] = f.dialect.String()
	}
	return tags
}

// Limited are the numbers of the node tables on which limits count in every dialect that has them.
func Limited() []int {
	var tags []int
	for tag, f := range forms {
		if f.limits && f.dialect != dialectOurs {
			tags = append(tags, int(tag))
		}
	}
	slices.Sort(tags)
	return tags
}

// Dialect is the one that Marshal writes g in.
func (g *Graph) Dialect() string { return g.dialect().String() }

// Bound is how large Marshal expects the FlatBuffer to be at most.
func (g *Graph) Bound() int {
	w := writer{g: g, dialect: g.dialect()}
	return int(w.bound())
}

// Split gives the FlatBuffer of a file, and where its constants lie behind it.
func Split(file []byte) (flat, constants []byte) {
	p, err := split(file)
	if err != nil {
		panic(err)
	}
	return p.flat, p.constants
}

// OpTypes are the types that implement Op.
func OpTypes() map[reflect.Type]bool { return opTypes }

// Static tells whether operand i of an operator must be a constant.
func Static(kind string, i int) bool { return slices.Contains(operators[kind].static, i) }
