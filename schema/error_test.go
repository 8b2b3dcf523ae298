package schema

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorText(t *testing.T) {
	status := errors.New("xnn_status_invalid_parameter")
	for want, err := range map[string]*Error{
		"check: node 3: value 7: input2_id 7 is no value": Errorf(StageCheck, ErrGraph, "input2_id %d is no value", 7).
			AtNode(3).AtValue(7),
		"check: value 4294967295: twice": Errorf(StageCheck, ErrGraph, "twice").AtValue(4294967295),
		"verify: malformed file":         Errorf(StageVerify, ErrFormat, ""),
		"create: node 0: no kernel [xnn_status_invalid_parameter]": {Stage: StageCreate, Kind: ErrUnsupported, Node: 0, Value: None,
			Status: status, Detail: "no kernel"},
	} {
		require.Equal(t, want, err.Error())
	}
}

func TestErrorIs(t *testing.T) {
	status := errors.New("status")
	for _, c := range []struct{ kind, status error }{{ErrShape, status}, {ErrShape, nil}, {nil, status}, {nil, nil}} {
		err := error(&Error{Kind: c.kind, Status: c.status})
		require.Equal(t, c.kind != nil, errors.Is(err, ErrShape))
		require.Equal(t, c.status != nil, errors.Is(err, status))
		require.NotErrorIs(t, err, ErrGraph)
	}
}
