// Two facts that Go checks when a program starts, since `go build` does not notice that the archive it links has changed.

// Pins, patches, flags, compiler and target: an archive built for this very checkout.
const char xg_stamp[] = XG_STAMP;

// Pins and patches alone: what an installed archive must agree on, whoever built it.
const char xg_pins[] = XG_PINS;
