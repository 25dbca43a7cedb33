module srfake

go 1.25

require github.com/twmb/franz-go/pkg/sr v1.8.0
