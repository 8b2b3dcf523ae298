module github.com/xnngo/xnngo/xnn/conformance

go 1.24.0

require (
	github.com/stretchr/testify v1.12.1
	github.com/xnngo/xnngo v0.0.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/google/flatbuffers v25.12.19+incompatible // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sys v0.41.0 // indirect
)

replace github.com/xnngo/xnngo => ../..
